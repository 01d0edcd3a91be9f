import { existsSync } from 'node:fs'
import { FrameError } from '@agentpipe/frame'
import type { Command, Context, StageSpec } from './command.js'
import { descriptorKind, STDOUT } from './descriptors.js'
import { diagnosticsOf } from './diagnostics.js'
import { EXIT, StageError, systemError } from './exit-status.js'
import { reportBug, runFrameStage } from './frame-stage.js'
import { stageHelp, verbHelp } from './help.js'
import { isOperand, parseOptions, usage } from './options.js'
import { Output } from './output.js'
import { traceOf } from './trace.js'
import { VERSION } from './version.js'
import { writeAll } from './write-all.js'

/**
 * The main program of every executable: options, `--help` and `--version`, diagnostics, signals, the loop over frames and the
 * exit status. Does not return; the process ends when everything that was written has been taken.
 */
export async function runStage(spec: StageSpec): Promise<never> {
  const diagnose = diagnosticsOf(spec.name)
  process.on('uncaughtException', (error) => {
    reportBug({ diagnose }, error)
    process.exit(EXIT.SOFTWARE)
  })
  try {
    process.exit(await run(spec, process.argv.slice(2)))
  } catch (error) {
    if (error instanceof FrameError) {
      diagnose(error.message)
      process.exit(EXIT.DATA)
    }
    if (!(error instanceof StageError)) throw error
    if (error.status !== EXIT.OK) diagnose(error.message)
    process.exit(error.status)
  }
}

async function run(spec: StageSpec, argv: readonly string[]): Promise<number> {
  const verb = argv[0] !== undefined && spec.verbs && Object.hasOwn(spec.verbs, argv[0]) ? argv[0] : undefined
  const command = verb === undefined ? spec.main : (spec.verbs?.[verb] as Command)
  const words = verb === undefined ? argv : argv.slice(1)
  if (asks(words, command, '--help', '-h')) return print(verb === undefined || command === undefined ? stageHelp(spec) : verbHelp(spec, verb, command))
  if (asks(words, command, '--version')) return print(`${spec.name} (agentpipe) ${VERSION}\n`)
  if (command === undefined)
    throw usage(
      `${argv[0] === undefined ? 'a verb is needed' : `there is no verb ${JSON.stringify(argv[0])}`}: ${Object.keys(spec.verbs ?? {}).join(', ')}; see --help`,
    )
  return runCommand(spec, verb, command, words)
}

/** Whether `--help`, `-h` or `--version` stands among the options. */
function asks(words: readonly string[], command: Command | undefined, ...forms: readonly string[]): boolean {
  for (const word of words) {
    if (forms.includes(word)) return true
    if (word === '--' || (command?.operandsEndOptions && isOperand(word))) return false
  }
  return false
}

function print(text: string): number {
  try {
    writeAll(STDOUT, Buffer.from(text))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw systemError(EXIT.IO, 'cannot write to standard output', error)
  }
  return EXIT.OK
}

async function runCommand(spec: StageSpec, verb: string | undefined, command: Command, argv: readonly string[]): Promise<number> {
  const { name } = spec
  const { operandsEndOptions } = command
  const parsed = parseOptions(name, command.options, argv, { operandsEndOptions, configurable: optionNames(spec) })
  const stray = command.operands === undefined ? parsed.operands[0] : undefined
  if (stray !== undefined) throw usage(`there is nothing to do with ${JSON.stringify(stray)}; ${insteadOf(stray, spec, verb)}`)
  const trace = traceOf(name)
  const context: Context = { name, ...parsed, output: new Output({ blocking: command.act !== undefined, trace }), diagnose: diagnosticsOf(name), trace }
  if (command.stage) return runFrameStage(context, await command.stage(context))
  return act(context, command)
}

/** What somebody may have meant by an operand that is none. */
function insteadOf(stray: string, { name, verbs }: StageSpec, verb: string | undefined): string {
  if (existsSync(stray)) return `it reads standard input: ${verb === undefined ? name : `${name} ${verb}`} < ${stray}`
  return verb === undefined && verbs !== undefined ? `its verbs are ${Object.keys(verbs).join(', ')}; see --help` : 'see --help'
}

/** Of the executable and all its verbs. */
function optionNames({ main, verbs }: StageSpec): string[] {
  return [main, ...Object.values(verbs ?? {})].flatMap((command) => Object.keys(command?.options ?? {}))
}

async function act(context: Context, command: Command): Promise<number> {
  // Ctrl-C at a terminal ends it; in a pipeline it goes on to the end of its input.
  if (descriptorKind(0) === 'terminal') process.removeAllListeners('SIGINT')
  let failure: StageError | undefined
  context.output.onError = (error) => {
    failure = systemError(EXIT.IO, 'cannot write to standard output', error)
  }
  const status = await command.act?.(context)
  context.output.flush()
  if (failure) throw failure
  return status ?? EXIT.OK
}
