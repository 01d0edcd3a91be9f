import type { FieldValue, Frame } from '@agentpipe/frame'
import { encodeFrame } from '@agentpipe/frame'
import type { Output } from '@agentpipe/stage'

/** What the head lets pass, and only once: everything else that comes round ends here. */
const FORWARDED: ReadonlySet<string> = new Set(['PERMISSION', 'INTERRUPT', 'PROMPT'])

/** The head's side of the ring: what goes round once more, and what has been round. */
export class Ring {
  readonly #output: Output
  /** Frames that were sent and have not come back, as latin1. */
  readonly #underWay = new Set<string>()

  constructor(output: Output) {
    this.#output = output
  }

  /** Forwards a frame of a forwarded type unless it has been round already; true if it was new. */
  forward(frame: Frame): boolean {
    if (!FORWARDED.has(frame.type)) return false
    const key = frame.bytes.toString('latin1')
    if (this.#underWay.delete(key)) return false
    this.#underWay.add(key)
    this.#output.write(Buffer.from(frame.bytes))
    return true
  }

  /** Sends a frame of a forwarded type of our own; it is not forwarded when it comes back. */
  send(fields: readonly FieldValue[]): void {
    const bytes = encodeFrame(fields)
    this.#underWay.add(bytes.toString('latin1'))
    this.#output.send(fields)
  }
}
