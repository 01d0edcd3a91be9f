import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { FrameDecoder } from '@agentpipe/frame'
import { EXIT, type FrameStage, type Output, StageError, systemError } from '@agentpipe/stage'
import type { Rendering } from './drawing.js'

const SLICE_BYTES = 64 * 1024
/** How often a file is looked at that has no more. */
const EACH_MS = 50

/** `--follow FILE`: shows the frames of a capture, and each that is appended once it is whole, until it is interrupted. Throws StageError (66). */
export function following(file: string, rendering: Rendering, output: Output, write: () => void): FrameStage {
  const descriptor = open(file)
  const decoder = new FrameDecoder()
  let at = 0
  let stopped = false
  let [leave, fail] = [() => {}, (_: unknown) => {}]
  const left = new Promise<undefined>((resolve, reject) => {
    leave = () => resolve(undefined)
    fail = reject
  })
  const look = () => {
    if (stopped) return
    try {
      const bytes = Buffer.allocUnsafeSlow(SLICE_BYTES)
      const count = readSync(descriptor, bytes, 0, SLICE_BYTES, at)
      at += count
      if (count === 0 && fstatSync(descriptor).size < at) throw new StageError(EXIT.NO_INPUT, `${file} got shorter than what was shown of it`)
      decoder.push(bytes.subarray(0, count), (frame) => rendering.frame(frame))
      write()
      output.flush()
      output.drained().then(() => setTimeout(look, count === 0 ? EACH_MS : 0))
    } catch (error) {
      fail(error)
    }
  }
  setTimeout(look)
  const stop = () => {
    stopped = true
    rendering.end()
    write()
    leave()
  }
  return { noInput: true, prints: 'text', saysLast: true, frame: () => {}, end: () => left, interrupt: stop, cancel: stop }
}

function open(file: string): number {
  try {
    const descriptor = openSync(file, 'r')
    if (fstatSync(descriptor).isFile()) return descriptor
    closeSync(descriptor)
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${file}`, error)
  }
  throw new StageError(EXIT.NO_INPUT, `cannot follow ${file}: it is no file`)
}
