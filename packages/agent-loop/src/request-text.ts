/** ES2024, which Node 20 has and the types of ES2023 do not tell of. */
interface WellFormed {
  isWellFormed(): boolean
  toWellFormed(): string
}

const wellFormed = (text: string) => text as string & WellFormed

/** Whether a model server takes `text` as it is: no lone surrogate, which JSON servers refuse, and no NUL, which their stores refuse. */
export function isCleanText(text: string): boolean {
  return wellFormed(text).isWellFormed() && !text.includes('\0')
}

/** `text` with U+FFFD in place of lone surrogates and NULs. */
export function cleanText(text: string): string {
  return isCleanText(text) ? text : wellFormed(text).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Nothing but white space: what Anthropic's API refuses as a text block. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}
