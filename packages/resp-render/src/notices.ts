import type { Frame } from '@agentpipe/frame'
import { attributesOf, wholeNumber } from './attributes.js'
import { grouped, oneLine } from './invisible.js'
import { notice } from './notice.js'
import { duration } from './outcome.js'
import type { Screen } from './screen.js'

const LONGEST_MESSAGE = 2000
const LONGEST_WORD = 80

/** What a turn's end is called, where it is not the usual one. */
const STOPS: Readonly<Record<string, string>> = {
  max_tokens: 'the answer reached the limit of tokens and is cut',
  max_turns: 'the limit of turns was reached',
  max_cost: 'the limit of cost was reached',
  interrupted: 'interrupted',
  refusal: 'the model refused to answer',
  error: 'an error ended the turn',
}

export function stop(screen: Screen, frame: Frame): void {
  const reason = oneLine(frame.field(1), LONGEST_WORD)
  if (reason === 'end_turn') return
  const text = Object.hasOwn(STOPS, reason) ? `${STOPS[reason]}` : reason
  notice(screen, '■', 'warning', [[`Stopped: ${text}`, 'warning']])
}

export function error(screen: Screen, frame: Frame): void {
  const attributes = attributesOf(frame)
  const source = oneLine(attributes.get('source'), LONGEST_WORD)
  const message = oneLine(frame.field(1), LONGEST_MESSAGE)
  const from = source === '' || message.startsWith(`${source}:`) ? '' : `${source}: `
  notice(screen, '✗', 'failed', [[`Error: ${from}${message}`, 'failed']])
}

export function retry(screen: Screen, frame: Frame, said: boolean): void {
  const attributes = attributesOf(frame)
  const attempt = wholeNumber(attributes.get('attempt'))
  const delay = wholeNumber(attributes.get('delay_ms'))
  const reason = oneLine(attributes.get('reason'), LONGEST_MESSAGE)
  const details = [attempt === undefined ? '' : `attempt ${attempt}`, delay === undefined ? '' : `in ${duration(delay)}`]
    .filter((text) => text !== '')
    .join(', ')
  const void_ = said ? 'What was just said is void. ' : ''
  notice(screen, '↻', 'warning', [[`${void_}The model is asked again${details === '' ? '' : ` (${details})`}${reason === '' ? '' : `: ${reason}`}`, 'warning']])
}

export function contextUpdate(screen: Screen, frame: Frame): void {
  const attributes = attributesOf(frame)
  const kind = oneLine(frame.field(1), LONGEST_WORD)
  const trigger = oneLine(frame.field(2), LONGEST_WORD)
  const [before, after] = [wholeNumber(attributes.get('tokens_before')), wholeNumber(attributes.get('tokens_after'))]
  const tokens = before === undefined || after === undefined ? '' : `: ${grouped(before)} to ${grouped(after)} tokens`
  const what = kind === 'compact' ? 'The conversation was compacted' : `Context ${kind}`
  notice(screen, '─', 'note', [[`${what} (${trigger})${tokens}`, 'note']])
}

/** The image of a message, which is named only. */
export function images(screen: Screen, frame: Frame): void {
  const attributes = attributesOf(frame)
  if (attributes.has('image')) notice(screen, '▣', 'note', [[`image ${oneLine(attributes.get('image_type'), LONGEST_WORD)}`.trim(), 'note']])
}
