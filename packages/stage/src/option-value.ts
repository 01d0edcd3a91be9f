import type { OptionSpec } from './option-table.js'

const SIZE_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }
const SECONDS_UNITS: Readonly<Record<string, number>> = { ms: 0.001, '': 1, s: 1, m: 60, h: 3600 }

/** The value that `text` means for an option. Throws RangeError, whose message says what was expected. */
export function optionValue(spec: OptionSpec, text: string): string | number {
  if (spec.choices !== undefined && !spec.choices.includes(text)) throw new RangeError(`expected one of ${spec.choices.join(', ')}`)
  if (spec.type === 'count') return count(text)
  if (spec.type === 'size') return withUnit(text.toLowerCase(), SIZE_UNITS, 'a number of bytes, like 100k or 64m')
  if (spec.type === 'seconds') return withUnit(text, SECONDS_UNITS, 'a time in seconds, like 120, 1.5, 500ms or 2m')
  return text
}

function count(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new RangeError('expected a whole number')
  return value
}

function withUnit(text: string, units: Readonly<Record<string, number>>, expected: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(text) ?? []
  const factor = units[unit]
  if (number === '' || factor === undefined) throw new RangeError(`expected ${expected}`)
  return Number(number) * factor
}
