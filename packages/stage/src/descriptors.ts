import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import { isatty } from 'node:tty'

/** How a descriptor is to be read or written: pipes and sockets through the event loop, files in slices, terminals as terminals. */
export type DescriptorKind = 'pipe' | 'file' | 'terminal'

export function descriptorKind(descriptor: number): DescriptorKind {
  const stats = fstatSync(descriptor)
  if (stats.isFIFO() || stats.isSocket()) return 'pipe'
  return stats.isCharacterDevice() && !isMemoryDevice(stats) && isatty(descriptor) ? 'terminal' : 'file'
}

/** /dev/null and its like, by their major number on Linux: known without node:tty, which takes 6 ms to load. */
function isMemoryDevice({ rdev }: Stats): boolean {
  return rdev >> 8 === 1
}

/**
 * The descriptor of stdout as it was given to us. Each executable starts as `exec node ... 9>&1 1>&2` (scripts/build):
 * so whatever a library or a preloaded module prints on "stdout" lands on stderr, and frames have a descriptor of their own.
 */
export const STDOUT = takeOutputDescriptor()

function takeOutputDescriptor(): number {
  const given = process.env.AGENTPIPE_OUTPUT_FD
  delete process.env.AGENTPIPE_OUTPUT_FD
  return given === undefined ? 1 : Number(given)
}

/**
 * A second descriptor for the same pipe, for us alone. libuv sets O_NONBLOCK on the pipes that it reads and writes, and that
 * flag belongs to the open file, which other processes share: `cat` beside us would fail with EAGAIN. Opening it anew by
 * /proc gives a file of our own. Where that can't be done (sockets, no /proc, another user's pipe) the descriptor itself.
 */
export function privatePipe(descriptor: number, flags: number): number {
  const path = `/proc/self/fd/${descriptor}`
  let writer: number | undefined
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor
    // The writer of a FIFO may have left already. A file that is opened then waits for another one, unless there is one just now: us.
    if (flags === constants.O_RDONLY) writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    return openSync(path, flags | constants.O_NONBLOCK)
  } catch {
    return descriptor
  } finally {
    if (writer !== undefined) closeSync(writer)
  }
}

/** Closes a descriptor, and puts /dev/null in place of 0 to 2: what is opened next must not become a standard one. */
export function closeDescriptor(descriptor: number): void {
  try {
    closeSync(descriptor)
  } catch {
    return
  }
  if (descriptor <= 2) openSync('/dev/null', descriptor === 0 ? 'r' : 'w')
}
