import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, Output, parseOptions, printable, StageError } from '@agentpipe/stage'
import { testEnvironment } from '@agentpipe/testing'
import { exportSession } from '../../src/export.js'
import { fork } from '../../src/fork.js'
import { history } from '../../src/history.js'
import { list } from '../../src/list.js'
import { path } from '../../src/path.js'
import { prune } from '../../src/prune.js'
import { rm } from '../../src/remove.js'
import { replay } from '../../src/replay.js'
import { search } from '../../src/search.js'
import { stats } from '../../src/stats.js'
import { verify } from '../../src/verify.js'

const NAME = 'event-store'
const VERBS: Readonly<Record<string, Command>> = { list, replay, history, search, export: exportSession, fork, stats, verify, prune, rm, path }

/** How a verb ended, and what it printed. */
export interface Read {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

/**
 * What the executable does for a verb, in this process: starting one costs more than most verbs do. Directory and environment are the caller's while it works,
 * so one is asked at a time. Only what Node does at its start and end is not the same.
 */
export async function readInProcess(
  [verb = '', ...words]: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Read> {
  const { act, options: table = {}, operands: form } = VERBS[verb] as Command
  const directory = mkdtempSync(join(tmpdir(), 'event-store-output-'))
  const file = join(directory, 'stdout')
  const descriptor = openSync(file, 'w')
  const before = { cwd: process.cwd(), env: { ...process.env } }
  let stderr = ''
  const diagnose = (message: string) => {
    stderr += `${NAME}: ${printable(message)}\n`
  }
  let status = 0
  try {
    process.chdir(cwd)
    replaceEnvironment(testEnvironment(environment))
    const parsed = parseOptions(NAME, table, words)
    if (form === undefined && parsed.operands.length > 0) throw new StageError(64, `there is nothing to do with ${parsed.operands[0]}`)
    const output = new Output({ descriptor, blocking: true })
    status = (await act?.({ name: NAME, ...parsed, output, diagnose, trace: undefined })) ?? 0
    output.flush()
  } catch (error) {
    if (!(error instanceof StageError)) throw error
    diagnose(error.message)
    status = error.status
  } finally {
    process.chdir(before.cwd)
    replaceEnvironment(before.env)
    closeSync(descriptor)
  }
  const stdout = readFileSync(file)
  rmSync(directory, { recursive: true })
  return { status, stdout, stderr }
}

function replaceEnvironment(environment: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name]
  Object.assign(process.env, environment)
}
