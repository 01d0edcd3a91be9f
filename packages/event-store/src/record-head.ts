import { recordsIn } from './damaged-line.js'
import type { Line } from './lines.js'
import type { EventRecord } from './record.js'

const BEGINNING = Buffer.from('{"v":1,"seq":')
const BEFORE_TIME = Buffer.from(',"ts":"')
const BEFORE_TYPE = Buffer.from('","type":"')
const TEXT = Buffer.from('text')
const QUOTE = 0x22
const ZERO = 0x30
const NINE = 0x39
/** Bytes of `2026-12-01T09:30:00.123Z`. */
export const TIME_BYTES = 24
const LONGEST_TYPE = 64

/** What stands at the beginning of each line that event-store writes. */
export interface RecordHead {
  readonly seq: number
  readonly time: string
  /** As frames spell it. */
  readonly type: string
}

/**
 * Number, time and type of what is recorded on a line, mostly one. A line that begins as ours do is not parsed for it, so whether the rest is
 * whole is not known; any other is.
 */
export function headsIn(line: Line): readonly RecordHead[] {
  const head = ownHead(line.head)
  return head === undefined ? recordsIn(line.bytes).records : [head]
}

/** The head of a line that begins as ours do. */
export function ownHead(line: Buffer): OwnHead | undefined {
  if (!standsAt(BEGINNING, line, 0)) return undefined
  let at = BEGINNING.length
  let seq = 0
  for (let byte = line[at] as number; byte >= ZERO && byte <= NINE; byte = line[++at] as number) seq = seq * 10 + byte - ZERO
  const time = at + BEFORE_TIME.length
  const type = time + TIME_BYTES + BEFORE_TYPE.length
  if (at === BEGINNING.length || !standsAt(BEFORE_TIME, line, at) || !standsAt(BEFORE_TYPE, line, time + TIME_BYTES)) return undefined
  let end = type
  while (line[end] !== QUOTE) if (end++ >= line.length || end > type + LONGEST_TYPE) return undefined
  return new OwnHead(line, seq, time, type, end)
}

/** Decodes what is asked for: of millions of lines little is. A line that is whole is a record, whose members are parsed then. */
class OwnHead implements EventRecord {
  constructor(
    readonly line: Buffer,
    readonly seq: number,
    readonly timeAt: number,
    readonly typeAt: number,
    readonly typeEnd: number,
  ) {}

  get time(): string {
    return this.line.toString('latin1', this.timeAt, this.timeAt + TIME_BYTES)
  }

  get members(): Record<string, unknown> {
    return JSON.parse(this.line.toString())
  }

  get type(): string {
    // Of the many texts there is one string.
    if (this.typeEnd - this.typeAt === TEXT.length && standsAt(TEXT, this.line, this.typeAt)) return 'TEXT'
    return this.line.toString('latin1', this.typeAt, this.typeEnd).toUpperCase()
  }
}

function standsAt(bytes: Buffer, line: Buffer, start: number): boolean {
  for (let at = 0; at < bytes.length; at++) if (line[start + at] !== bytes[at]) return false
  return true
}
