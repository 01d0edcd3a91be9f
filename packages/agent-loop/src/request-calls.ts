import { parseObject } from '@agentpipe/message'
import { cleanText, isCleanText } from './request-text.js'

/** What every model server takes as the name of a tool, and as the id of a call. */
const LEGAL = /^[A-Za-z0-9_-]{1,64}$/
const LENGTH = 64

/** More brackets than this may stand deeper than JSON.stringify can go. */
const BRACKETS = 1000

/** `name` as every model server takes it. */
export function legalName(name: string, otherwise: string): string {
  return LEGAL.test(name) ? name : name.slice(0, LENGTH).replace(/[^A-Za-z0-9_-]/g, '_') || otherwise
}

/** The ids of the calls of one request: legal, and each there once. */
export class RequestIds {
  readonly #used = new Set<string>()
  readonly #numbers = new Map<string, number>()

  /** `given` where it is legal and new; else one made of it, the same for the same calls before it. */
  take(given: string): string {
    const legal = legalName(given, 'call')
    let id = legal
    for (let number = this.#numbers.get(legal) ?? 2; this.#used.has(id); number++) {
      id = `${legal.slice(0, LENGTH - 1 - String(number).length)}_${number}`
      this.#numbers.set(legal, number + 1)
    }
    this.#used.add(id)
    return id
  }
}

/** The input of a call as a JSON object that a server takes, as text; undefined where `input` is none. Unchanged where it is fine. */
export function requestInput(input: string): string | undefined {
  const object = parseObject(input)
  if (object === undefined) return undefined
  // A lone surrogate and a NUL can stand in JSON as \ud800 and \u0000.
  const clean = isCleanText(input) && !/\\u(?:d[89a-f]|0000)/i.test(input)
  if (clean && !deep(input)) return input
  try {
    return JSON.stringify(cleanValue(object))
  } catch {
    return undefined
  }
}

function deep(input: string): boolean {
  let brackets = 0
  for (let at = 0; at < input.length && brackets <= BRACKETS; at++) {
    const code = input.charCodeAt(at)
    if (code === 0x5b || code === 0x7b) brackets++
  }
  return brackets > BRACKETS
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), cleanValue(member)]))
}
