import type { Item } from './conversation.js'

type Of<Kind extends Item['kind']> = Extract<Item, { kind: Kind }>

/** A call and what came of it. */
export interface MadeCall {
  readonly kind: 'call'
  readonly call: Of<'call'>
  result?: Of<'result'>
}

export type Said = Of<'text'> | Of<'thinking'> | MadeCall

/** What the model said in one response, and what it is told in return. The first one of a conversation has no response. */
export interface Exchange {
  /** Undefined where no USAGE tells. */
  readonly model: string | undefined
  readonly said: Said[]
  readonly told: (Of<'user'> | Of<'notice'> | Of<'summary'>)[]
}

/** What happened, ordered into exchanges, each result with its call wherever it came. `mended` as requestMessages has it. */
export function exchangesOf(items: readonly Item[], mended: (what: string) => void): Exchange[] {
  const sorter = new Sorter(mended)
  for (let start = 0; start < items.length; ) {
    let end = start
    while (end < items.length && !ENDS.has((items[end] as Item).kind)) end++
    sorter.response(items, start, end)
    start = end + 1
  }
  return sorter.exchanges
}

/** What ends a response: `response`, or where it has none, what can only come after it. */
const ENDS: ReadonlySet<Item['kind']> = new Set(['response', 'user', 'stop', 'summary'])

class Sorter {
  readonly exchanges: Exchange[] = [{ model: undefined, said: [], told: [] }]
  readonly #mended: (what: string) => void
  /** The calls without a result, by id: the oldest is answered first where an id stands twice. */
  readonly #open = new Map<string, { readonly made: MadeCall; readonly exchange: Exchange }[]>()
  readonly #ids = new Set<string>()
  /** What a result belongs to unless it is late. */
  #answered: Exchange | undefined

  constructor(mended: (what: string) => void) {
    this.#mended = mended
  }

  /** Takes the items of one response, and of what came before it since the one before, and the item at `end`, which ends it. */
  response(items: readonly Item[], start: number, end: number): void {
    const last = items[end]
    const model = last?.kind === 'response' ? last.model : undefined
    let speaking: Exchange | undefined
    for (let at = start; at < end; at++) {
      const item = items[at] as Item
      if (item.kind === 'result') {
        this.#result(item)
        // Without USAGE, as other programs write it, a result is what ends a response.
        if (last?.kind !== 'response') speaking = undefined
      } else if (item.kind === 'notice') this.#last.told.push(item)
      else if (item.kind === 'text' || item.kind === 'thinking' || item.kind === 'call') {
        speaking ??= this.#begin(model)
        this.#say(item, speaking)
      }
    }
    if (last?.kind === 'user' || last?.kind === 'summary') {
      this.#last.told.push(last)
      this.#answered = undefined
    }
  }

  get #last(): Exchange {
    return this.exchanges.at(-1) as Exchange
  }

  #begin(model: string | undefined): Exchange {
    const exchange: Exchange = { model, said: [], told: [] }
    this.exchanges.push(exchange)
    this.#answered = exchange
    return exchange
  }

  #say(item: Of<'text'> | Of<'thinking'> | Of<'call'>, exchange: Exchange): void {
    if (item.kind !== 'call') {
      exchange.said.push(item)
      return
    }
    const made: MadeCall = { kind: 'call', call: item }
    exchange.said.push(made)
    if (this.#ids.has(item.id)) this.#mended('two calls had the same id')
    this.#ids.add(item.id)
    const open = this.#open.get(item.id)
    if (open === undefined) this.#open.set(item.id, [{ made, exchange }])
    else open.push({ made, exchange })
  }

  #result(result: Of<'result'>): void {
    const open = this.#open.get(result.id)
    const { made, exchange } = open?.shift() ?? {}
    if (open?.length === 0) this.#open.delete(result.id)
    if (made === undefined) this.#mended(this.#ids.has(result.id) ? 'a call had more than one result' : 'a result belonged to no call')
    else {
      made.result = result
      if (exchange !== this.#answered) this.#mended('the result of a call came late')
    }
  }
}
