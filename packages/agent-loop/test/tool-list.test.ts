import type { MessageOf } from '@agentpipe/message'
import t from 'tap'
import { ToolList } from '../src/tool-list.js'

function tools(...list: readonly (readonly [name: string, schema?: string])[]): ToolList {
  const made = new ToolList()
  for (const [name, schema] of list)
    made.add({ type: 'TOOL_DEF', name, description: `does ${schema}`, input_schema: schema ?? '{}', attributes: {} } as MessageOf<'TOOL_DEF'>)
  return made
}

t.test('the first definition of a name wins', (t) => {
  const { all } = tools(['Do', '{"type":"object","n":1}'], ['Read'], ['Do', '{"n":2}'])
  t.same(
    all.map(({ name, schema }) => [name, schema]),
    [
      ['Do', { type: 'object', n: 1 }],
      ['Read', {}],
    ],
  )
  t.end()
})

t.test('hostile names and schemas', (t) => {
  const names = ['__proto__', 'constructor', 'toString', '', ' ', '\u001b[2J', 'x'.repeat(1_000_000)]
  const made = tools(...names.map((name) => [name, '[]'] as const))
  t.same(
    made.all.map(({ name }) => name),
    names,
  )
  for (const schema of ['', 'null', '[1]', '"x"', '{"a":', '{"__proto__":{"x":1}}']) {
    t.equal(Object.getPrototypeOf(tools(['Do', schema]).all[0]?.schema), Object.prototype, schema)
  }
  t.notOk(tools(['Do']).has('__proto__'))
  t.end()
})

t.test('what a model is told of a tool that is not there is bounded', (t) => {
  const many = tools(...Array.from({ length: 5000 }, (_, n) => [`${n}${'x'.repeat(100_000)}`] as const))
  const text = many.missing('y'.repeat(1_000_000))
  t.ok(text.length < 30_000)
  t.match(text, / and 4800 more\.$/)
  t.match(tools().missing('Do'), /^There is no tool "Do"\. There are no tools at all\.$/)
  t.end()
})
