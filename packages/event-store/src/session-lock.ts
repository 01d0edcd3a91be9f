import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { EXIT, pause, StageError } from '@agentpipe/stage'

/** Two who come at the same moment see each other and both step back; after some tries, at random distances, one is first. */
const TRIES = 6
const STEP_BACK_MS = 40

/** Who holds a lock, as its file's name says it: nothing has to be written, so no lock is ever half written. */
interface Owner {
  readonly pid: number
  /** Clock ticks between the start of the machine and that of the process: tells a process from a later one of the same number. */
  readonly start: string
  /** Which start of the machine. */
  readonly boot: string
  /** Inode of the directory: a copied session carries its lock along, and is not locked by it. */
  readonly directory: string
}

/**
 * Makes this process the only writer of a session; gives the function that ends it. Each writer first puts up its own file, then looks
 * for others: of two, one sees the other for certain. Only a dead owner's file is ever removed by someone else, and its name
 * will not come again. Throws StageError (75) where a live process holds it, and what the system says where the directory can't be written.
 */
export function lockSession(directory: string): () => void {
  const inode = String(statSync(directory).ino)
  const own = join(directory, lockName({ pid: process.pid, start: startOf(process.pid), boot: bootId(), directory: inode }))
  for (let tries = 1; ; tries++) {
    closeSync(openSync(own, 'w', 0o600))
    const holder = otherOwner(directory, own, inode)
    if (holder === undefined) return () => rmSync(own, { force: true })
    rmSync(own, { force: true })
    if (tries === TRIES) throw busy(directory, holder)
    pause(1 + Math.random() * STEP_BACK_MS)
  }
}

/** Whether a live process holds the lock of a session. Changes nothing. */
export function isBeingWritten(directory: string): boolean {
  const inode = String(statSync(directory).ino)
  return readdirSync(directory).some((name) => {
    const owner = ownerOf(name)
    return owner !== undefined && isAlive(owner, inode)
  })
}

function otherOwner(directory: string, own: string, inode: string): Owner | undefined {
  for (const name of readdirSync(directory)) {
    const owner = ownerOf(name)
    if (owner === undefined || name === basename(own)) continue
    if (isAlive(owner, inode)) return owner
    rmSync(join(directory, name), { force: true })
  }
  return undefined
}

function busy(directory: string, { pid }: Owner): StageError {
  return new StageError(EXIT.TRY_AGAIN, `session ${basename(directory)} is being written by process ${pid}: wait for it to end, or give another --session`)
}

function lockName({ pid, start, boot, directory }: Owner): string {
  return `lock.${pid}.${start}.${boot}.${directory}`
}

function ownerOf(name: string): Owner | undefined {
  const [, pid, start, boot, directory] = /^lock\.(\d+)\.(\d+)\.([0-9a-f]+)\.(\d+)$/.exec(name) ?? []
  if (pid === undefined || start === undefined || boot === undefined || directory === undefined) return undefined
  return { pid: Number(pid), start, boot, directory }
}

function isAlive({ pid, start, boot, directory }: Owner, inode: string): boolean {
  return directory === inode && boot === bootId() && startOf(pid) === start && exists(pid)
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process was started; '0' for one that is gone, or only waits to be collected by its parent, and where there is no /proc. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the command, in parentheses, may hold anything. State and start are fields 3 and 22 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? '0' : (fields[19] ?? '0')
  } catch {
    return '0'
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
  } catch {
    return '0'
  }
}
