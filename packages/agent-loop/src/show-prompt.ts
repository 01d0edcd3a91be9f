import type { Frame } from '@agentpipe/frame'
import { type MessageOf, parseMessage } from '@agentpipe/message'
import { type FrameStage, type Output, printable } from '@agentpipe/stage'
import { Conversation } from './conversation.js'
import { recordedMessage } from './history.js'
import { type ModelBlock, type RequestMessage, requestMessages, type UserBlock } from './request-messages.js'
import { ToolList } from './tool-list.js'

/**
 * `--show-prompt`: takes what defines tools (TOOL_DEF), what was said before (HISTORY) and what is to be said (USER_INPUT), and prints, for people, what a model
 * would be sent.
 */
export class ShowPrompt implements FrameStage {
  readonly prints = 'text'
  readonly #output: Output
  readonly #system: string
  readonly #model: string | undefined
  readonly #tools = new ToolList()
  readonly #conversation = new Conversation()

  /** `model`: whose thinking is sent back; undefined for that of whoever answered last. */
  constructor(output: Output, system: string, model: string | undefined) {
    this.#output = output
    this.#system = system
    this.#model = model
  }

  frame(frame: Frame): void {
    const message = parseMessage(frame)
    if (message?.type === 'TOOL_DEF') this.#tools.add(message)
    else if (message?.type === 'USER_INPUT') this.#conversation.take({ ...message, type: 'USER_MESSAGE' } as MessageOf<'USER_MESSAGE'>)
    else if (message?.type === 'HISTORY') {
      const recorded = recordedMessage(frame)
      if (recorded !== undefined) this.#conversation.take(recorded)
    }
  }

  end(): undefined {
    const { items } = this.#conversation
    const last = items.findLast((item) => item.kind === 'response')
    const model = this.#model ?? (last?.kind === 'response' ? last.model : '')
    const messages = items.length === 0 ? [] : requestMessages(items, model, () => {})
    this.#section('system prompt', this.#system === '' ? '(none)' : this.#system)
    this.#section('tools', this.#tools.all.map((tool) => `${tool.name}: ${tool.description}\n${JSON.stringify(tool.schema)}`).join('\n\n') || '(none)')
    this.#section('messages', messages.map(messageText).join('\n\n') || '(none)')
  }

  #section(title: string, text: string): void {
    this.#output.write(Buffer.from(`=== ${title} ===\n\n${printableLines(text)}\n\n`))
  }
}

function messageText({ role, blocks }: RequestMessage): string {
  return [`--- ${role} ---`, ...(blocks as readonly (UserBlock | ModelBlock)[]).map(blockText)].join('\n')
}

function blockText(block: UserBlock | ModelBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text
    case 'thinking':
      return `[thinking] ${block.text}`
    case 'image':
      return `[image ${block.image.type}]`
    case 'call':
      return `[call ${block.name} ${block.id}] ${block.input}`
    case 'result':
      return `[result of ${block.name} ${block.id}${block.failed ? ', failed' : ''}${block.image === undefined ? '' : `, image ${block.image.type}`}] ${block.output}`
  }
}

/** What would act on a terminal is made visible; lines stay lines. */
function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable)
}
