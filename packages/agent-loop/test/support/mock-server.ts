import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

interface Test {
  teardown(work: () => unknown): void
}

/** A request as it came. */
export interface MockRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the server answers with. */
export interface Answer {
  /** 200 if left out. */
  readonly status?: number
  /** text/event-stream if left out. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Bytes of the body that are sent at a time, each piece on its own; all at once if left out. */
  readonly pieces?: number
  /** Milliseconds before the headers, and before each piece. */
  readonly delay?: number
  readonly gap?: number
  /** How it ends: properly, by the connection breaking, or not at all. */
  readonly end?: 'properly' | 'broken' | 'never'
}

export interface MockOptions {
  /** What is wrong with a request, as the real server would put it; undefined for nothing. */
  readonly fault: (request: MockRequest) => string | undefined
  /** How the real server refuses a request for that. */
  readonly refusal: (fault: string) => Answer
  /** Told of each scripted answer, before it is given. */
  readonly answered?: (answer: Answer) => void
}

/** A scripted answer, or one made of the request. */
export type Script = Answer | ((request: MockRequest) => Answer)

/** A server on 127.0.0.1 that answers as its script says, refuses what the real one would refuse, and keeps what it was asked. */
export class MockServer {
  readonly requests: MockRequest[] = []
  /** What requests were refused for. */
  readonly faults: string[] = []
  readonly #options: MockOptions
  readonly #script: Script[] = []
  readonly #server: Server
  /** How many connections there were. */
  connections = 0

  private constructor(options: MockOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    }).on('connection', () => {
      this.connections++
    })
  }

  /** A server that listens, and is closed when the test ends. */
  static async start(t: Test, options: MockOptions): Promise<MockServer> {
    const mock = new MockServer(options)
    mock.#server.listen(0, '127.0.0.1')
    await once(mock.#server, 'listening')
    t.teardown(() => {
      mock.#server.close()
      mock.#server.closeAllConnections()
    })
    return mock
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The bodies of the requests, as JSON. */
  get bodies(): unknown[] {
    return this.requests.map(({ body }) => JSON.parse(body))
  }

  /** Adds to the script: each request that is not refused takes the next answer. */
  answer(...script: readonly Script[]): void {
    this.#script.push(...script)
  }

  /** Leaves out what is left of the script, and goes on with this one. */
  restart(...script: readonly Script[]): void {
    this.#script.splice(0, Number.POSITIVE_INFINITY, ...script)
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = incoming
    const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
    this.requests.push(request)
    const fault = this.#options.fault(request)
    if (fault !== undefined) this.faults.push(fault)
    await give(fault === undefined ? this.#next(request) : this.#options.refusal(fault), response)
  }

  #next(request: MockRequest): Answer {
    const next = this.#script.shift()
    if (next === undefined) return { status: 500, headers: { 'content-type': 'text/plain' }, body: 'the script of the mock server has no more answers' }
    const answer = typeof next === 'function' ? next(request) : next
    this.#options.answered?.(answer)
    return answer
  }
}

async function give(answer: Answer, response: ServerResponse): Promise<void> {
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, body = '', delay = 0, gap = 0, end = 'properly' } = answer
  const bytes = Buffer.from(body)
  if (delay > 0) await sleep(delay, undefined, { ref: false })
  response.writeHead(status, headers).flushHeaders()
  const size = answer.pieces ?? (bytes.length || 1)
  for (let at = 0; at < bytes.length; at += size) {
    if (gap > 0) await sleep(gap)
    await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve))
  }
  if (end === 'properly') response.end()
  else if (end === 'broken') response.socket?.destroy()
}
