import type { Frame } from '@agentpipe/frame'
import { checkMessage, type MESSAGES, type MessageType, messageSpec } from '@agentpipe/message'
import { attributesOf, closesResponse } from './attributes.js'
import { Calls } from './calls.js'
import type { Cap } from './excerpt.js'
import { notice } from './notice.js'
import * as notices from './notices.js'
import { permissionRequest } from './permission-request.js'
import { type Flow, markdownFlow, Prose, plainFlow } from './prose.js'
import { margin } from './rows.js'
import { Screen } from './screen.js'
import { shown } from './shown.js'
import type { ColourDepth } from './style.js'
import { subAgentResult } from './sub-agent-result.js'
import { type Theme, type ThemeChoice, themeFor } from './theme.js'
import { TurnUsage } from './turn-usage.js'
import { userMessage } from './user-message.js'

export interface RenderOptions {
  /** Cells of a row, 1 or more. */
  readonly width: number
  readonly depth: ColourDepth
  readonly theme: ThemeChoice
  readonly thinking: 'show' | 'brief' | 'hide'
  /** Lines of each call's output that are shown. */
  readonly toolOutput: Cap
  /** Whether colours that tools print are kept, where there are colours. */
  readonly toolColours: boolean
  /** Whether each turn ends in a line that says how many tokens it took. */
  readonly usage: boolean
  /** Whether code is wrapped; else its lines are as long as they are. */
  readonly wrapCode: boolean
  /** Whether the terminal takes links (OSC 8). */
  readonly links: boolean
}

/**
 * Frames in, text for a terminal out. What comes out depends on the frames and the options alone: not on when frames come, in
 * which pieces, or whether it happens live. It only appends. Events are shown; what it doesn't know is not.
 */
export class Renderer {
  readonly #options: RenderOptions
  readonly #screen: Screen
  readonly #calls: Calls
  readonly #usage = new TurnUsage()
  /** What is being said or thought, and by which type of frame. */
  #prose: { readonly type: MessageType; readonly block: Prose } | undefined
  /** Whether the model said anything since the last USAGE. */
  #said = false

  constructor(options: RenderOptions) {
    this.#options = options
    this.#screen = new Screen(options.width, { theme: themeFor(options.depth, options.theme), styled: options.depth > 0, links: options.links })
    this.#calls = new Calls(this.#screen, { cap: options.toolOutput, colours: options.toolColours && options.depth > 0 })
  }

  /** Takes a frame. Throws FrameError when a known type has too few fields. */
  frame(frame: Frame): void {
    const { type } = frame
    // Most frames are the next word of what is being said.
    if (type === 'TEXT' && this.#prose?.type === type && !this.#prose.block.ended && frame.count > 1) {
      this.#prose.block.push(frame.field(1) as Buffer)
      return
    }
    const spec = messageSpec(type)
    if (spec?.kind !== 'event') return
    if (frame.count <= spec.fields.length) checkMessage(frame)
    const event = type as EventType
    if (event === 'USAGE') this.#usage.add(frame)
    if (event === 'TEXT' || event === 'THINKING') this.#say(frame, event)
    else if (event === 'TOOL_OUTPUT') {
      // It ends what is being said only when there is a line to show.
      this.#prose?.block.drain()
      this.#calls.output(frame)
    } else if (event !== 'USAGE' || closesResponse(frame)) {
      this.#endProse()
      this.#show(frame, event)
    }
  }

  /** Shows text that is not the model's nor a tool's. */
  show(text: Buffer): void {
    this.#endProse()
    shown(this.#screen, text)
  }

  /** What can be shown since the last time. */
  take(): string {
    return this.takeBytes().toString()
  }

  /** The same as UTF-8. */
  takeBytes(): Buffer {
    this.#prose?.block.drain()
    return this.#screen.take()
  }

  /** The terminal has another width. */
  resize(width: number): void {
    this.#screen.resize(width)
  }

  get theme(): Theme {
    return this.#screen.theme
  }

  /** There are no more frames: what was held back is shown. */
  end(): void {
    this.#endProse()
    this.#calls.end()
    this.#screen.close()
  }

  #show(frame: Frame, event: Exclude<EventType, 'TEXT' | 'THINKING' | 'TOOL_OUTPUT'>): void {
    switch (event) {
      case 'USER_MESSAGE':
        this.#said = false
        userMessage(this.#screen, frame, this.#options.toolOutput)
        break
      case 'TOOL_CALL':
        this.#said = true
        this.#calls.call(frame)
        break
      case 'TOOL_RESULT':
        this.#calls.result(frame)
        break
      case 'USAGE':
        this.#said = false
        break
      case 'SUB_AGENT_RESULT':
        subAgentResult(this.#screen, frame, this.#options.toolOutput)
        break
      case 'STOP':
        this.#stop(frame)
        break
      case 'CONTEXT_UPDATE':
        notices.contextUpdate(this.#screen, frame)
        break
      case 'ERROR':
        notices.error(this.#screen, frame)
        break
      case 'RETRY':
        notices.retry(this.#screen, frame, this.#said)
        this.#said = false
        break
      case 'PERMISSION_REQUEST':
        permissionRequest(this.#screen, frame)
        break
      default:
        event satisfies never
    }
  }

  #stop(frame: Frame): void {
    this.#said = false
    this.#calls.end()
    notices.stop(this.#screen, frame)
    const usage = this.#usage.take()
    if (this.#options.usage && usage !== '') notice(this.#screen, 'Σ', 'note', [[usage, 'note']])
    this.#screen.close()
  }

  #say(frame: Frame, type: 'TEXT' | 'THINKING'): void {
    this.#said = true
    if (this.#prose?.type !== type || this.#prose.block.ended) {
      this.#endProse()
      const flow = type === 'TEXT' ? markdownFlow(this.#screen, this.#options.wrapCode) : this.#thinkingFlow()
      if (flow === undefined) return
      this.#prose = { type, block: new Prose(this.#screen, flow) }
    }
    this.#prose.block.push(frame.field(1) as Buffer)
    // A signature closes its block of thinking.
    if (frame.count > 2 && type === 'THINKING' && attributesOf(frame).has('signature')) this.#endProse()
  }

  #thinkingFlow(): ((begin: () => void) => Flow) | undefined {
    if (this.#options.thinking === 'hide') return undefined
    const style = this.#screen.theme.thinking
    return plainFlow(this.#screen, { style, margin: margin('┊ ', style, '┊ '), single: this.#options.thinking === 'brief' })
  }

  #endProse(): void {
    this.#prose?.block.end()
    this.#prose = undefined
  }
}

type EventType = { [Type in MessageType]: (typeof MESSAGES)[Type]['kind'] extends 'event' ? Type : never }[MessageType]
