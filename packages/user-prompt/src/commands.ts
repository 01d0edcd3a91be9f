import { writeFileSync } from 'node:fs'
import { isSessionId } from '@agentpipe/message'
import { type CommandFile, commandFiles, withArguments } from './command-files.js'
import type { Programs } from './programs.js'
import type { Turn } from './turn.js'

/** What the commands have to do with. */
export interface Place {
  readonly turn: Turn
  readonly programs: Programs
  /** Shows text above the prompt, where it stays. */
  readonly show: (text: string) => void
  /** Says something below the prompt, until the next key. */
  readonly remark: (text: string) => void
  readonly send: (text: string) => void
  readonly leave: () => void
  /** The session, and the model that answers, as HELLO named them. */
  readonly session: () => string | undefined
  readonly model: () => string | undefined
  /** Where the session to go on with is to be written. */
  readonly next: string | undefined
}

const COMMANDS = {
  help: ['', 'what can be typed', (place) => place.show(help())],
  compact: ['[WISHES]', 'summarise what was said', (place, words) => place.turn.control('compact', words)],
  clear: ['', 'forget it; the session keeps it', (place) => control(place, 'clear', '', 'what was said is forgotten')],
  model: ['[M]', 'ask another model from now on', model],
  sessions: ['', 'list the sessions of this directory', (place) => void place.programs.run('event-store', ['list'])],
  resume: ['ID', 'go on with another session', resume],
  usage: ['', 'tokens, cost and time of this session', usage],
  quit: ['', 'leave', (place) => place.leave()],
} as const satisfies Readonly<Record<string, readonly [words: string, about: string, act: (place: Place, words: string) => void]>>

/** The names of all commands, those of files too. */
export function commandNames(): string[] {
  return [...Object.keys(COMMANDS), ...commandFiles().map(({ name }) => name)].sort()
}

/** Does what a text that begins with a slash asks for. False where it is no command: then it is said why, and nothing was done. */
export function runCommand(place: Place, text: string): boolean {
  const [, name = '', words = ''] = /^\/([\w-]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? []
  if (Object.hasOwn(COMMANDS, name)) {
    COMMANDS[name as keyof typeof COMMANDS][2](place, words)
    return true
  }
  const file = commandFiles().find((each) => each.name === name)
  if (file === undefined) place.remark(`there is no command /${name}: /help lists them; with a blank in front it is no command`)
  else place.send(withArguments(file, words))
  return file !== undefined
}

/** Whether a text has the form of a command; a path has another slash. */
export function isCommand(text: string): boolean {
  return /^\/[\w-]+(\s|$)/.test(text)
}

function help(): string {
  const own = Object.entries(COMMANDS).map(([name, [words, about]]) => [`/${name} ${words}`, about] as const)
  const files = commandFiles().map(({ name, about }: CommandFile) => [`/${name}`, about] as const)
  const keys = [
    ['!COMMAND', 'run a command; the model is told'],
    ['@PATH', 'Tab completes it'],
    ['Alt-Enter, \\ Enter', 'begin a new line'],
    ['Up, Ctrl-R', 'what was typed before'],
    ['Ctrl-C', 'clear, interrupt; twice: leave'],
    ['Ctrl-D', 'leave'],
  ] as const
  return [...own, ...files, ...keys].map(([what, about]) => `${what.padEnd(20)} ${about}\n`).join('')
}

function control({ turn, remark }: Place, name: string, words: string, done: string): void {
  turn.control(name, words)
  remark(done)
}

function model(place: Place, name: string): void {
  if (name === '') place.remark(`the model is ${place.model() ?? 'not known yet'}; /model M chooses another one`)
  else control(place, 'model', name, `from the next turn on ${name} is asked`)
}

function usage(place: Place): void {
  const session = place.session()
  if (session === undefined) place.remark('the session has not begun yet')
  else void place.programs.run('event-store', ['stats', '--', session])
}

async function resume(place: Place, id: string): Promise<void> {
  if (place.next === undefined) return place.remark('there is no /resume here: start agentpipe --session ID')
  if (!isSessionId(id)) return place.remark('/resume needs the id of a session: /sessions lists them')
  const { failure } = await place.programs.run('event-store', ['path', '--', id])
  if (failure !== undefined) return
  writeFileSync(place.next, id)
  place.leave()
}
