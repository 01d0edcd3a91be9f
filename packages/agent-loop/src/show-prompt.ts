import type { Frame } from '@agentpipe/frame'
import { type MessageOf, parseMessage } from '@agentpipe/message'
import { type FrameStage, type Output, printable } from '@agentpipe/stage'
import { Conversation } from './conversation.js'
import { recordedMessage } from './history.js'
import type { Settings } from './options.js'
import { type ModelBlock, type RequestMessage, requestMessages, type UserBlock } from './request-messages.js'
import { ToolList } from './tool-list.js'

/** Stands for what a user is to say after a HISTORY that is given alone. */
const TO_COME = '(the next input)'

/**
 * `--show-prompt`: takes what defines tools (TOOL_DEF), what was said before (HISTORY) and what is to be said (USER_INPUT, CONTROL clear), and prints, for
 * people, what a model would be sent. Lines of that which look like our own headings get a backslash in front.
 */
export class ShowPrompt implements FrameStage {
  readonly prints = 'text'
  readonly noTerminal = true
  readonly #output: Output
  readonly #system: string
  readonly #model: string | undefined
  readonly #tools = new ToolList()
  readonly #conversation = new Conversation()
  /** Whether a USER_INPUT has come. */
  #asked = false

  /** `model`: whose thinking is sent back; undefined for that of whoever answered last. */
  constructor(output: Output, system: string, { model, 'no-tools': noTools }: Pick<Settings, 'model' | 'no-tools'>) {
    this.#output = output
    this.#system = system
    this.#model = model
    if (noTools) this.#tools.close()
  }

  frame(frame: Frame): void {
    const message = parseMessage(frame)
    if (message?.type === 'TOOL_DEF') this.#tools.add(message)
    else if (message?.type === 'USER_INPUT') this.#say(message)
    else if (message?.type === 'CONTROL' && message.name === 'clear')
      this.#conversation.take({ ...message, type: 'CONTEXT_UPDATE', kind: 'clear', trigger: 'manual' } as unknown as MessageOf<'CONTEXT_UPDATE'>)
    else if (message?.type === 'HISTORY') {
      const recorded = recordedMessage(frame)
      if (recorded !== undefined) this.#conversation.take(recorded)
    }
  }

  #say({ text, attributes }: Pick<MessageOf<'USER_INPUT'>, 'text' | 'attributes'>): void {
    this.#asked = true
    this.#conversation.take({ type: 'USER_MESSAGE', text, attributes } as MessageOf<'USER_MESSAGE'>)
  }

  end(): undefined {
    if (!this.#asked && this.#conversation.items.length > 0) this.#say({ text: TO_COME, attributes: {} })
    const { items } = this.#conversation
    const last = items.findLast((item) => item.kind === 'response')
    const model = this.#model ?? (last?.kind === 'response' ? last.model : '')
    const messages = items.length === 0 ? [] : requestMessages(items, model, () => {})
    this.#section('system prompt', shown(this.#system) || '(none)')
    this.#section('tools', this.#tools.all.map((tool) => shown(`${tool.name}: ${tool.description}\n${JSON.stringify(tool.schema)}`)).join('\n\n') || '(none)')
    this.#section('messages', messages.map(messageText).join('\n\n') || '(none)')
  }

  #section(title: string, text: string): void {
    this.#output.write(Buffer.from(`=== ${title} ===\n\n${text}\n\n`))
  }
}

function messageText({ role, blocks }: RequestMessage): string {
  return [`--- ${role} ---`, ...(blocks as readonly (UserBlock | ModelBlock)[]).map((block) => shown(blockText(block)))].join('\n')
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

/** What would act on a terminal is made visible; lines stay lines, and none of them looks like a heading of ours. */
function shown(text: string): string {
  return text.replace(/[^\n\t]+/g, printable).replace(/^(?=\\*(?:===|---) )/gm, '\\')
}
