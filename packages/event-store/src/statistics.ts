import { priceOf } from '@agentpipe/stage'
import type { EventRecord } from './record.js'
import { addUsage, noTokens, type Tokens } from './tokens.js'

const MILLION = 1e6

export interface ModelFigures extends Tokens {
  /** '' where nothing says which. */
  readonly model: string
  responses: number
  /** null where nobody says what the model costs. */
  cost_usd: number | null
}

export interface ToolFigures {
  readonly tool: string
  calls: number
  /** Results with another status than ok. */
  failed: number
  /** Milliseconds in sum, and of the longest call. */
  duration_ms: number
  longest_ms: number
}

/** What `stats --json` prints. */
export interface Figures {
  readonly sessions: number
  readonly events: number
  readonly turns: number
  readonly first_event: string | null
  readonly last_event: string | null
  readonly tokens: Tokens
  /** Of the models whose price is known. */
  readonly cost_usd: number
  readonly models: readonly ModelFigures[]
  readonly tools: readonly ToolFigures[]
}

type Members = EventRecord['members']

const SAYS_MORE: ReadonlySet<string> = new Set(['USAGE', 'TOOL_CALL', 'TOOL_RESULT', 'SUB_AGENT_RESULT'])

/** Adds up what the events of sessions say. */
export class Statistics {
  #sessions = 0
  #events = 0
  #turns = 0
  #first: string | undefined
  #last: string | undefined
  readonly #models = new Map<string, ModelFigures>()
  readonly #tools = new Map<string, ToolFigures>()
  /** When calls without a result were made, by id. */
  readonly #open = new Map<string, number>()
  /** Usage of a sub-agent whose session is not named yet: its result follows. */
  #ofSubAgent: Members | undefined

  /** `counted`: the ids of all sessions that are added up. A sub-agent's usage stands in its own session and in that which started it. */
  constructor(readonly counted: ReadonlySet<string>) {}

  endSession(): void {
    this.#takeOfSubAgent()
    this.#sessions++
    this.#open.clear()
  }

  take(record: EventRecord): void {
    const { type, time } = record
    // Of most records nothing else is asked for: they need not be parsed.
    const members = SAYS_MORE.has(type) ? record.members : {}
    this.#events++
    if (this.#first === undefined || time < this.#first) this.#first = time
    if (this.#last === undefined || time > this.#last) this.#last = time
    if (type === 'SUB_AGENT_RESULT' && this.counted.has(String(members.session_id))) this.#ofSubAgent = undefined
    this.#takeOfSubAgent()
    if (type === 'USER_MESSAGE') this.#turns++
    else if (type === 'USAGE' && members.kind === 'sub_agent') this.#ofSubAgent = members
    else if (type === 'USAGE') this.#usage(members)
    else if (type === 'TOOL_CALL') this.#open.set(String(members.tool_use_id), Date.parse(time))
    else if (type === 'TOOL_RESULT') this.#result(time, members)
  }

  figures(): Figures {
    this.#takeOfSubAgent()
    const models = [...this.#models.values()].map((figures) => ({ ...figures, cost_usd: costOf(figures) }))
    const tokens = noTokens()
    for (const figures of models) for (const name of NAMES) tokens[name] += figures[name]
    return {
      sessions: this.#sessions,
      events: this.#events,
      turns: this.#turns,
      first_event: this.#first ?? null,
      last_event: this.#last ?? null,
      tokens,
      cost_usd: models.reduce((sum, { cost_usd: cost }) => sum + (cost ?? 0), 0),
      models,
      tools: [...this.#tools.values()].sort((one, other) => other.duration_ms - one.duration_ms),
    }
  }

  #takeOfSubAgent(): void {
    if (this.#ofSubAgent !== undefined) this.#usage(this.#ofSubAgent)
    this.#ofSubAgent = undefined
  }

  #usage(members: Members): void {
    const model = typeof members.model === 'string' ? members.model : ''
    const figures = this.#models.get(model) ?? { model, responses: 0, ...noTokens(), cost_usd: null }
    this.#models.set(model, figures)
    figures.responses++
    addUsage(figures, members)
  }

  /** Its duration is what the runner says, else the time between call and result. */
  #result(time: string, { name, tool_use_id: id, status = 'ok', duration_ms: duration }: Members): void {
    const tool = String(name)
    const figures = this.#tools.get(tool) ?? { tool, calls: 0, failed: 0, duration_ms: 0, longest_ms: 0 }
    this.#tools.set(tool, figures)
    const called = this.#open.get(String(id)) ?? Date.parse(time)
    this.#open.delete(String(id))
    const milliseconds = typeof duration === 'number' ? duration : Math.max(0, Date.parse(time) - called)
    figures.calls++
    if (status !== 'ok') figures.failed++
    figures.duration_ms += milliseconds
    figures.longest_ms = Math.max(figures.longest_ms, milliseconds)
  }
}

const NAMES = ['input', 'output', 'cache_read', 'cache_creation'] as const

function costOf({ model, input, output, cache_read: cacheRead, cache_creation: cacheCreation }: ModelFigures): number | null {
  const price = priceOf(model)
  if (price === undefined) return null
  return (input * price.input + output * price.output + cacheRead * price.cacheRead + cacheCreation * price.cacheCreation) / MILLION
}
