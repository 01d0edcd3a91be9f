import { type Frame, FrameDecoder } from '@agentpipe/frame'
import type { MessageOf } from '@agentpipe/message'

/** A capture is decoded again while it is played, in pieces of this size: a million frames are not held as a million objects. */
const SLICE_BYTES = 64 * 1024

/** Frames that stand one after the other in a capture. */
interface Run {
  readonly source: Buffer
  readonly start: number
  end: number
}

/** Where a response was captured. */
export interface Origin {
  /** The working directory, as HELLO tells it. */
  readonly cwd: string | undefined
  /** The TOOL_RESULTs of its turn, by the ids of the calls. */
  readonly results: ReadonlyMap<string, Frame>
}

/** What a model said in one response, TEXT, THINKING and TOOL_CALL, and what closed it. */
export class CapturedResponse {
  readonly #runs: Run[] = []
  /** Whether it calls tools. */
  calls = false
  usage?: MessageOf<'USAGE'>
  origin?: Origin
  /** The reason of the turn's STOP, on the last response of a turn. */
  stop?: string
  /** What went wrong where the turn ended in an error. */
  error?: string

  add({ type, source, start, end }: Frame): void {
    if (type === 'TOOL_CALL') this.calls = true
    const last = this.#runs.at(-1)
    if (last?.source === source && last.end === start) last.end = end
    else this.#runs.push({ source, start, end })
  }

  /** Takes over what another one said, behind its own. */
  append(other: CapturedResponse): void {
    this.calls ||= other.calls
    this.#runs.push(...other.#runs)
  }

  *frames(): Generator<Frame> {
    for (const { source, start, end } of this.#runs) {
      const decoder = new FrameDecoder()
      let frames: Frame[] = []
      for (let at = start; at < end; at += SLICE_BYTES) {
        decoder.push(source.subarray(at, Math.min(at + SLICE_BYTES, end)), (frame) => frames.push(frame))
        yield* frames
        frames = []
      }
    }
  }
}
