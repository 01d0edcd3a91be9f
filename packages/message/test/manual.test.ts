import { readFileSync } from 'node:fs'
import t from 'tap'
import { MESSAGES, type MessageSpec } from '../src/index.js'
import { messagesManual } from '../src/manual.js'

const page = messagesManual(readFileSync(new URL('../../messages.7.md', import.meta.url), 'utf8'))

t.test('messages(7) has every type, field, attribute, JSON name and known value, and nothing is left to fill in', async (t) => {
  t.notMatch(page, '<!--')
  for (const [type, spec] of Object.entries<MessageSpec>(MESSAGES)) {
    const entry = page.split(/^##+ /m).find((part) => part.startsWith(`${type} `) || part.startsWith(`${type}\n`)) ?? ''
    t.ok(entry.startsWith([type, ...spec.fields.map(({ name }) => `*${name}*`)].join(' ')), type)
    t.match(entry, spec.about)
    t.match(entry, spec.by)
    for (const { name, json, values, about } of [...spec.fields, ...spec.attributes]) {
      const [, item = ''] = entry.split(new RegExp(`^  \\* [*\`]${name}[*\`]:$`, 'm'))
      const [, line = ''] = item.split('\n')
      for (const part of [about, json ?? '', ...(values ?? [])]) t.ok(line.includes(part), `${type} ${name}: ${part}`)
    }
  }
})

t.test('each stands under its kind', async (t) => {
  const part = (heading: string) => page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const headings = { event: part('EVENTS'), command: part('COMMANDS'), control: part('CONTROL FRAMES') }
  for (const [type, { kind }] of Object.entries<MessageSpec>(MESSAGES)) {
    for (const [other, text] of Object.entries(headings)) t.equal(new RegExp(`^### ${type}( |$)`, 'm').test(text), other === kind, `${type} ${other}`)
  }
})
