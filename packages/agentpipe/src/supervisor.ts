import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { EXIT, STDOUT, StageError, systemError, watchOwner } from '@agentpipe/stage'
import type { JsonReport } from './json-report.js'
import { KeptLines } from './kept-lines.js'
import { raise } from './raise.js'
import { StageStderr, visible } from './stage-stderr.js'
import { addToStderrLog } from './stderr-log.js'

/**
 * Descriptors of the script: what programs of others say on standard error comes there, under their names; stages say there how they ended; its end tells
 * stages that we have gone. The first is apart from standard error since every Node process makes that one non-blocking, for all who share it.
 */
/** Ours is its descriptor 3: its own is the script. */
const STDIN = 0
const NAMED_STDERR_FD = 6
const STATUS_FD = 7
const WATCH_FD = 8

/** agent-loop may not listen yet when it is told of an interrupt: it is told again. */
const REPEAT_MS = 200

/** How long the other stages have to end by themselves after one has failed, before they are ended. */
const GRACE_MS = 1000
const KILL_MS = 3000

/**
 * Runs the script and gives its exit status. When a stage fails the others are ended; when we are told to leave (SIGTERM,
 * SIGHUP) they are told too. Whatever happens to us, stages see the end of descriptor 8.
 */
export async function supervise(script: Uint8Array, report?: JsonReport): Promise<number> {
  return new Supervisor(script, report).ended
}

class Supervisor {
  readonly ended: Promise<number>
  readonly #shell: ChildProcess
  /** Stages that run: name and process. */
  readonly #stages = new Map<string, number>()
  readonly #report: JsonReport | undefined
  #stderr: StageStderr | undefined
  /** The log of the session, as event-store told the script. */
  #log: string | undefined
  /** What stages have said, where it has been drawn. */
  #drawn = new KeptLines()
  /** By which the script's directory is known. */
  readonly #mark = `${randomBytes(4).toString('hex')}.`
  /** What the terminal was set to, where stages set it. */
  #modes: string | undefined
  #interrupted = false
  #ending = false

  constructor(script: Uint8Array, report: JsonReport | undefined) {
    this.#report = report
    // Who runs many of us has gone: as if we were told to leave.
    watchOwner(() => process.kill(process.pid, 'SIGTERM'))
    // node:child_process: execa would cost 20 ms before the first stage starts.
    this.#shell = spawn('/bin/sh', ['-s'], {
      stdio: ['pipe', report ? 'pipe' : STDOUT, 'pipe', STDIN, 'ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, AGENTPIPE_SUPERVISED: this.#mark },
    })
    this.ended = new Promise((resolve, reject) => {
      this.#shell.on('error', (error) => reject(systemError(EXIT.UNAVAILABLE, 'cannot run /bin/sh', error)))
      this.#shell.on('exit', (status, signal) => void this.#shellEnded(status, signal).then(resolve, reject))
    })
    this.#shell.stdin?.on('error', () => {})
    this.#shell.stdin?.end(script)
    // Without a process there are no pipes either; 'error' is still to come.
    if (this.#shell.pid === undefined) return
    this.#stderr = new StageStderr([this.#shell.stderr as Readable, this.#socket(NAMED_STDERR_FD)])
    if (this.#shell.stdout !== null) report?.read(this.#shell.stdout)
    this.#readStatus(this.#socket(STATUS_FD))
    this.#watchEnd().on('error', () => {})
    this.#takeSignals()
  }

  #socket(descriptor: number): Socket {
    return (this.#shell.stdio as readonly unknown[])[descriptor] as Socket
  }

  #watchEnd(): Socket {
    return this.#socket(WATCH_FD)
  }

  #readStatus(socket: Socket): void {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('error', () => {})
    socket.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop() as string
      for (const line of lines) this.#said(line)
    })
  }

  #said(line: string): void {
    const [event, name = '', value] = line.split(' ')
    if (event === 'said') this.#drawn.add(visible(line.slice('said '.length)))
    if (event === 'log') this.#sessionEnded(line.slice('log '.length))
    if (event === 'tty') this.#modes = name
    if (event === 'start') this.#stages.set(name, Number(value))
    if (event !== 'end') return
    this.#stages.delete(name)
    // A person who leaves before the first turn: runners miss its end (69). What ends the ring otherwise ends the others as well.
    const left = this.#modes !== undefined && Number(value) === EXIT.UNAVAILABLE
    if (isFailure(name, Number(value)) && !left) this.#endStages()
  }

  /** Its log, as event-store told the script. Interactively there may be more of them, and what was said in each has been drawn already. */
  #sessionEnded(log: string): void {
    if (this.#modes === undefined) this.#log = log
    else addToStderrLog(log, this.#drawn.lines)
    this.#drawn = new KeptLines()
  }

  /** Ends the stages that are still there: first by the end of descriptor 8, then by SIGKILL. */
  #endStages(): void {
    if (this.#ending) return
    this.#ending = true
    setTimeout(() => this.#watchEnd().destroy(), GRACE_MS).unref()
    setTimeout(() => this.#signalStages('SIGKILL'), KILL_MS).unref()
  }

  #signalStages(signal: NodeJS.Signals): void {
    for (const stage of this.#stages.values()) this.#signal(stage, signal)
  }

  #signal(pid: number | undefined, signal: NodeJS.Signals): void {
    try {
      if (pid !== undefined) process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }

  #takeSignals(): void {
    // A terminal sends SIGINT to every stage; `kill -INT` of us alone must do the same.
    process.on('SIGINT', () => {
      // With somebody at the terminal it is one turn of many.
      if (!this.#interrupted && this.#modes === undefined) setInterval(() => this.#interrupt(), REPEAT_MS).unref()
      this.#interrupted = true
      this.#interrupt()
    })
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        this.#shell.kill(signal)
        this.ended.catch(() => {}).then(() => raise(signal))
      })
    }
  }

  #interrupt(): void {
    this.#signal(this.#stages.get('agent-loop'), 'SIGINT')
  }

  /** The script's guard does so as well, if the script got to starting it. */
  #removeDirectory(): void {
    const place = process.env.TMPDIR || '/tmp'
    try {
      const [name] = readdirSync(place).filter((each) => each.startsWith(`agentpipe.${this.#mark}`))
      if (name !== undefined) rmSync(join(place, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // Both at once.
    }
  }

  async #shellEnded(status: number | null, signal: string | null): Promise<number> {
    this.#watchEnd().destroy()
    if (signal !== null) {
      this.#signalStages('SIGTERM')
      // Which otherwise is the shell's work.
      if (this.#modes !== undefined) spawnSync('stty', [this.#modes], { stdio: ['inherit', 'ignore', 'ignore'] })
    }
    await this.#stderr?.finish()
    if (signal !== null) this.#removeDirectory()
    const lines = this.#stderr?.lines ?? []
    if (this.#log !== undefined) addToStderrLog(this.#log, lines)
    await this.#report?.print(lines, status !== 0)
    // It came before the shell had said what is to become of it: before there was anything to interrupt.
    if (signal === 'SIGINT') {
      raise('SIGINT')
      return EXIT.INTERRUPTED
    }
    if (signal !== null) throw new StageError(EXIT.UNAVAILABLE, `the shell that runs the stages was killed by ${signal}`)
    // Ended by the signal itself: so a shell loop around us ends too.
    if (this.#interrupted && status === EXIT.INTERRUPTED) raise('SIGINT')
    return status ?? EXIT.UNAVAILABLE
  }
}

/** agent-loop's statuses up to 127 and 130 say how the turn ended; the others end by themselves after it. 141: the ring was cut, and a command may run. */
function isFailure(name: string, status: number): boolean {
  if (name === 'agent-loop') return status > 127 && status !== EXIT.INTERRUPTED
  return status !== 0 && status !== EXIT.PIPE
}
