import { AnthropicServer, type Part } from './anthropic-server.js'
import type { Answer } from './mock-server.js'
import { type Answering, Ring } from './ring.js'

interface Test {
  teardown(work: () => unknown): void
}

/** The answer of a tool that does what it is asked. */
export const did = (name: string, id: string): string[][] => [['TOOL_RESULT', id, name, `did ${id}`]]

/** A call of the tool Do. */
export const call = (id: string, input = '{}'): Part => ({ id, name: 'Do', input })

/** What came of a script. */
export interface Played {
  /** The frames that agent-loop sent. */
  readonly sent: readonly string[][]
  /** Those of a type. */
  all(type: string): string[][]
  /** The messages of each request. */
  readonly asked: AnthropicServer['asked']
}

/** One agent-loop with the tool Do that has many conversations with a server, each from its beginning. */
export class Conversations {
  private constructor(
    readonly server: AnthropicServer,
    readonly ring: Ring,
  ) {}

  static async start(t: Test, args: readonly string[] = []): Promise<Conversations> {
    const server = await AnthropicServer.start(t)
    return new Conversations(server, new Ring(t, undefined, { env: server.env, args: ['--model=m', ...args], tools: ['Do'] }))
  }

  /** The server answers with `script`, the tool with `answer`; `history` is what was said before. Call ids of earlier conversations are not used again. */
  async play(script: readonly Answer[], inputs: readonly string[], answer: Answering = did, history: readonly (readonly string[])[] = []): Promise<Played> {
    const { server, ring } = this
    await ring.forget()
    server.mock.restart(...script)
    ring.answer = answer
    const [frames, requests] = [ring.sent.length, server.asked.length]
    ring.send(...history.map((event) => ['HISTORY', ...event]))
    for (const text of inputs) await ring.turn(text)
    const sent = ring.sent.slice(frames)
    return { sent, all: (type) => ring.all(type, sent), asked: server.asked.slice(requests) }
  }

  /** It is to leave; gives how it ended. */
  end(): Ring['ended'] {
    this.ring.send(['END'])
    return this.ring.ended
  }
}
