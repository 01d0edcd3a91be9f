const SECRET_HEADER = /^(?:authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)$/i

/** Writes down exchanges with a server, without keys: --debug-http. */
export class HttpLog {
  readonly #write: (text: string) => void
  readonly #key: string | undefined

  constructor(write: (text: string) => void, key: string | undefined) {
    this.#write = write
    this.#key = key || undefined
  }

  request(url: string, { method = 'GET', headers, body }: RequestInit): Exchange {
    const lines = [...new Headers(headers)].map(([name, value]) => `> ${headerLine(name, value)}`)
    this.#lines([`> ${new Date().toISOString()} ${method} ${url}`, ...lines, ...(typeof body === 'string' ? [`> ${body}`] : [])])
    return new Exchange((line) => this.#lines([`< ${line}`]))
  }

  #lines(lines: readonly string[]): void {
    this.#write(`${lines.map((line) => this.#withoutKeys(line)).join('\n')}\n`)
  }

  #withoutKeys(line: string): string {
    const clean = line.replace(/([?&]key=)[^&\s]*/g, '$1[removed]').replace(/(\/\/)[^/@\s]*@/g, '$1[removed]@')
    return this.#key === undefined ? clean : clean.replaceAll(this.#key, '[removed]')
  }
}

/** One request that is being answered. */
export class Exchange {
  readonly #line: (line: string) => void
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(line: (line: string) => void) {
    this.#line = line
  }

  answer({ status, headers }: Response): void {
    this.#line(`${new Date().toISOString()} ${status}`)
    for (const [name, value] of headers) this.#line(headerLine(name, value))
  }

  /** Whole lines, so that no key is cut in two. */
  body(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) this.#line(line)
  }
}

function headerLine(name: string, value: string): string {
  return `${name}: ${SECRET_HEADER.test(name) ? '[removed]' : value}`
}
