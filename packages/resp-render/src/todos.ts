import type { Frame } from '@agentpipe/frame'
import { parseObject } from '@agentpipe/message'
import type { CallBlock } from './call-block.js'
import { type Cap, printLeft } from './excerpt.js'
import { oneLine } from './invisible.js'
import { margin } from './rows.js'
import type { Screen } from './screen.js'
import type { Role } from './theme.js'
import { Words } from './words.js'

export interface Todo {
  readonly content: string
  readonly status: string
}

/** An input larger than this is not read. */
const LARGEST_INPUT = 256 * 1024
const BOXES: Readonly<Record<string, readonly [box: string, role: Role, text: Role]>> = {
  completed: ['☑', 'ok', 'note'],
  in_progress: ['▸', 'warning', 'strong'],
  cancelled: ['☒', 'note', 'struck'],
}

/** The list that a call of TodoWrite is about; undefined for other calls, and for a list that is none. */
export function todosOf(frame: Frame): readonly Todo[] | undefined {
  const json = frame.field(3) as Buffer
  if (frame.text(1) !== 'TodoWrite' || json.length > LARGEST_INPUT) return undefined
  const todos = parseObject(json.toString())?.todos
  if (!Array.isArray(todos) || todos.length === 0) return undefined
  const list = todos.map((todo) => ({ content: todo?.content ?? todo?.text ?? todo?.title, status: todo?.status }))
  if (!list.every(({ content }) => typeof content === 'string')) return undefined
  return list.map(({ content, status }) => ({ content: oneLine(content), status: String(status) }))
}

/** Shows a list below its call, a box for each thing to do. */
export function printTodos(screen: Screen, block: CallBlock, todos: readonly Todo[], cap: Cap): void {
  const { theme } = screen
  const shown = cap === 'all' ? todos : todos.slice(0, cap)
  for (const { content, status } of shown) {
    const [box, role, text] = BOXES[status] ?? ['☐', 'margin', 'text']
    const rows = block.rows(margin(`  ${box} `, theme[role]))
    const words = new Words(rows)
    words.write(content, theme[text])
    words.endWord()
    rows.end()
  }
  if (shown.length > 0 && shown.length < todos.length) printLeft(block.rows(margin('  ', '')), todos.length - shown.length, theme)
}
