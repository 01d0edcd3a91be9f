import { open, unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { ending, joined, outcomeOf } from './command-outcome.js'
import { CommandOutput } from './command-output.js'
import { commandEnvironment } from './environment.js'
import { checkOutsideInput } from './input-schema.js'
import { OutputCapture } from './output-capture.js'
import { programDescription } from './program-description.js'
import type { Session } from './session.js'
import type { Call, Outcome, Tool } from './tool.js'
import { ToolError } from './tool-error.js'

const DESCRIBE_MS = 5000
const LONGEST_DESCRIPTION = 1024 * 1024
/** What a program says on stderr is for the model only where it failed. */
const STDERR_BYTES = 8 * 1024

/** The tool that a program is: asks it with `--describe`. Throws ToolError when it isn't one. */
export async function toolProgram(session: Session, path: string): Promise<Tool> {
  const { name, description, inputSchema, readOnly } = programDescription(await describe(session, path))
  return {
    name,
    description,
    inputSchema,
    readOnly,
    async run(input, call) {
      await checkOutsideInput(name, inputSchema, input)
      return runProgram(session, path, input, call)
    },
  }
}

async function describe(session: Session, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const sink = (chunk: Buffer, stream: string) => {
    bytes += chunk.length
    if (stream === 'stdout' && bytes <= LONGEST_DESCRIPTION) chunks.push(chunk)
    return undefined
  }
  const spec = { file: path, args: ['--describe'], cwd: session.workspace, env: commandEnvironment(session.workspace, session.env) }
  const end = await session.commands.run({ ...spec, timeoutMs: DESCRIBE_MS, signal: session.leaving, sink })
  if (end.cause !== 'itself' || end.exitCode !== 0) throw new ToolError(`--describe: ${outcomeOf(end, DESCRIBE_MS).summary}`)
  return Buffer.concat(chunks).toString()
}

async function runProgram(session: Session, path: string, input: string, { live, signal }: Call): Promise<Outcome> {
  const stdin = await inputFile(session, input)
  const capture = new OutputCapture(session.maxOutput, () => session.temporary.path('output'))
  const complaints = new OutputCapture(STDERR_BYTES, () => Promise.reject(new Error('not kept')))
  const output = new CommandOutput((chunk, stream) => [(stream === 'stdout' ? capture : complaints).write(chunk), live.write(chunk, stream)])
  const { workspace: cwd, timeoutMs } = session
  try {
    const spec = { file: path, args: [], cwd, env: commandEnvironment(cwd, session.env), timeoutMs, signal, stdin: stdin.fd }
    const end = await session.commands.run({ ...spec, sink: (chunk, stream) => output.write(chunk, stream) })
    output.end()
    const { text, fullOutput } = await capture.finish()
    const said = await complaints.finish()
    const problem = ending(end, timeoutMs)
    const whole = problem === undefined ? text : joined(undefined, joined(undefined, text, said.text.toString()), problem)
    const outcome = outcomeOf(end, timeoutMs)
    const summary = outcome.status === 'ok' ? basename(path) : outcome.summary
    return { ...outcome, summary, output: whole, exitCode: end.exitCode, signal: end.signal, fullOutput }
  } finally {
    await stdin.close()
  }
}

/** A file without a name that holds the input: a program can read it as it likes, also by the name /dev/stdin, or leave it. */
async function inputFile(session: Session, input: string) {
  const path = await session.temporary.path('input')
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  await file.write(input, 0)
  return file
}
