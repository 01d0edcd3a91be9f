import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A proxy for http that takes every request to a port of this machine, whatever its host is, and lets tunnels through to another, or none. */
export class TestProxy {
  /** What it was asked for. */
  readonly asked: string[] = []
  readonly #server: Server

  private constructor(port: () => number, tunnelPort: number | undefined) {
    this.#server = createServer((asking, answering) => {
      const url = asking.url as string
      this.asked.push(url)
      const { pathname } = new URL(url)
      const passed = request({ host: '127.0.0.1', port: port(), path: pathname, method: asking.method, headers: asking.headers }, (answer) => {
        answering.writeHead(answer.statusCode as number, answer.headers)
        answer.pipe(answering)
      })
      passed.on('error', () => answering.writeHead(502).end())
      asking.pipe(passed)
    })
    this.#server.on('connect', ({ url = '' }, socket) => {
      this.asked.push(`CONNECT ${url}`)
      if (tunnelPort === undefined) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        return
      }
      const tunnel = connect(tunnelPort, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      for (const end of [tunnel, socket]) end.on('error', () => {})
      tunnel.pipe(socket)
      socket.pipe(tunnel)
    })
  }

  /** Starts one that leads to the port that `port` gives then, and tunnels to `tunnelPort`, whatever port they name. */
  static async start(t: { teardown(work: () => void): void }, port: () => number, tunnelPort?: number): Promise<TestProxy> {
    const proxy = new TestProxy(port, tunnelPort)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => proxy.#server.closeAllConnections())
    t.teardown(() => proxy.#server.close())
    return proxy
  }

  get url(): string {
    return `http://user:word@127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
}
