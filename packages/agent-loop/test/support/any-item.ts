import fc from 'fast-check'
import type { Item } from '../../src/conversation.js'

const id = fc.constantFrom('a', 'b', 'c', 'a b', '', 'x'.repeat(70))
const anyText = fc.oneof(fc.constantFrom('', ' ', 'x', '\n', '\0', '\ud800'), fc.string({ unit: 'binary' }), fc.string())
const anyImage = fc.option(fc.record({ data: fc.constantFrom('', '/9j/', '!!!', 'R0lGODdh'), type: fc.constantFrom('image/png', 'text/plain') }), {
  nil: undefined,
})
const anyInput = fc.oneof(fc.json(), fc.constantFrom('{}', '{"a":1}', '{"a":"\\ud800"}', '{'), anyText)
/** Anything that a conversation may hold, in whatever order. */
export const anyItem = fc.oneof(
  fc.record({ kind: fc.constant('user'), text: anyText, image: anyImage }),
  fc.record({ kind: fc.constant('text'), text: anyText }),
  fc.record({ kind: fc.constant('thinking'), text: anyText, signature: fc.option(anyText, { nil: undefined }), whole: fc.boolean() }),
  fc.record({ kind: fc.constant('call'), id, name: anyText, input: anyInput }),
  fc.record({ kind: fc.constant('result'), id, name: anyText, output: anyText, status: fc.constantFrom('ok', 'error'), image: anyImage }),
  fc.record({ kind: fc.constant('notice'), text: anyText }),
  fc.record({ kind: fc.constant('response'), model: fc.constantFrom('m', 'n', '') }),
  fc.record({ kind: fc.constant('stop'), reason: fc.constant('end_turn') }),
  fc.record({ kind: fc.constant('summary'), text: anyText, kept: fc.nat(2) }),
) as fc.Arbitrary<Item>
