import type { RequestMessage } from './request-messages.js'
import type { Tool } from './tool-list.js'

/** What a model is asked. */
export interface ModelRequest {
  /** What was said so far, the latest input among it, made valid for a model server: see request-messages.ts. Made on each call. */
  readonly messages: () => readonly RequestMessage[]
  readonly tools: readonly Tool[]
  /** The system prompt, empty for none. */
  readonly system: string
  /** Number of the input, counted from 0 since agent-loop started, and of the request for it. */
  readonly turn: number
  readonly request: number
}

/** Why a response ended: `calls`, it waits for tools. */
export type ResponseEnd = 'end_turn' | 'calls' | 'max_tokens' | 'refusal'

export interface Usage {
  readonly input: number | string
  readonly output: number | string
  readonly cacheRead: number | string
  readonly cacheCreation: number | string
}

/**
 * What a model says, piece by piece. `call` and `thinking_end` come when theirs is whole, `end` once, last. Of several `usage` the last one counts:
 * an early one tells what a response has cost that is interrupted.
 */
export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'thinking_end'; readonly signature?: string; readonly opaque?: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly opaque?: string }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'end'; readonly reason: ResponseEnd }
  /** What was said of this response is void: it is asked for again. */
  | { readonly kind: 'retry'; readonly attempt: number; readonly delayMs: number; readonly reason: string }

/** What came of a call. */
export interface Answer {
  readonly name: string
  readonly output: string
  readonly status: string
  readonly exitCode?: string
  /** Path of the whole output, where `output` is cut. */
  readonly fullOutput?: string
}

/** Who plays the model's side. A new one is a new file beside providers/replay.ts and a line in providers.ts. */
export interface Provider {
  /** Name of the model, for HELLO and USAGE; empty where there is none. */
  readonly model: string
  /** It says what it has said before, whatever it is asked: it has no window, and can summarise nothing. */
  readonly plays?: boolean
  /**
   * Asks the model once. Ends after `end`, or throws: ProviderError for what a user is told of; anything when `signal` is
   * aborted. Who iterates may take its time between events; the provider reads no further meanwhile.
   */
  respond(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Loads what the first request needs. May reject: what fails now fails again when it is used, and is told of then. */
  warmUp?(): Promise<unknown>
  /**
   * For a model that knows what came of its calls before: where the answers to the calls of that response differ, a line each, such as
   * `call 1 (Bash): line 3: expected "a", found "b"`. `answers` in the order of the calls that were made.
   */
  divergences?(turn: number, request: number, answers: readonly Answer[]): readonly string[]
}

/**
 * Why a model did not answer. `key`: refused; `busy`: overloaded or rate-limited; `quota`: a limit that waiting does not lift; `unreachable`: no answer, or none that can be used;
 * `cut`: the answer ended before its end; `rejected`: the request is at fault, and would be again; `too_long`: it is bigger than the
 * model's window; `exhausted`: a capture has no more to say; `diverged`: tools answered otherwise than in the capture.
 */
export type ProviderFailure = 'key' | 'busy' | 'quota' | 'unreachable' | 'cut' | 'rejected' | 'too_long' | 'exhausted' | 'diverged'

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** The model had said something before, which a user has seen. */
  partial = false

  constructor(
    readonly failure: ProviderFailure,
    message: string,
    /** How long the server asks to wait before the next attempt, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}
