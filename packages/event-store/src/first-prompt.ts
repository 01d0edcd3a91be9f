import { readSync } from 'node:fs'
import { recordsIn } from './damaged-line.js'
import { linesIn } from './lines.js'
import type { EventRecord } from './record.js'
import { headsIn, ownHead } from './record-head.js'

/** Characters of a prompt that are kept. */
const PROMPT_LENGTH = 1000
/** As much of the beginning of a log is looked at: little first, since a prompt is mostly among the first lines. */
const LOOKED_AT = [8 * 1024, 256 * 1024]
const LF = 0x0a
const BEFORE_TEXT = '","text":"'
/** Bytes that are enough of a long prompt. */
const ENOUGH_BYTES = 8 * 1024

const buffer = Buffer.allocUnsafeSlow(LOOKED_AT.at(-1) as number)

/** The first input of an open log, cut to 1,000 characters; undefined where none stands in its first 256 KiB. Throws what the system says. */
export function firstPrompt(descriptor: number): string | undefined {
  for (const length of LOOKED_AT) {
    const beginning = buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0))
    const whole = beginning.lastIndexOf(LF) + 1
    for (const line of linesIn({ block: beginning.subarray(0, whole), start: 0 })) {
      if (!headsIn(line).some(({ type }) => type === 'USER_MESSAGE')) continue
      const record = recordsIn(line.bytes).records.find(({ type }) => type === 'USER_MESSAGE')
      if (record !== undefined) return textOf(record)
    }
    const cut = cutPrompt(beginning.subarray(whole))
    if (cut !== undefined || beginning.length < length) return cut
  }
  return undefined
}

/** The beginning of the input on a line that is longer than what was read of it, or has no LF yet. */
function cutPrompt(line: Buffer): string | undefined {
  const head = ownHead(line)
  if (head?.type !== 'USER_MESSAGE' || line.toString('latin1', head.typeEnd, head.typeEnd + BEFORE_TEXT.length) !== BEFORE_TEXT) return undefined
  const start = head.typeEnd + BEFORE_TEXT.length
  const text = line.toString('utf8', start, start + ENOUGH_BYTES)
  const [string = ''] = /^(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*/.exec(text) ?? []
  try {
    return shortened(JSON.parse(`"${string}"`))
  } catch {
    return undefined
  }
}

function textOf({ members: { text, text_base64: base64 } }: EventRecord): string {
  return shortened(typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : String(text ?? ''))
}

/** Cut between characters: half a surrogate pair is no text. */
function shortened(text: string): string {
  return [...text.slice(0, PROMPT_LENGTH * 2)].slice(0, PROMPT_LENGTH).join('')
}
