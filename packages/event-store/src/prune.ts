import { fstatSync } from 'node:fs'
import { command, EXIT, usage } from '@agentpipe/stage'
import { inLog, lastRecord } from './log-reader.js'
import { Progress } from './progress.js'
import { oneOfMany, readingOptions, sessionsHere } from './reading.js'
import { remove } from './remove.js'
import type { Session } from './sessions.js'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

const options = {
  'older-than': { type: 'text', value: 'AGE', about: 'whose last event is older than this: 90d, 12h' },
  'dry-run': { type: 'flag', short: 'n', about: 'only print what would be removed' },
  all: { type: 'flag', about: 'those of every directory, not only of this one' },
  ...readingOptions,
} as const

/** `event-store prune --older-than AGE`: old sessions are gone. */
export const prune = command({
  purpose: 'remove old sessions',
  options,
  examples: ['event-store prune --older-than 90d --dry-run', 'event-store prune --all --older-than 52w'],
  act(context) {
    const { all, 'older-than': age, 'dry-run': dry } = context.options
    if (age === undefined) throw usage('prune needs --older-than AGE, like 90d')
    const limit = Date.now() - milliseconds(age)
    let status: number = EXIT.OK
    const sessions = sessionsHere(context, all)
    const progress = new Progress(sessions)
    const diagnose = progress.around(context.diagnose)
    for (const session of sessions) {
      progress.done(session)
      const done = oneOfMany(diagnose, () => {
        const last = lastTime(session)
        if (last >= limit) return
        if (!dry) remove(session)
        progress.clear()
        context.output.write(`${dry ? 'would remove' : 'removed'} ${session.id}, last event ${new Date(last).toISOString().slice(0, 10)}\n`)
        context.output.flush()
      })
      status = Math.max(status, done)
    }
    progress.clear()
    return status
  },
})

/** Where no event tells, as in an empty log, the file's time has to. Throws StageError (66) where the log can't be read. */
function lastTime({ log }: Session): number {
  return inLog(log, (descriptor) => Date.parse(lastRecord(descriptor)?.time ?? '') || fstatSync(descriptor).mtimeMs)
}

function milliseconds(age: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(age) ?? []
  if (number === undefined || unit === undefined) throw usage(`--older-than: expected a time like 90d, 12h or 2w, found ${JSON.stringify(age)}`)
  return Number(number) * (UNIT_MS[unit] as number)
}
