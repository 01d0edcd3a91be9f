import { EXIT, readChunks, StageError, systemError } from '@agentpipe/stage'

const LF = 0x0a

/**
 * The lines of a descriptor, without their LF, in the batches in which they arrive; the last one need not have an LF. They
 * are views, good until the next batch. Throws StageError: 65 for a line of more than `most` bytes, 74.
 */
export function* lineBatches(descriptor: number, most: number): Generator<Buffer[]> {
  let carry = Buffer.alloc(0)
  let carried = 0
  let number = 0
  const keep = (piece: Buffer) => {
    const total = carried + piece.length
    if (total > most) throw new StageError(EXIT.DATA, `line ${number + 1}: longer than ${most} bytes`)
    if (total > carry.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(total, Math.min(carry.length * 2, most)))
      carry.copy(larger, 0, 0, carried)
      carry = larger
    }
    piece.copy(carry, carried)
    carried = total
  }
  for (const chunk of chunksOf(descriptor)) {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const line = chunk.subarray(start, end)
      if (carried > 0) {
        keep(line)
        lines.push(carry.subarray(0, carried))
        carry = Buffer.alloc(0)
        carried = 0
      } else lines.push(line)
      number++
      start = end + 1
    }
    keep(chunk.subarray(start))
    yield lines
  }
  if (carried > 0) yield [carry.subarray(0, carried)]
}

function* chunksOf(descriptor: number): Generator<Buffer> {
  try {
    yield* readChunks(descriptor)
  } catch (error) {
    throw systemError(EXIT.IO, 'cannot read standard input', error)
  }
}
