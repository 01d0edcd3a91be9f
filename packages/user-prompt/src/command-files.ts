import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configPath } from '@agentpipe/stage'

/** A command of the user's own: a file of text with $ARGUMENTS in it. */
export interface CommandFile {
  readonly name: string
  readonly about: string
  readonly text: string
}

const LARGEST = 256 * 1024

/** The commands of the project, and those of the user that the project has no other of the same name of. */
export function commandFiles(): CommandFile[] {
  const all = [...filesIn(join('.agentpipe', 'commands')), ...filesIn(join(dirname(configPath()), 'commands'))]
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index)
}

/** The text with the words behind the command in it; at its end where it has no place for them. */
export function withArguments({ text }: CommandFile, words: string): string {
  if (text.includes('$ARGUMENTS')) return text.replaceAll('$ARGUMENTS', () => words)
  return words === '' ? text : `${text.trimEnd()}\n\n${words}`
}

function filesIn(directory: string): CommandFile[] {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    return []
  }
  return names.sort().flatMap((file) => {
    const [, name] = /^([\w-]+)\.md$/.exec(file) ?? []
    return name === undefined ? [] : read(join(directory, file), name)
  })
}

function read(path: string, name: string): CommandFile[] {
  try {
    const whole = readFileSync(path, 'utf8')
    if (whole.length > LARGEST || whole.trim() === '') return []
    const [, head = '', text = whole] = /^---\n(.*?)\n---\n(.*)$/s.exec(whole.replaceAll('\r\n', '\n')) ?? []
    const [, description = text.trim().split('\n')[0] as string] = /^description: *(.*)$/m.exec(head) ?? []
    return [{ name, about: description.replace(/^#+ */, '').slice(0, 60), text: text.trim() }]
  } catch {
    return []
  }
}
