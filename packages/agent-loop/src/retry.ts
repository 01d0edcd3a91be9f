import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelEvent, type ModelRequest, type Provider, ProviderError, type ProviderFailure } from './provider.js'

/** What may be otherwise the next time. */
const PASSING: ReadonlySet<ProviderFailure> = new Set<ProviderFailure>(['busy', 'unreachable', 'cut'])

const LONGEST_DELAY_MS = 60_000

/** What is shorter is no secret, and may be a word of the message: `none`, `test`. */
const SHORTEST_KEY = 8

/**
 * A provider that asks again when its server fails in a way that may pass, `retries` times at most, until the model has said something
 * that a user has seen: that would be said twice. `baseMs` is the shortest wait. `key`
 * is taken out of what is said: there are servers that repeat it when they refuse it, and an ERROR is recorded.
 */
export function persistent(provider: Provider, retries: number, baseMs: number, key?: string): Provider {
  return {
    get model() {
      return provider.model
    },
    warmUp: async () => provider.warmUp?.(),
    async *respond(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      for (let attempt = 1; ; attempt++) {
        let said = false
        try {
          for await (const event of provider.respond(request, signal)) {
            if (event.kind === 'text' && event.text !== '') said = true
            yield event
          }
          return
        } catch (error) {
          signal.throwIfAborted()
          if (!(error instanceof ProviderError)) throw error
          error.partial = said
          if (key !== undefined && key.length >= SHORTEST_KEY) error.message = withoutKey(error.message, key)
          if (said || attempt > retries || !PASSING.has(error.failure)) throw error
          const delayMs = error.retryAfterMs ?? backOff(attempt, baseMs)
          yield { kind: 'retry', attempt, delayMs, reason: error.message }
          await sleep(delayMs, undefined, { signal })
        }
      }
    },
  }
}

/** `text` with `[key]` for the key, also where a text that was shortened ends inside it. */
function withoutKey(text: string, key: string): string {
  let clean = text.replaceAll(key, '[key]')
  for (let length = key.length - 1; length >= SHORTEST_KEY; length--) clean = clean.replaceAll(`${key.slice(0, length)}...`, '[key]...')
  return clean
}

/** Twice as long each time, somewhere between the shortest wait and that, so that not everybody comes back at once. In milliseconds. */
export function backOff(attempt: number, baseMs: number): number {
  const longest = Math.max(baseMs, Math.min(LONGEST_DELAY_MS, baseMs * 2 ** attempt))
  return Math.round(baseMs + Math.random() * (longest - baseMs))
}
