import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isSessionId } from '@agentpipe/message'
import { command, EXIT, keptFilesDirectory, printable, STDOUT, StageError, systemError, usage, workingDirectory } from '@agentpipe/stage'
import { type Change, changesOfLastTurn, latestKept, markDone } from './kept-changes.js'
import { words } from './options.js'
import { quote } from './quote.js'
import { LOST, lostConnection, sshWords } from './remote.js'
import { restore, stateOf } from './restore.js'

/** `agentpipe undo [SESSION]`: the files that the last turn has changed with Write and Edit are what they were before. */
export const undo = command({
  purpose: 'take back the file changes of the last turn',
  options: {
    'dry-run': { type: 'flag', about: 'show what would be taken back, as a diff' },
    on: { type: 'text', value: 'HOST[:DIR]', about: 'take it back on another machine, where the tools ran' },
    project: { type: 'text', value: 'DIR', about: 'where the agent was started (the current directory)', rare: true },
  },
  operands: '[SESSION]',
  examples: ['agentpipe undo --dry-run || true', 'agentpipe undo || true'],
  act({ options, operands: [session, ...others], output, diagnose }) {
    if (others.length > 0) throw usage('undo takes one SESSION, the latest of this directory if it is left out')
    if (session !== undefined && !isSessionId(session)) throw usage(`there is no session ${JSON.stringify(session)}`)
    const project = resolve(options.project ?? workingDirectory())
    if (options.on)
      return undoThere(options.on, ['--on=', `--project=${project}`, ...words(['dry-run'], options), ...(session === undefined ? [] : ['--', session])])
    const directory = session === undefined ? latestKept(project) : keptFilesDirectory(session, project)
    if (directory === undefined || !existsSync(directory)) {
      throw new StageError(
        EXIT.NO_INPUT,
        session === undefined ? 'no session of this directory has changed a file' : `session ${session} has changed no file of this directory's project`,
      )
    }
    const changes = changesOfLastTurn(directory)
    if (changes.length === 0) throw new StageError(EXIT.NO_INPUT, 'there is nothing left to take back')
    let refused = 0
    for (const change of changes) {
      const state = stateOf(change)
      if (typeof state !== 'string') {
        if (options['dry-run']) output.write(diffOf(change, state.now))
        else {
          restore(change)
          output.write(`${change.mode === undefined ? 'removed' : 'restored'} ${printable(change.path)}\n`)
        }
      } else if (state === 'as before') output.write(`as it was: ${printable(change.path)}\n`)
      else {
        refused++
        diagnose(`${change.path}: ${state}`)
      }
      output.flush()
    }
    if (!options['dry-run']) markDone(directory, changes)
    return refused === 0 ? EXIT.OK : 1
  },
})

/** The same on another machine, which has agentpipe; gives its status. Throws StageError (69). */
function undoThere(place: string, args: readonly string[]): number {
  const { words: ssh, host } = sshWords(place, ['agentpipe', 'undo', ...args].map(quote).join(' '))
  const { status, error } = spawnSync('ssh', ssh, { stdio: ['ignore', STDOUT, 'inherit'] })
  if (error !== undefined) throw systemError(EXIT.UNAVAILABLE, 'cannot run ssh', error)
  if (status === LOST || status === null) throw new StageError(EXIT.UNAVAILABLE, lostConnection(host))
  return status
}

/** From what is there now to what would be, by diff(1). */
function diffOf({ path, bytes }: Change, now: Buffer | undefined): string {
  const [from, to] = [now === undefined ? '/dev/null' : `a${path}`, bytes === undefined ? '/dev/null' : `b${path}`]
  const words = ['-u', '--label', from, '--label', to, '--', now === undefined ? '/dev/null' : path, '-']
  const { status, stdout } = spawnSync('diff', words, { input: bytes ?? '', maxBuffer: 2 ** 30, env: { ...process.env, LC_ALL: 'C' } })
  if (status !== 0 && status !== 1) return `${printable(path)} would change\n`
  return stdout
    .toString()
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n')
}
