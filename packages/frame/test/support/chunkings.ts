import { type Frame, FrameDecoder, FrameError, type Limits } from '../../src/index.js'

/** What a decoder made of some input: its frames, as their bytes, and the error that it ended with. */
export interface Decoded {
  readonly frames: Buffer[]
  readonly error: FrameError | undefined
}

/** Decodes the chunks one after the other, then says that the input has ended. */
export function decode(chunks: Iterable<Uint8Array>, limits?: Limits): Decoded {
  const frames: Buffer[] = []
  const decoder = new FrameDecoder(limits)
  const sink = (frame: Frame) => frames.push(Buffer.from(frame.bytes))
  try {
    for (const chunk of chunks) decoder.push(chunk, sink)
    decoder.end()
  } catch (error) {
    if (!(error instanceof FrameError)) throw error
    return { frames, error }
  }
  return { frames, error: undefined }
}

/** The same bytes in chunks of `size`, each in memory of its own that is overwritten once it has been used. */
export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size))
    yield piece
    piece.fill('!')
  }
}

/** Input whole, byte by byte, by twos and threes, and cut in two at every offset. */
export function* chunkings(bytes: Uint8Array): Generator<[name: string, chunks: Iterable<Uint8Array>]> {
  yield ['whole', [bytes]]
  for (const size of [1, 2, 3, 7]) yield [`by ${size}`, pieces(bytes, size)]
  for (let at = 0; at <= bytes.length; at++) yield [`cut at ${at}`, [bytes.subarray(0, at), bytes.subarray(at)]]
}

/** Octets written as text, one character for each. */
export function octets(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
