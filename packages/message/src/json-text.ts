/**
 * A value as JSON on one line that is safe to print on a terminal: what JSON leaves as it is though a terminal acts on it (DEL, C1 controls, direction marks, line
 * separators), is written as an escape, and is the same to whoever parses it. Throws as JSON.stringify does.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return ACTING.test(text) ? text.replace(EACH_ACTING, escaped) : text
}

const ACTING = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
const EACH_ACTING = new RegExp(ACTING, 'g')

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
