import { constants } from 'node:os'

/** Exit statuses, those of sysexits(3) and of shells; the stage contract in messages(7) says when each is used. */
export const EXIT = {
  OK: 0,
  USAGE: 64,
  DATA: 65,
  NO_INPUT: 66,
  UNAVAILABLE: 69,
  SOFTWARE: 70,
  CANNOT_CREATE: 73,
  IO: 74,
  TRY_AGAIN: 75,
  NOT_PERMITTED: 77,
  CONFIG: 78,
  INTERRUPTED: 130,
  /** As a shell reports a process that SIGPIPE has ended. */
  PIPE: 141,
} as const

/** An end that a user is told of in one line: `tool: message`, and the status to leave with. The message begins in lower case and has no full stop. */
export class StageError extends Error {
  override readonly name = 'StageError'

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** A StageError for a failed call to the system: what was being done, and why it failed. */
export function systemError(status: number, what: string, error: unknown): StageError {
  return new StageError(status, `${what}: ${reason(error)}`)
}

/** Why a call to the system failed, in a few words: `no such file or directory`, without Node's code and call. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Reading a directory is an illegal operation to Node.
  if ((error as NodeJS.ErrnoException).code === 'EISDIR') return 'it is a directory'
  const text = /^[A-Z0-9_]+: (.*?)(, \w+.*)?$/s.exec(error.message)?.[1] ?? error.message
  return text === 'unknown error' ? reasonByNumber((error as NodeJS.ErrnoException).errno) : text
}

/** Of what libuv has no name for. */
function reasonByNumber(errno = 0): string {
  const [name] = Object.entries(constants.errno).find(([, number]) => number === -errno) ?? []
  if (name === 'EDQUOT') return 'disk quota exceeded'
  return name === 'ESTALE' ? 'stale file handle' : `system error ${name ?? -errno}`
}
