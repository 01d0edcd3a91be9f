import { DEFAULT_LIMITS, type Limits } from './limits.js'

const CRLF = '\r\n'
/** Past this size copying text twice costs more than it saves. */
const SMALL_BYTES = 4096
const TYPE = /^[A-Z][A-Z0-9_]*$/

/** What a field is made of: text, which goes as UTF-8 (a lone surrogate becomes U+FFFD), or octets, which go as they are. */
export type FieldValue = string | Uint8Array

/**
 * One frame as bytes, from its fields, the type first.
 *
 * Throws RangeError when there is no field, the type is not `[A-Z][A-Z0-9_]*`, or the frame is past `limits`: what a
 * reader would refuse is never written.
 */
export function encodeFrame(fields: readonly FieldValue[], limits: Limits = DEFAULT_LIMITS): Buffer {
  checkType(fields[0])
  if (fields.length > limits.fields) throw tooLarge(`${fields.length} fields`, `${limits.fields}`)
  const lengths = fields.map((field) => (typeof field === 'string' ? Buffer.byteLength(field) : field.length))
  const total = frameLength(lengths, limits)
  return total <= SMALL_BYTES && fields.every(isText) ? encodeText(fields, lengths) : encodePieces(fields, lengths, total)
}

function isText(field: FieldValue): field is string {
  return typeof field === 'string'
}

/** Small frames of text, of which there may be hundreds of thousands a second: one conversion to bytes in place of several a field. */
function encodeText(fields: readonly string[], lengths: readonly number[]): Buffer {
  let text = `*${fields.length}${CRLF}`
  for (let index = 0; index < fields.length; index++) text += `$${lengths[index]}${CRLF}${fields[index]}${CRLF}`
  return Buffer.from(text)
}

function encodePieces(fields: readonly FieldValue[], lengths: readonly number[], total: number): Buffer {
  const frame = Buffer.allocUnsafe(total)
  let at = frame.write(`*${fields.length}${CRLF}`, 0, 'latin1')
  fields.forEach((field, index) => {
    const length = lengths[index] as number
    at += frame.write(`$${length}${CRLF}`, at, 'latin1')
    if (typeof field === 'string') frame.write(field, at, 'utf8')
    else frame.set(field, at)
    at += length
    at += frame.write(CRLF, at, 'latin1')
  })
  return frame
}

function checkType(type: FieldValue | undefined): void {
  const text = typeof type === 'string' ? type : Buffer.from(type ?? []).toString('latin1')
  if (!TYPE.test(text)) throw new RangeError(`${JSON.stringify(text)} is no frame type: a type is A-Z, 0-9 and _, a letter first`)
}

function frameLength(lengths: readonly number[], limits: Limits): number {
  let total = headerLength(lengths.length)
  for (const length of lengths) {
    if (length > limits.fieldBytes) throw tooLarge(`a field of ${length} bytes`, `${limits.fieldBytes}`)
    total += headerLength(length) + length + CRLF.length
  }
  if (total > limits.frameBytes) throw tooLarge(`${total} bytes`, `${limits.frameBytes}`)
  return total
}

function headerLength(value: number): number {
  return 1 + String(value).length + CRLF.length
}

function tooLarge(what: string, limit: string): RangeError {
  return new RangeError(`a frame with ${what} is over the limit of ${limit}`)
}
