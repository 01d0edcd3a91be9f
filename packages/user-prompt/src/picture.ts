import type { Draft } from './draft.js'
import type { Questions } from './questions.js'
import type { Search } from './recall.js'
import type { Picture } from './view.js'

/** What there is to be seen of. */
export interface Scene {
  readonly draft: Draft
  readonly search: Search | undefined
  readonly questions: Questions
  /** Inputs that wait for the end of the turn. */
  readonly waiting: readonly string[]
  readonly remark: string
  readonly doing: 'leaving' | 'command' | 'turn' | undefined
}

const HINTS = { leaving: 'leaving', command: 'running: Ctrl-C ends it', turn: 'working: what you type waits, Ctrl-C interrupts' }

/** The prompt for a scene: the question before the search before the draft. */
export function picture({ draft, search, questions, waiting, remark, doing }: Scene): Picture {
  const { text, cursor } = draft
  const queued = waiting.map((input) => `queued: ${oneLine(input)}`)
  if (questions.asking) {
    const kept = text === '' ? '' : `your draft is kept: ${oneLine(text)}`
    return { text: '', cursor: 0, hint: questions.hint, note: lines(kept, ...queued, remark) }
  }
  if (search) {
    const found = search.found ?? ''
    const none = !search.exhausted ? '' : found === '' ? ' (nothing found)' : ' (nothing older)'
    return { text: found, cursor: found.length, hint: '', note: `search: ${search.query}${none}` }
  }
  const question = questions.waiting > 0 ? 'something is asked: stop typing to answer' : ''
  return { text, cursor, hint: doing === undefined ? 'ask for anything; /help' : HINTS[doing], note: lines(...queued, question, remark) }
}

function lines(...all: readonly string[]): string {
  return all.filter((line) => line !== '').join('\n')
}

function oneLine(text: string): string {
  return text.slice(0, 500).replaceAll('\n', ' ')
}
