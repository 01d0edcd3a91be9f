import { realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isSessionId, SESSION_ID_FORM } from '@agentpipe/message'
import { command, descriptorKind, STDOUT, StageError, usage, withNamedOptions } from '@agentpipe/stage'
import { JsonReport } from './json-report.js'
import { links } from './links.js'
import { OPTIONS, type Settings, STAGES } from './options.js'
import { readPrompt } from './prompt.js'
import { writeScript } from './script.js'
import { supervise } from './supervisor.js'

/** `agentpipe [PROMPT]`: writes the wiring as a script, and runs it; or prints it. */
export const main = command({
  options: OPTIONS,
  operands: '[PROMPT]',
  async act(context) {
    const { name, operands, output, diagnose } = context
    const named = withNamedOptions(context, OPTIONS, { option: 'pipeline', key: 'pipelines' })
    const options = { ...named, interactive: isInteractive(named, operands) }
    const report = options['output-format'] === 'json' && !options['dry-run'] && !options['print-script'] ? new JsonReport() : undefined
    try {
      check(options)
      if (options['dry-run']) return output.write(Buffer.from(listing(options)))
      const driven = options.interactive || options['input-format'] === 'stream-json'
      const prompt = driven ? Buffer.from(operands.join(' ')) : await readPrompt(operands, diagnose)
      const script = writeScript(options, prompt, dirname(realpathSync(process.argv[1] as string)))
      if (options['print-script']) return output.write(script)
      return await supervise(script, report)
    } catch (error) {
      if (error instanceof StageError) await report?.print([`${name}: ${error.message}`], true)
      throw error
    }
  },
})

/** Whether a person at the terminal is asked for prompts: there is none, and nowhere that one could come from. */
function isInteractive(options: { 'input-format': string; 'output-format': string; 'print-script': boolean }, operands: readonly string[]) {
  const { 'input-format': input, 'output-format': format, 'print-script': prints } = options
  if (operands.length > 0 || input !== 'text' || format !== 'human' || descriptorKind(0) !== 'terminal') return false
  return prints || descriptorKind(STDOUT) === 'terminal'
}

/** A line for each stage: its name, and the command. */
function listing(options: Settings): string {
  const all = links(options)
  const width = Math.max(...all.map(({ name }) => name.length))
  return all.map(({ name, words }) => `${name.padEnd(width)}  ${words}\n`).join('')
}

/** What can be told before anything is started. Throws StageError (64). */
function check({ continue: goOn, session, from, record, ...settings }: Settings): void {
  for (const name of ['stage', 'before', 'after'] as const) {
    const odd = settings[name].find((value) => !/^[^=]+=\s*\S/.test(value))
    if (odd !== undefined) throw usage(`--${name}: expected NAME=COMMAND, NAME being ${STAGES.join(', ')}, found ${JSON.stringify(odd)}`)
  }
  if (goOn && session !== undefined) throw usage('--continue and --session exclude each other')
  if (session !== undefined && !isSessionId(session)) throw usage(`--session: expected ${SESSION_ID_FORM}, found ${JSON.stringify(session)}`)
  if (from !== undefined && record !== undefined && sameFile(from, record)) throw usage(`--record ${record} would overwrite the capture that --from plays`)
}

function sameFile(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true
  try {
    const [first, second] = [statSync(one), statSync(other)]
    return first.ino === second.ino && first.dev === second.dev
  } catch {
    return false
  }
}
