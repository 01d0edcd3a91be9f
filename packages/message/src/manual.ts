import { type FieldSpec, type Kind, MESSAGES, type MessageSpec } from './table.js'

/** Stands in messages.7.md where the messages of a kind come. */
const PLACE = /^<!-- messages of kind (\w+) -->$/gm

/** The markdown of messages(7), from its prose, `markdown`, and the table of messages. */
export function messagesManual(markdown: string): string {
  return markdown.replace(PLACE, (_, kind: Kind) => messagesOfKind(kind))
}

function messagesOfKind(kind: Kind): string {
  return Object.entries<MessageSpec>(MESSAGES)
    .filter(([, spec]) => spec.kind === kind)
    .map(([type, spec]) => messageEntry(type, spec))
    .join('\n\n')
}

function messageEntry(type: string, { fields, attributes, by, about }: MessageSpec): string {
  const head = [type, ...fields.map(({ name }) => `*${name}*`)].join(' ')
  const items = [...fields.map((field) => item(`*${field.name}*`, field)), ...attributes.map((field) => item(`\`${field.name}\``, field))]
  return [`### ${head}`, '', `${about} Made by ${by}.`, ...(items.length > 0 ? ['', ...items] : [])].join('\n')
}

function item(form: string, field: FieldSpec): string {
  const remarks = [
    field.type === 'text' ? undefined : field.type,
    field.json === undefined ? undefined : `in JSON \`${field.json}\``,
    field.values === undefined ? undefined : `known: ${field.values.join(', ')}`,
  ].filter((remark) => remark !== undefined)
  return `  * ${form}:\n    ${[field.about, ...remarks].join('; ')}`
}
