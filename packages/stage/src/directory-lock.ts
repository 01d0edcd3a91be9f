import { createHash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { pause } from './diagnostics.js'
import { EXIT, StageError } from './exit-status.js'

/** Two who come at the same moment see each other and both step back; after some tries, at random distances, one is first. */
const TRIES = 6
const STEP_BACK_MS = 40

/** How often an owner touches its lock, and how old one may be that only its age tells anything of: that of a process which we can't see. */
const TOUCH_MS = 5000
const STALE_MS = 60_000

/** Who holds a lock, as its file's name says it: nothing has to be written, so no lock is ever half written. */
interface Owner {
  readonly pid: number
  /** Clock ticks between the start of the machine and that of the process: tells a process from a later one of the same number. */
  readonly start: string
  /** Which start of the machine. */
  readonly boot: string
  /** Inode of the directory: a copied one carries its lock along, and is not locked by it. */
  readonly directory: string
  /** Where its number means something: a namespace of processes, on a machine. */
  readonly namespace: string
  readonly machine: string
}

/**
 * Makes this process the only one that works on what a directory stands for; gives the function that ends it. Each first puts up its own file in it, then looks
 * for others: of two, one sees the other for certain. Only a dead owner's file is ever removed by someone else, and its name
 * will not come again. Throws StageError (75) where a live process holds it, `busy` saying so of who that is, and what the system says where the directory
 * can't be written.
 */
export function lockDirectory(directory: string, busy: (holder: string) => string): () => void {
  const inode = String(statSync(directory).ino)
  const own = join(directory, lockName({ pid: process.pid, start: startOf(process.pid), ...place(), directory: inode }))
  for (let tries = 1; ; tries++) {
    closeSync(openSync(own, 'w', 0o600))
    const holder = otherOwner(directory, own, inode)
    if (holder === undefined) return held(own)
    rmSync(own, { force: true })
    if (tries === TRIES) throw new StageError(EXIT.TRY_AGAIN, busy(described(holder)))
    pause(1 + Math.random() * STEP_BACK_MS)
  }
}

/** Touches a lock that is held from time to time; gives what ends that and takes it away. */
function held(own: string): () => void {
  const touching = setInterval(() => touch(own), TOUCH_MS).unref()
  return () => {
    clearInterval(touching)
    try {
      rmSync(own, { force: true })
    } catch {
      // The file system has become read-only: of a dead owner it counts for nothing.
    }
  }
}

/** Writes, since the time of the file is to be that of the file system, not of this machine. */
function touch(path: string): void {
  try {
    writeFileSync(path, '.', { flag: 'r+' })
  } catch {
    // The directory was removed, or its disk is full.
  }
}

/** Whether a live process holds the lock of a directory. Changes nothing. */
export function isLocked(directory: string): boolean {
  const inode = String(statSync(directory).ino)
  return readdirSync(directory).some((name) => {
    const owner = ownerOf(name)
    return owner !== undefined && isAlive(owner, inode, () => Date.now() - timeOf(join(directory, name)))
  })
}

function otherOwner(directory: string, own: string, inode: string): Owner | undefined {
  for (const name of readdirSync(directory)) {
    const owner = ownerOf(name)
    if (owner === undefined || name === basename(own)) continue
    if (isAlive(owner, inode, () => timeOf(own) - timeOf(join(directory, name)))) return owner
    rmSync(join(directory, name), { force: true })
  }
  return undefined
}

function described({ pid, boot, namespace }: Owner): string {
  const here = place()
  return `process ${pid}${boot === here.boot && namespace === here.namespace ? '' : ' on another machine or in another container'}`
}

function lockName({ pid, start, boot, directory, namespace, machine }: Owner): string {
  return `lock.${pid}.${start}.${boot}.${directory}.${namespace}.${machine}`
}

function ownerOf(name: string): Owner | undefined {
  const [, pid, start, boot, directory, namespace, machine] = /^lock\.(\d+)\.(\d+)\.([0-9a-f]+)\.(\d+)\.(\d+)\.([0-9a-f]+)$/.exec(name) ?? []
  if (pid === undefined || start === undefined || boot === undefined || directory === undefined || namespace === undefined || machine === undefined)
    return undefined
  return { pid: Number(pid), start, boot, directory, namespace, machine }
}

/** `age`: milliseconds since the lock was touched. */
function isAlive({ pid, start, boot, directory, namespace, machine }: Owner, inode: string, age: () => number): boolean {
  const here = place()
  if (directory !== inode) return false
  if (boot === here.boot && namespace === here.namespace) return startOf(pid) === start && exists(pid)
  // This machine was started anew since.
  if (machine === here.machine && boot !== here.boot) return false
  return age() < STALE_MS
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY
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

/** Where this process runs. */
function place(): Pick<Owner, 'boot' | 'namespace' | 'machine'> {
  return { boot: firstOf('/proc/sys/kernel/random/boot_id'), namespace: namespaceOf(), machine: machineId() }
}

function machineId(): string {
  return createHash('sha256')
    .update(`${hostname()} ${textOf('/etc/machine-id')}`)
    .digest('hex')
    .slice(0, 8)
}

function namespaceOf(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

function firstOf(path: string): string {
  return /^[0-9a-f]{8}/.exec(textOf(path))?.[0] ?? '0'
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
