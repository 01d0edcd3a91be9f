import { isUtf8 } from 'node:buffer'
import { encodeFrame, Frame } from '@agentpipe/frame'
import type { Redaction } from './redaction.js'

/** Bytes that are held back at most: who writes a line without end is not waited for. */
const MOST_BYTES = 1024 * 1024

/** Where text comes in pieces: the field that has it, and what tells one stream from another. */
const TEXT_FIELDS: Readonly<Record<string, number>> = { TEXT: 1, THINKING: 1, TOOL_OUTPUT: 2 }
/** Events behind which nothing more comes of what the model was saying. */
const ENDS_SPEECH: ReadonlySet<string> = new Set(['USER_MESSAGE', 'TOOL_CALL', 'USAGE', 'STOP', 'RETRY', 'CONTEXT_UPDATE'])
/** Somebody is waited for who may not act before the frame has come: it waits for nothing. */
const URGENT: ReadonlySet<string> = new Set(['PERMISSION_REQUEST', 'STOP'])

/** A piece of text whose stream may go on with the rest of what must not be recorded. */
interface Piece {
  readonly frame: Frame
  readonly text: string
}

/**
 * Frames on their way to a log that is not to hold all of what they say. Secrets are streamed in pieces too, so a piece waits, and what comes behind it, until
 * its line, or where a pattern goes over lines its stream, has ended: only then is it known what of it may be recorded.
 */
export class HeldFrames {
  readonly #redaction: Redaction
  #queue: Frame[] = []
  #bytes = 0
  readonly #open = new Map<string, Piece[]>()
  readonly #waiting = new Set<Frame>()
  readonly #recorded = new Map<Frame, Frame>()
  /** What was given last. */
  #given: Frame[] = []

  constructor(redaction: Redaction) {
    this.#redaction = redaction
  }

  /** Takes frames that are views; gives those, in order, that may go on. Their recorded form is there until the next call. */
  take(frames: readonly Frame[]): Frame[] {
    for (const frame of frames) this.#put(frame.copy())
    if (this.#bytes > MOST_BYTES) this.#endAll()
    return this.#settled()
  }

  /** All that is left: nothing more will come. */
  rest(): Frame[] {
    this.#endAll()
    return this.#settled()
  }

  /** What is to be recorded of a frame that was given last. */
  recorded(frame: Frame): Frame {
    return this.#recorded.get(frame) ?? this.#redaction.frame(frame)
  }

  #put(frame: Frame): void {
    this.#queue.push(frame)
    this.#bytes += frame.bytes.length
    const { type } = frame
    if (URGENT.has(type)) this.#endAll()
    if (ENDS_SPEECH.has(type) || type === 'THINKING') this.#end('TEXT')
    if (ENDS_SPEECH.has(type) || type === 'TEXT') this.#end('THINKING')
    if (type === 'TOOL_RESULT') this.#end(`TOOL_OUTPUT ${frame.text(1)}`)
    const piece = pieceOf(frame)
    if (piece !== undefined) this.#add(streamOf(frame), piece)
  }

  #add(stream: string, piece: Piece): void {
    this.#waiting.add(piece.frame)
    const pieces = this.#open.get(stream) ?? []
    this.#open.set(stream, pieces)
    pieces.push(piece)
    if (this.#redaction.overLines || !piece.text.includes('\n')) return
    this.#settle(pieces, piece.text.endsWith('\n') ? pieces.length : pieces.length - 1)
  }

  /** The first `count` pieces of a stream are whole lines, or it has ended. */
  #settle(pieces: Piece[], count: number): void {
    const texts = this.#redaction.pieces(pieces.map(({ text }) => text))
    for (const [index, { frame, text }] of pieces.splice(0, count).entries()) {
      this.#waiting.delete(frame)
      const left = texts[index] as string
      this.#recorded.set(frame, left === text ? this.#redaction.frame(frame) : this.#redaction.frame(withText(frame, left)))
    }
  }

  #end(stream: string): void {
    const pieces = this.#open.get(stream)
    if (pieces !== undefined) this.#settle(pieces, pieces.length)
    this.#open.delete(stream)
  }

  #endAll(): void {
    for (const stream of [...this.#open.keys()]) this.#end(stream)
  }

  #settled(): Frame[] {
    const end = this.#queue.findIndex((frame) => this.#waiting.has(frame))
    const settled = this.#queue.splice(0, end < 0 ? this.#queue.length : end)
    for (const { bytes } of settled) this.#bytes -= bytes.length
    for (const frame of this.#given) this.#recorded.delete(frame)
    this.#given = settled
    return settled
  }
}

function streamOf(frame: Frame): string {
  return frame.type === 'TOOL_OUTPUT' ? `TOOL_OUTPUT ${frame.text(1)}` : frame.type
}

/** Undefined for what is no text, or comes whole. */
function pieceOf(frame: Frame): Piece | undefined {
  const index = TEXT_FIELDS[frame.type]
  const field = index === undefined ? undefined : frame.field(index)
  return field !== undefined && isUtf8(field) ? { frame, text: field.toString() } : undefined
}

function withText(frame: Frame, text: string): Frame {
  const fields: (Buffer | string)[] = frame.fields()
  fields[TEXT_FIELDS[frame.type] as number] = text
  const bytes = encodeFrame(fields)
  return new Frame(bytes, 0, bytes.length, frame.offset)
}
