import { messageSpec } from './table.js'

/** Members that stand beside the fields: those of every frame, and those that event-store adds. */
const BESIDE = ['type', 'extra', 'order', 'v', 'seq', 'ts']

/**
 * Whether `fromJson` would heed all of `object`: for objects that people and scripts write. Throws TypeError that names the member which is missing, unknown
 * or no base64. Those that `toJson` makes pass.
 */
export function checkJson(object: unknown): void {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw new TypeError('expected a JSON object')
  const members = object as Readonly<Record<string, unknown>>
  if (typeof members.type !== 'string') throw new TypeError('expected a member "type" that is a string')
  const { extra } = members
  if (extra !== undefined && !Array.isArray(extra)) throw new TypeError('expected an array in "extra"')
  const spec = messageSpec(members.type.toUpperCase())
  const given = Object.keys(members).filter((name) => !BESIDE.includes(name))
  const names = [...(spec?.fields ?? []), ...(spec?.attributes ?? [])].flatMap(({ name, json = name, type }) => [
    json,
    `${json}_base64`,
    ...(type === 'json' ? [`${json}_text`] : []),
  ])
  const unknown = given.find((name) => !names.includes(name))
  const type = JSON.stringify(members.type.slice(0, 100))
  if (unknown !== undefined) {
    const there = spec === undefined ? 'a type that is not in messages(7) has all its fields in "extra"' : 'see messages(7)'
    throw new TypeError(`there is no member ${JSON.stringify(unknown.slice(0, 100))} in ${type}: ${there}`)
  }
  // A frame with fewer fields than its type has stands in `extra` as a whole.
  const missing = given.length === 0 && extra !== undefined ? undefined : spec?.fields.find(({ name, json = name }) => !isThere(members, json))
  if (missing !== undefined) throw new TypeError(`expected the member "${missing.json ?? missing.name}" in ${type}`)
  for (const name of given) if (name.endsWith('_base64') && !isBase64(members[name])) throw new TypeError(`expected base64 in "${name}"`)
  for (const field of extra ?? []) if (field?.base64 !== undefined && !isBase64(field.base64)) throw new TypeError('expected base64 in "extra"')
}

function isThere(members: Readonly<Record<string, unknown>>, name: string): boolean {
  return [name, `${name}_base64`, `${name}_text`].some((each) => members[each] !== undefined)
}

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
}
