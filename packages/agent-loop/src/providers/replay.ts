import type { Frame } from '@agentpipe/frame'
import { type MessageOf, parseMessage } from '@agentpipe/message'
import { usage } from '@agentpipe/stage'
import { currentDirectory } from '../current-directory.js'
import type { Settings } from '../options.js'
import { type Answer, type ModelEvent, type ModelRequest, type Provider, ProviderError, type ResponseEnd } from '../provider.js'
import { type CapturedTurn, readCapture } from './capture.js'
import type { CapturedResponse } from './captured-response.js'
import { divergences } from './divergence.js'

/**
 * A model that is a captured frame file: each input takes the next turn of it, each request the next response. What tools answer does
 * not change what it says, but it tells where they answer otherwise than they did. Throws StageError: 64 without a file, 66 or 65 for one that can't be read.
 */
export function replay({ from, model }: Settings): Provider {
  if (from === undefined) throw usage('--provider replay needs a captured session: --from FILE')
  return new Replay(from, readCapture(from), model)
}

class Replay implements Provider {
  readonly model: string
  readonly plays = true
  readonly #path: string
  readonly #turns: readonly CapturedTurn[]

  constructor(path: string, turns: readonly CapturedTurn[], model: string | undefined) {
    this.#path = path
    this.#turns = turns
    this.model = model ?? turns.flat().find(({ usage }) => usage?.attributes.model)?.usage?.attributes.model ?? ''
  }

  async *respond({ turn, request }: ModelRequest): AsyncGenerator<ModelEvent> {
    const response = this.#response(turn, request)
    for (const frame of response.frames()) for (const event of eventsOf(frame)) yield event
    if (response.error !== undefined) throw new ProviderError('unreachable', response.error)
    if (response.usage !== undefined) yield { kind: 'usage', usage: usageOf(response.usage) }
    yield { kind: 'end', reason: endOf(response) }
  }

  divergences(turn: number, request: number, answers: readonly Answer[]): readonly string[] {
    return divergences(this.#response(turn, request), answers, currentDirectory())
  }

  #response(turn: number, request: number): CapturedResponse {
    const response = this.#turns[turn]?.[request]
    if (response !== undefined) return response
    const said =
      this.#turns[turn] === undefined ? `${count(this.#turns.length, 'turn')}, this is number ${turn + 1}` : `${count(request, 'response')} in this turn`
    throw new ProviderError('exhausted', `the capture ${this.#path} has no more to say: it has ${said}`)
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

function eventsOf(frame: Frame): ModelEvent[] {
  const message = parseMessage(frame)
  if (message?.type === 'TEXT') return [{ kind: 'text', text: message.text }]
  if (message?.type === 'THINKING') return thinkingOf(message)
  if (message?.type !== 'TOOL_CALL') return []
  const { id, name, input, attributes } = message
  const opaque = attributes['@opaque']
  return [{ kind: 'call', id, name, input, ...(opaque === undefined ? {} : { opaque }) }]
}

function thinkingOf({ text, attributes: { signature, opaque } }: MessageOf<'THINKING'>): ModelEvent[] {
  const events: ModelEvent[] = text === '' ? [] : [{ kind: 'thinking', text }]
  if (signature === undefined && opaque === undefined) return events
  return [...events, { kind: 'thinking_end', ...(signature === undefined ? {} : { signature }), ...(opaque === undefined ? {} : { opaque }) }]
}

function usageOf({ input, output, cache_read: cacheRead, cache_creation: cacheCreation }: MessageOf<'USAGE'>) {
  return { input, output, cacheRead, cacheCreation }
}

function endOf({ calls, stop }: CapturedResponse): ResponseEnd {
  if (stop === 'max_tokens' || stop === 'refusal') return stop
  return calls ? 'calls' : 'end_turn'
}
