import t from 'tap'
import { ProviderError } from '../src/provider.js'
import { persistent } from '../src/retry.js'

/** What is said when a server refuses the key `geheim-12345678` with `message`. */
async function refusal(message: string): Promise<string> {
  const provider = {
    model: 'm',
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *respond() {
      throw new ProviderError('key', message)
    },
  }
  const asked = persistent(provider, 0, 1, 'geheim-12345678').respond({ items: [], tools: [] } as never, new AbortController().signal)
  try {
    for await (const event of asked) return `no error, but ${event.kind}`
  } catch (error) {
    return (error as Error).message
  }
  return 'no error'
}

t.test('a key is taken out of what a server says, also where it was shortened inside the key', async (t) => {
  t.equal(await refusal('geheim-12345678 is not geheim-12345678'), '[key] is not [key]')
  t.equal(await refusal('the server said: bad key geheim-1234567... (401)'), 'the server said: bad key [key]... (401)')
  t.equal(await refusal('bad key geheim-1...'), 'bad key [key]...')
  t.equal(await refusal('geheim... is a word'), 'geheim... is a word')
})
