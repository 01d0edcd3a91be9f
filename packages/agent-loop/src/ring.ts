import { encodeFrame, type FieldValue, type Frame } from '@agentpipe/frame'
import type { Output } from '@agentpipe/stage'

/** What the head lets pass, and only once: everything else that comes round ends here. */
const FORWARDED: ReadonlySet<string> = new Set(['PERMISSION', 'INTERRUPT', 'PROMPT'])

/** The head's side of the ring: what goes round once more, and what has been round. */
export class Ring {
  readonly #output: Output
  /** Frames that were sent and have not come back, as latin1, and how often. */
  readonly #underWay = new Map<string, number>()

  constructor(output: Output) {
    this.#output = output
  }

  /** Forwards a frame of a forwarded type unless it has been round already; true if it was new. */
  forward(frame: Frame): boolean {
    if (!FORWARDED.has(frame.type)) return false
    const key = frame.bytes.toString('latin1')
    if (this.#cameBack(key)) return false
    this.#sent(key)
    this.#output.pass(frame)
    return true
  }

  /** Sends a frame of a forwarded type of our own; it is not forwarded when it comes back. */
  send(fields: readonly FieldValue[]): void {
    this.#sent(encodeFrame(fields).toString('latin1'))
    this.#output.send(fields)
  }

  #sent(key: string): void {
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1)
  }

  #cameBack(key: string): boolean {
    const times = this.#underWay.get(key)
    if (times === undefined) return false
    if (times > 1) this.#underWay.set(key, times - 1)
    else this.#underWay.delete(key)
    return true
  }
}
