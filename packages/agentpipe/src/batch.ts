import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { command, EXIT, type OptionTable, usage } from '@agentpipe/stage'
import { type Item, readItems } from './batch-file.js'
import { Job, type Outcome } from './batch-job.js'
import { BatchRecord } from './batch-record.js'
import { jsonLine, Progress, table } from './batch-report.js'
import { HANDED_ON_OPTIONS, words } from './options.js'
import { raise } from './raise.js'

const JOBS = 4

/** What is handed on to each agent as it was given. */
const GIVEN_ON: OptionTable = Object.fromEntries(Object.entries(HANDED_ON_OPTIONS).map(([name, spec]) => [name, { ...spec, rare: true }]))

/** `agentpipe batch FILE`: many prompts, each an agent of its own, some side by side. */
export const batch = command({
  purpose: 'run an agent for each line of FILE',
  options: {
    jobs: { type: 'count', value: 'N', default: JOBS, about: 'agents side by side' },
    worktree: { type: 'flag', about: 'give each a git worktree of its own, on a branch agentpipe/SESSION' },
    json: { type: 'flag', about: 'print a line of JSON for each as it ends, and no table' },
    again: { type: 'flag', about: 'do what is done already once more' },
    ...GIVEN_ON,
  },
  operands: 'FILE',
  examples: ['printf "say hi\\nsay ho\\n" | agentpipe batch - --jobs 2', `echo '{"prompt": "say hi", "mode": "read-only"}' | agentpipe batch - --json`],
  async act({ options, given, operands: [file, ...others], output, diagnose }) {
    if (file === undefined || others.length > 0) throw usage('batch needs one FILE with a prompt a line, or - for standard input')
    if (options.jobs < 1) throw usage('--jobs: expected 1 or more')
    const all = readItems(file, GIVEN_ON)
    // What comes once, by a pipe, can't be gone on with.
    const record = file !== '-' && statSync(file).isFile() ? new BatchRecord(file) : undefined
    const items = all.filter(({ key }) => options.again || !record?.has(key))
    const setup = {
      executable: join(dirname(realpathSync(process.argv[1] as string)), 'agentpipe'),
      options: words(
        Object.keys(GIVEN_ON).filter((name) => given.has(name)),
        options,
      ),
      worktree: options.worktree,
    }
    const progress = new Progress(all.length - items.length, items.length)
    const outcomes: Outcome[] = []
    const run = new Batch(items, options.jobs, (item) => new Job(item, setup))
    await run.all((outcome) => {
      outcomes.push(outcome)
      if (outcome.status === 0) record?.add(outcome.item.key, outcome.session, diagnose)
      if (options.json) output.write(jsonLine(outcome))
      output.flush()
    }, progress)
    progress.end()
    if (!options.json) output.write(table(outcomes, { before: all.length - items.length, left: items.length - outcomes.length, file }))
    output.flush()
    if (run.signal !== undefined) raise(run.signal)
    if (outcomes.some(({ status }) => status !== 0)) return 1
    return record?.failed ? EXIT.IO : EXIT.OK
  },
})

/** Runs jobs, so many side by side, until there are none or a signal ends it. */
class Batch {
  /** What has ended it before its time. */
  signal: NodeJS.Signals | undefined
  readonly #items: Item[]
  readonly #jobs: number
  readonly #start: (item: Item) => Job
  readonly #running = new Set<Job>()

  constructor(items: readonly Item[], jobs: number, start: (item: Item) => Job) {
    this.#items = [...items]
    this.#jobs = jobs
    this.#start = start
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        this.signal ??= signal
        for (const job of this.#running) job.stop(signal)
      })
    }
  }

  async all(ended: (outcome: Outcome) => void, progress: Progress): Promise<void> {
    const worker = async () => {
      for (let item = this.#next(); item !== undefined; item = this.#next()) {
        const job = this.#start(item)
        this.#running.add(job)
        progress.started()
        const outcome = await job.run()
        this.#running.delete(job)
        ended(outcome)
        progress.ended(outcome)
      }
    }
    await Promise.all(Array.from({ length: Math.min(this.#jobs, this.#items.length) }, worker))
  }

  #next(): Item | undefined {
    return this.signal === undefined ? this.#items.shift() : undefined
  }
}
