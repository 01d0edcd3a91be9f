import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type Context, EXIT, Output, STDOUT, systemError, usage } from '@agentpipe/stage'

/** Where the lines that are appended are printed as well. */
export interface LinePrinter {
  readonly output: Output
  /** Lines stand in place of frames on stdout. */
  readonly inPlace: boolean
  /** Why not everything could be printed, other than that the reader left. */
  failure: Error | undefined
}

/**
 * What `--stream-json[=FD]` asks for: lines in place of frames, or on a descriptor of their own; undefined without the option.
 * Throws StageError (64) where the descriptor is not one that we were given for writing.
 */
export function linePrinter(option: string | undefined, { output }: Pick<Context, 'output'>): LinePrinter | undefined {
  if (option === undefined) return undefined
  if (option === '' || option === '1') return { output, inPlace: true, failure: undefined }
  if (!/^\d{1,4}$/.test(option)) throw usage(`--stream-json: expected the number of a descriptor, found ${JSON.stringify(option)}`)
  const descriptor = Number(option)
  if (!isGiven(descriptor)) throw usage(`--stream-json=${option}: descriptor ${option} is not open for writing: add ${option}>FILE, or ${option}>&1`)
  const printer: LinePrinter = { output: new Output({ descriptor }), inPlace: false, failure: undefined }
  printer.output.onError = (error) => {
    printer.failure = systemError(EXIT.IO, `cannot write to descriptor ${option}`, error)
  }
  return printer
}

/** Whether a descriptor was handed over by who started us, and for writing. Node opens descriptors of its own in the gaps. */
function isGiven(descriptor: number): boolean {
  if (descriptor === STDOUT || !isOpen(descriptor)) return false
  const target = targetOf(descriptor)
  if (target === undefined) return true
  if (target.startsWith('anon_inode:') || !isWritable(descriptor)) return false
  // Node's own pipes have both ends in this process.
  return !target.startsWith('pipe:') || !openDescriptors().some((other) => other !== descriptor && targetOf(other) === target && !isWritable(other))
}

function isOpen(descriptor: number): boolean {
  try {
    return !fstatSync(descriptor).isDirectory()
  } catch {
    return false
  }
}

/** What a descriptor stands for, `pipe:[4711]`; undefined where there is no /proc to tell. */
function targetOf(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return undefined
  }
}

function openDescriptors(): number[] {
  return readdirSync('/proc/self/fd').map(Number)
}

/** By the flags of proc(5): the last two bits of the octal number are 0 for reading only. */
function isWritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '1'
    return (Number.parseInt(flags, 8) & 3) !== 0
  } catch {
    return false
  }
}
