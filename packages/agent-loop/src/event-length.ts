/** Bytes since the last blank line, which ends an event (HTML standard, 9.2.6), in a body that comes in pieces. */
export class EventLength {
  bytes = 0
  #before = Buffer.alloc(0)

  /** Counts a piece. */
  add(piece: Uint8Array): void {
    // A blank line may have begun in the piece before.
    const seam = Buffer.concat([this.#before, piece.subarray(0, 2)])
    const whole = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const end = Math.max(lastBlankLine(whole), lastBlankLine(seam) === -1 ? -1 : 0)
    this.bytes = end === -1 ? this.bytes + piece.length : piece.length - end
    this.#before = Buffer.concat([this.#before, whole.subarray(-2)]).subarray(-2)
  }
}

function lastBlankLine(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
}
