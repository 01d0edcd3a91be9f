import { closeSync, openSync, readSync, unwatchFile, watch, watchFile } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

const SLICE = 64 * 1024
/** Where nothing tells of changes they are looked for so often. */
const LOOK_MS = 500

/** Calls `show` with the lines that are added to a file, as they are. Does not keep the process going. */
export function followErrors(path: string, show: (lines: string) => void): void {
  const descriptor = openSync(path, 'r')
  const decoder = new StringDecoder('utf8')
  let text = ''
  const look = () => {
    const bytes = Buffer.allocUnsafe(SLICE)
    for (let count = readSync(descriptor, bytes); count > 0; count = readSync(descriptor, bytes)) text += decoder.write(bytes.subarray(0, count))
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) show(text.slice(0, end))
    text = text.slice(end)
  }
  look()
  try {
    watch(path, { persistent: false }, look).on('error', () => {})
  } catch {
    watchFile(path, { persistent: false, interval: LOOK_MS }, look)
    process.on('exit', () => unwatchFile(path))
  }
  process.on('exit', () => closeSync(descriptor))
}
