import { AnthropicServer, type Part } from './anthropic-server.js'
import type { Answer } from './mock-server.js'
import { Ring } from './ring.js'

interface Test {
  teardown(work: () => unknown): void
}

/** The answer of a tool that does what it is asked. */
export const did = (name: string, id: string): string[][] => [['TOOL_RESULT', id, name, `did ${id}`]]

/** A call of the tool Do. */
export const call = (id: string, input = '{}'): Part => ({ id, name: 'Do', input })

/** A ring with the tool Do, against a server that answers with `script`; it ends after `inputs`. */
export async function conversation(t: Test, script: readonly Answer[], inputs: readonly string[], answer = did, args: readonly string[] = []) {
  const server = await AnthropicServer.start(t, ...script)
  const ring = new Ring(t, undefined, { env: server.env, args: ['--model=m', ...args], tools: ['Do'], answer })
  ring.send(...inputs.map((text) => ['USER_INPUT', text]), ['END'])
  return { server, ring, ended: await ring.ended }
}
