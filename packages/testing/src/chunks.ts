/** `bytes` cut in two at every offset: each way to cut it, as its two pieces. */
export function* everyCut(bytes: Uint8Array): Generator<readonly [Uint8Array, Uint8Array]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
}

/** `bytes` in pieces of `size`. */
export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
