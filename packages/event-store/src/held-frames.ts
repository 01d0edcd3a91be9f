import { isUtf8 } from 'node:buffer'
import { encodeFrame, Frame } from '@agentpipe/frame'
import { parseMessage } from '@agentpipe/message'
import type { Redaction } from './redaction.js'

/** Bytes that are held back at most: who writes a line without end is not waited for. */
const MOST_BYTES = 512 * 1024
/** What a held frame takes beside its own bytes: a model's answer comes in pieces of a few letters. */
const OBJECT_BYTES = 128
/** Characters of each stream that go on waiting when there is too much: no secret is longer. */
const TAIL = 8 * 1024

/** Where text comes in pieces: the field that has it, and what tells one stream from another. */
const TEXT_FIELDS: Readonly<Record<string, number>> = { TEXT: 1, THINKING: 1, TOOL_OUTPUT: 2 }
/** Events behind which nothing more comes of what the model was saying. */
const ENDS_SPEECH: ReadonlySet<string> = new Set(['USER_MESSAGE', 'TOOL_CALL', 'USAGE', 'STOP', 'RETRY', 'CONTEXT_UPDATE'])
/** Somebody is waited for who may not act before the frame has come: it waits for nothing. */
const URGENT: ReadonlySet<string> = new Set(['PERMISSION_REQUEST', 'STOP'])

interface Held {
  readonly frame: Frame
  /** For the rest of what must not be recorded, with which its stream may go on. */
  waiting: boolean
}

/** A piece of streamed text. */
interface Piece extends Held {
  /** What of it is to be recorded, as far as that is known. */
  text: string
  /** Octets that are no UTF-8 are looked at as Latin-1: what is ASCII in them is found. */
  readonly encoding: 'utf8' | 'latin1'
  changed: boolean
}

/**
 * Frames on their way to a log that is not to hold all of what they say. Secrets are streamed in pieces too, so a piece waits, and what comes behind it, until
 * its line, or where a pattern goes over lines its stream, has ended: only then is it known what of it may be recorded.
 */
export class HeldFrames {
  readonly #redaction: Redaction
  readonly #queue: Held[] = []
  #bytes = 0
  readonly #open = new Map<string, Piece[]>()
  /** What is to be recorded of pieces that were given last, where it is not what they say. */
  readonly #changed = new Map<Frame, Frame>()

  constructor(redaction: Redaction) {
    this.#redaction = redaction
  }

  /** Takes frames whose memory is not used again; gives those, in order, that may go on. Their recorded form is there until the next call. */
  take(frames: readonly Frame[]): Frame[] {
    for (const frame of frames) this.#put(frame)
    if (!this.#isTooMuch) return this.#settled()
    for (const pieces of this.#open.values()) this.#settle(pieces, beforeTail(pieces))
    const settled = this.#settled()
    if (!this.#isTooMuch) return settled
    this.#endAll()
    return [...settled, ...this.#settled([])]
  }

  /** All that is left: nothing more will come. */
  rest(): Frame[] {
    this.#endAll()
    return this.#settled()
  }

  /** What is to be recorded of a frame that was given last. */
  recorded(frame: Frame): Frame {
    return this.#redaction.frame(this.#changed.get(frame) ?? frame)
  }

  /** The first one may be large by itself. */
  get #isTooMuch(): boolean {
    const [first] = this.#queue
    return first !== undefined && this.#bytes - weight(first.frame) > MOST_BYTES
  }

  #put(frame: Frame): void {
    this.#bytes += weight(frame)
    const { type } = frame
    if (URGENT.has(type)) this.#endAll()
    if (ENDS_SPEECH.has(type) || type === 'THINKING') this.#end('TEXT')
    if (ENDS_SPEECH.has(type) || type === 'TEXT') this.#end('THINKING')
    if (type === 'TOOL_RESULT') this.#endOutput(outputOf(frame))
    const piece = pieceOf(frame)
    this.#queue.push(piece ?? { frame, waiting: false })
    if (piece !== undefined) this.#add(streamOf(frame), piece)
  }

  #add(stream: string, piece: Piece): void {
    const pieces = this.#open.get(stream) ?? []
    this.#open.set(stream, pieces)
    pieces.push(piece)
    if (this.#redaction.overLines || !piece.text.includes('\n')) return
    this.#settle(pieces, piece.text.endsWith('\n') ? pieces.length : pieces.length - 1)
  }

  /** The first `count` pieces of a stream are whole lines, or it has ended. The others lose what belongs to a match that begins in these. */
  #settle(pieces: Piece[], count: number): void {
    if (count === 0) return
    const texts = this.#redaction.pieces(
      pieces.map(({ text }) => text),
      count,
    )
    for (const [index, piece] of pieces.entries()) {
      const text = texts[index] as string
      if (text !== piece.text) piece.changed = true
      piece.text = text
    }
    for (const piece of pieces.splice(0, count)) piece.waiting = false
  }

  #end(stream: string): void {
    const pieces = this.#open.get(stream)
    if (pieces !== undefined) this.#settle(pieces, pieces.length)
    this.#open.delete(stream)
  }

  #endOutput(output: string): void {
    for (const stream of [...this.#open.keys()]) if (stream.startsWith(output)) this.#end(stream)
  }

  #endAll(): void {
    for (const stream of [...this.#open.keys()]) this.#end(stream)
  }

  /** `given`: frames whose recorded form is still asked for. */
  #settled(given?: readonly Frame[]): Frame[] {
    if (given === undefined) this.#changed.clear()
    const end = this.#queue.findIndex(({ waiting }) => waiting)
    const settled = this.#queue.splice(0, end < 0 ? this.#queue.length : end)
    for (const held of settled) {
      this.#bytes -= weight(held.frame)
      if ('changed' in held && held.changed) this.#changed.set(held.frame, withText(held as Piece))
    }
    return settled.map(({ frame }) => frame)
  }
}

function weight({ start, end }: Frame): number {
  return end - start + OBJECT_BYTES
}

/** Both of a command's streams come side by side. */
function streamOf(frame: Frame): string {
  const message = frame.type === 'TOOL_OUTPUT' ? parseMessage(frame) : undefined
  return message?.type === 'TOOL_OUTPUT' ? `${outputOf(frame)}${message.attributes.stream ?? ''}` : frame.type
}

function outputOf(frame: Frame): string {
  return `TOOL_OUTPUT ${frame.text(1)} `
}

/** Undefined for what is no text, or comes whole. */
function pieceOf(frame: Frame): Piece | undefined {
  const index = TEXT_FIELDS[frame.type]
  const field = index === undefined ? undefined : frame.field(index)
  if (field === undefined) return undefined
  const encoding = isUtf8(field) ? 'utf8' : 'latin1'
  return { frame, waiting: true, text: field.toString(encoding), encoding, changed: false }
}

function withText({ frame, text, encoding }: Piece): Frame {
  const fields: Buffer[] = frame.fields()
  fields[TEXT_FIELDS[frame.type] as number] = Buffer.from(text, encoding)
  const bytes = encodeFrame(fields)
  return new Frame(bytes, 0, bytes.length, frame.offset)
}

/** How many pieces stand in front of the last `TAIL` characters. */
function beforeTail(pieces: readonly Piece[]): number {
  let count = pieces.length
  for (let kept = 0; count > 0 && kept < TAIL; count--) kept += (pieces[count - 1] as Piece).text.length
  return count
}
