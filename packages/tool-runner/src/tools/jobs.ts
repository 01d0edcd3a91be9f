import type { Job } from '../jobs.js'
import type { Session } from '../session.js'
import { defineTool, type Outcome, type Tool } from '../tool.js'
import { asText } from '../utf8.js'

/** How long a job has to end when it is killed, before the answer goes out without its end. */
const KILL_PATIENCE_MS = 2000
/** Characters of a command in the list. */
const COMMAND_SHOWN = 100

export function jobsTool(session: Session): Tool {
  return defineTool({
    name: 'Jobs',
    description:
      'Background jobs, those that Bash has started with background: lists them, gives what one has printed since it was last asked for, waits for its end, or kills it.',
    // One after the other, since each gives what the one before has not.
    readOnly: false,
    inputSchema: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: ['list', 'output', 'wait', 'kill'], description: 'What to do' },
        job: { type: 'string', description: 'The job, as Bash named it: j1' },
        timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds that wait may take' },
      },
      required: ['action'],
    },
    async run({ action, job: id, timeout }, { signal }) {
      if (action === 'list') return listed(session.jobs.all)
      const job = session.jobs.get(id)
      if (action === 'kill') await endOf(job, KILL_PATIENCE_MS, signal)
      if (action === 'wait') await untilEnd(job, timeout === undefined ? session.timeoutMs : timeout * 1000, signal)
      return outputOf(job, session.maxOutput)
    },
  })
}

function listed(jobs: readonly Job[]): Outcome {
  const rows = jobs.map((job) => `${job.id}  ${stateOf(job)}  ${job.command.replace(/\s+/g, ' ').slice(0, COMMAND_SHOWN)}`)
  return { status: 'ok', output: rows.join('\n') || '[no jobs]', summary: `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}` }
}

function endOf(job: Job, ms: number, signal: AbortSignal): Promise<void> {
  job.kill()
  return untilEnd(job, ms, signal)
}

async function untilEnd(job: Job, ms: number | undefined, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let abort = () => {}
  const given = new Promise<void>((resolve) => {
    abort = resolve
    if (ms !== undefined) timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) resolve()
  })
  await Promise.race([job.ended, given])
  clearTimeout(timer)
  signal.removeEventListener('abort', abort)
}

async function outputOf(job: Job, limit: number): Promise<Outcome> {
  const { bytes, leftOut } = await job.newOutput(limit)
  const text = asText(bytes)
  const newline = text.length === 0 || text[text.length - 1] === 0x0a ? '' : '\n'
  const mark = leftOut === 0 ? '' : `[${leftOut} bytes left out; the whole output is in ${job.path}]\n`
  return {
    status: 'ok',
    output: Buffer.concat([Buffer.from(mark), text, Buffer.from(`${newline}[${stateOf(job)}]`)]),
    summary: `${job.id}: ${stateOf(job)}`,
    fullOutput: leftOut === 0 ? undefined : job.path,
  }
}

function stateOf({ end, started }: Job): string {
  if (end === undefined) return `running for ${Math.round((Date.now() - started) / 1000)} s`
  if (end.cause === 'timeout') return 'timed out'
  return end.signal === undefined ? `exit status ${end.exitCode}` : `ended by ${end.signal}`
}
