import { EXIT } from '@agentpipe/stage'
import type { ProviderFailure } from './provider.js'

/** How a turn ended: the reason of its STOP, and what failed where that is `error`. */
export type TurnEnd =
  | { readonly reason: 'end_turn' | 'max_tokens' | 'max_turns' | 'refusal' | 'interrupted' }
  | { readonly reason: 'error'; readonly failure: ProviderFailure }

const FAILURE_STATUS: Readonly<Record<ProviderFailure, number>> = {
  key: EXIT.NOT_PERMITTED,
  busy: EXIT.TRY_AGAIN,
  unreachable: EXIT.UNAVAILABLE,
  cut: EXIT.UNAVAILABLE,
  rejected: EXIT.UNAVAILABLE,
  too_long: EXIT.UNAVAILABLE,
  diverged: 1,
  exhausted: EXIT.UNAVAILABLE,
}

/** The exit status that tells how the last turn ended. */
export function turnStatus(end: TurnEnd): number {
  if (end.reason === 'end_turn') return EXIT.OK
  if (end.reason === 'interrupted') return EXIT.INTERRUPTED
  return end.reason === 'error' ? FAILURE_STATUS[end.failure] : 1
}
