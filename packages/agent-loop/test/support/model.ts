import { frames } from '@agentpipe/testing'

/** The USAGE that closes a response. */
export const USAGE = ['USAGE', '10', '5', '0', '0'] as const
export const STOP = ['STOP', 'end_turn'] as const

/** A model that calls `Do` once with `{"n":1}`, then says `Done.` */
export const CALLS_ONCE = frames(['TEXT', 'I do it.'], ['TOOL_CALL', 'Do', 'c1', '{"n":1}', 'n', '1'], USAGE, ['TEXT', 'Done.'], USAGE, STOP)

/** A model that says `text`, as many times. */
export function says(text: string, times = 1): Buffer {
  const piece = frames(['TEXT', text])
  return Buffer.concat([Buffer.alloc(piece.length * times, piece), frames(USAGE, STOP)])
}

/** A model that makes these calls, each given as name, id and input, and then says `Done.` */
export function calls(...list: readonly (readonly [name: string, id: string, input: string])[]): Buffer {
  return frames(...list.map((call) => ['TOOL_CALL', ...call]), USAGE, ['TEXT', 'Done.'], USAGE, STOP)
}
