import { open } from 'node:fs/promises'
import type { CommandEnd } from '../command.js'
import { ending, joined, outcomeOf } from '../command-outcome.js'
import { CommandOutput } from '../command-output.js'
import { commandEnvironment } from '../environment.js'
import { OutputCapture } from '../output-capture.js'
import type { Session } from '../session.js'
import { endOfConfined, shellCommand } from '../shell.js'
import { type Call, defineTool, type Outcome, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'

export function bashTool(session: Session): Tool {
  return defineTool({
    name: 'Bash',
    description:
      'Runs a command with bash and gives what it prints. It begins in the workspace, and later commands where the one before ended. Nobody can answer it: there is no input and no terminal. It is ended when its time is over. With background it goes on while you do other things: Jobs tells of it. Nothing outlives the session.' +
      session.sandbox.about,
    readOnly: false,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The command' },
        timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds that it may take' },
        background: { type: 'boolean', description: 'Do not wait for its end' },
      },
      required: ['command'],
    },
    async run({ command, timeout, background = false }, call) {
      if (command.includes('\0')) throw new ToolError('the command holds a NUL byte, which no command can')
      await session.permissions.obey(call, await session.permissions.policy.command(command), command)
      if (background) return startJob(session, command, timeout === undefined ? undefined : timeout * 1000)
      return runShell(session, command, timeout === undefined ? session.timeoutMs : timeout * 1000, call)
    },
  })
}

async function runShell(session: Session, command: string, timeoutMs: number | undefined, { live, signal }: Call): Promise<Outcome> {
  const { note, program, ended } = await prepared(session, command)
  const capture = new OutputCapture(session.maxOutput, () => session.temporary.path('output'))
  const output = new CommandOutput((chunk, stream) => [capture.write(chunk), live.write(chunk, stream)])
  const running = session.commands.run({ ...program, timeoutMs, signal, sink: (chunk, stream) => output.write(chunk, stream) })
  const { end, directory } = await ended(running)
  session.workingDirectory.left(directory)
  output.end()
  const { text, fullOutput } = await capture.finish()
  return { ...outcomeOf(end, timeoutMs), output: joined(note, text, ending(end, timeoutMs)), exitCode: end.exitCode, signal: end.signal, fullOutput }
}

/** A job has no time limit but the one that it is given. */
async function startJob(session: Session, command: string, timeoutMs: number | undefined): Promise<Outcome> {
  const { note, program, ended } = await prepared(session, command)
  const path = await session.temporary.path('job')
  const file = await open(path, 'ax', 0o600)
  const killing = new AbortController()
  try {
    const started = await session.commands.runInto(file.fd, { ...program, timeoutMs, signal: killing.signal })
    const job = session.jobs.add(
      command,
      path,
      ended(started.ended).then(({ end }) => end),
      () => killing.abort(),
    )
    const output = joined(note, Buffer.from(`[job ${job.id} has begun; Jobs tells of it; its output goes to ${path}]`), undefined)
    return { status: 'ok', output, summary: `job ${job.id}` }
  } finally {
    await file.close()
  }
}

/** A command ready to be run where the last one ended, confined if it has to be; `ended` says, and has to be asked, how it ended and where. */
async function prepared(session: Session, command: string) {
  const { directory: cwd, note } = session.workingDirectory.enter()
  const shell = await shellCommand(command, session.temporary)
  const { confined, ...program } = await session.sandbox.confined(shell, cwd)
  const ended = async (running: Promise<CommandEnd>) => {
    const end = await running.catch((error: unknown) => {
      shell.ended()
      throw error
    })
    const report = shell.ended()
    return { end: confined ? endOfConfined(end, report) : end, directory: report.directory }
  }
  return { note, program: { ...program, cwd, env: commandEnvironment(cwd, session.env) }, ended }
}
