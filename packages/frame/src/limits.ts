/** What a reader takes before it refuses a frame. All three are counts that a sender declares, so they are
 *  checked before anything is allocated. */
export interface Limits {
  /** Fields in one frame, its type among them. */
  readonly fields: number
  /** Bytes in one field. */
  readonly fieldBytes: number
  /** Bytes of one whole frame, headers and line ends among them. */
  readonly frameBytes: number
}

/** The limits of frames(5). */
export const DEFAULT_LIMITS: Limits = {
  fields: 1024,
  fieldBytes: 64 * 1024 * 1024,
  frameBytes: 128 * 1024 * 1024,
}
