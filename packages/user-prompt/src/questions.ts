import type { Frame } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'

/** Nobody reads a question and answers it in less; what is typed within that time was meant for the draft. */
const PAUSE_MS = 400

const ANSWERS: Readonly<Record<string, 'allow' | 'always' | 'deny'>> = { y: 'allow', a: 'always', n: 'deny', escape: 'deny' }

/**
 * PERMISSION_REQUESTs that wait for a key. Keys answer only once there was a pause in typing with the question on the screen, and the prompt says when:
 * whoever is typing as it appears goes on with the draft.
 */
export class Questions {
  readonly #output: Output
  readonly #changed: () => void
  readonly #waiting: { readonly id: string; readonly name: string }[] = []
  #pause: NodeJS.Timeout | undefined
  #asking = false
  /** When a key that is no answer was pressed. */
  #odd = Number.NEGATIVE_INFINITY

  /** `changed`: from now on keys answer. */
  constructor(output: Output, changed: () => void) {
    this.#output = output
    this.#changed = changed
  }

  /** Whether a key would answer now. */
  get asking(): boolean {
    return this.#asking
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** What may be typed. */
  get hint(): string {
    const more = this.#waiting.length > 1 ? ` (1 of ${this.#waiting.length})` : ''
    return `${this.#waiting[0]?.name}: y once, a always, n no${more}`
  }

  /** Takes a request out of what comes round; takes notice of calls that have ended. True when the frame is to go no further. */
  frame(frame: Frame): boolean {
    if (frame.type === 'TOOL_RESULT') this.#forget(frame.text(1))
    if (frame.type === 'STOP') this.clear()
    if (frame.type !== 'PERMISSION_REQUEST' || frame.count < 3) return false
    this.#waiting.push({ id: frame.text(1) as string, name: frame.text(2) as string })
    if (this.#waiting.length === 1) this.typed()
    return true
  }

  /** A key was pressed that was not meant as an answer. */
  typed(): void {
    clearTimeout(this.#pause)
    this.#asking = false
    if (this.#waiting.length === 0) return
    this.#pause = setTimeout(() => {
      this.#asking = true
      this.#changed()
    }, PAUSE_MS)
  }

  /** A key was pressed while it asks. False where it is no answer, and for a moment after one that was none: in "type" the y permits nothing. */
  answer(name: string): boolean {
    const decision = Object.hasOwn(ANSWERS, name) ? ANSWERS[name] : undefined
    const question = this.#waiting[0]
    const odd = performance.now() - this.#odd < PAUSE_MS
    if (decision === undefined) this.#odd = performance.now()
    if (decision === undefined || question === undefined || odd) return false
    this.#output.send(messageFields('PERMISSION', [question.id, decision]))
    this.#forget(question.id)
    return true
  }

  clear(): void {
    this.#waiting.splice(0)
    this.typed()
  }

  #forget(id: string | undefined): void {
    const at = this.#waiting.findIndex((question) => question.id === id)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    // The next one has to be read as well.
    if (at === 0) this.typed()
  }
}
