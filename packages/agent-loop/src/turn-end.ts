import { EXIT } from '@agentpipe/stage'
import type { ProviderFailure } from './provider.js'

/** What ends a turn in an error: the model server, or the model. */
export type Failure = ProviderFailure | 'repeated_calls' | 'output_schema'

/** How a turn ended: the reason of its STOP, and what failed where that is `error`. */
export type TurnEnd =
  | { readonly reason: 'end_turn' | 'max_tokens' | 'max_turns' | 'max_cost' | 'refusal' | 'interrupted' }
  | { readonly reason: 'error'; readonly failure: Failure }

/** An end of the turn that is no server's fault. */
export class TurnError extends Error {
  override readonly name = 'TurnError'

  constructor(
    readonly failure: Exclude<Failure, ProviderFailure>,
    message: string,
  ) {
    super(message)
  }
}

const FAILURE_STATUS: Readonly<Record<Failure, number>> = {
  key: EXIT.NOT_PERMITTED,
  busy: EXIT.TRY_AGAIN,
  quota: EXIT.TRY_AGAIN,
  unreachable: EXIT.UNAVAILABLE,
  cut: EXIT.UNAVAILABLE,
  rejected: EXIT.UNAVAILABLE,
  too_long: EXIT.UNAVAILABLE,
  diverged: 1,
  exhausted: EXIT.UNAVAILABLE,
  repeated_calls: 1,
  output_schema: 1,
}

/** The exit status that tells how the last turn ended. */
export function turnStatus(end: TurnEnd): number {
  if (end.reason === 'end_turn') return EXIT.OK
  if (end.reason === 'interrupted') return EXIT.INTERRUPTED
  return end.reason === 'error' ? FAILURE_STATUS[end.failure] : 1
}
