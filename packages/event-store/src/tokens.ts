import type { EventRecord } from './record.js'

/** Tokens as USAGE counts them: `input` without those of the cache. */
export interface Tokens {
  input: number
  output: number
  cache_read: number
  cache_creation: number
}

export function noTokens(): Tokens {
  return { input: 0, output: 0, cache_read: 0, cache_creation: 0 }
}

/** Adds what a USAGE says. */
export function addUsage(tokens: Tokens, members: EventRecord['members']): void {
  for (const name of ['input', 'output', 'cache_read', 'cache_creation'] as const) tokens[name] += count(members[`${name}_tokens`])
}

export function allTokens({ input, output, cache_read, cache_creation }: Tokens): number {
  return input + output + cache_read + cache_creation
}

/** A number of tokens for people: 812, 45k, 1.2M. */
export function rounded(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  const [unit, letter] = tokens < 999_500 ? [1e3, 'k'] : [1e6, 'M']
  const value = tokens / (unit as number)
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${letter}`
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}
