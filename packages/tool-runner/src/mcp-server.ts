import { createHash } from 'node:crypto'
import { reason, VERSION } from '@agentpipe/stage'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import { commandEnvironment } from './environment.js'
import { checkOutsideInput } from './input-schema.js'
import { type McpAddress, type McpEntry, type McpProgram, withVariables } from './mcp-config.js'
import { ProgramTransport } from './mcp-program-transport.js'
import { proxiedFetch } from './mcp-proxy.js'
import { mcpOutcome } from './mcp-result.js'
import type { Session } from './session.js'
import type { Call, Outcome, Tool } from './tool.js'
import { ToolError } from './tool-error.js'

/** `npx` may have to fetch the server first. */
const CONNECT_MS = 60_000
const LARGEST_MESSAGE = 64 * 1024 ** 2
const MOST_PAGES = 100
/** The longest name that every model server takes. */
const LONGEST_NAME = 64
/** setTimeout takes no more. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** JSON-RPC error of the SDK: no answer in time. */
const REQUEST_TIMEOUT = -32001

type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number]

/** One MCP server, and the tools that it has: `server__tool`. */
export class McpServer {
  readonly name: string
  readonly #entry: McpEntry
  readonly #session: Session
  #client: Client | undefined
  #program: ProgramTransport | undefined
  #closed = false

  constructor(entry: McpEntry, session: Session) {
    this.name = entry.name
    this.#entry = entry
    this.#session = session
  }

  /** What the names of its tools begin with. */
  get prefix(): string {
    return toolName(this.name, '')
  }

  /** Connects, and tells `found` of its tools, of those too that it has later. Throws an Error that says why it can't be used. */
  async connect(found: (tool: Tool) => void): Promise<void> {
    try {
      this.#client = await this.#connected()
      this.#client.onclose = () => {
        this.#closed = true
      }
      const tell = async () => {
        for (const tool of await this.#tools()) found(tool)
      }
      await tell()
      this.#client.setNotificationHandler((await this.#library()).ToolListChangedNotificationSchema, () => tell().catch(() => {}))
    } catch (error) {
      await this.leave()
      throw new Error(this.#program?.end ?? oneLine(error))
    }
  }

  /** Ends the connection, and the program. */
  async leave(): Promise<void> {
    await Promise.all([this.#client?.close(), this.#program?.close()]).catch(() => {})
  }

  #library() {
    return import('./mcp-library.js')
  }

  async #connected(): Promise<Client> {
    if (this.#entry.kind === 'program') return this.#connectTo(await this.#programTransport(this.#entry))
    const { entry, library } = { entry: this.#entry, library: await this.#library() }
    if (entry.sse) return this.#connectTo(await this.#addressTransport(entry, true))
    try {
      return await this.#connectTo(await this.#addressTransport(entry, false))
    } catch (error) {
      // What the protocol asks of clients: a server that knows only the older transport refuses the first message of the newer one.
      const refused = error instanceof library.StreamableHTTPError && [400, 404, 405].includes(error.code ?? 0)
      if (!refused || entry.sse === false) throw error
      return this.#connectTo(await this.#addressTransport(entry, true))
    }
  }

  async #connectTo(transport: Transport): Promise<Client> {
    const { Client } = await this.#library()
    // What a server promises of its results is for its own tests: a model gets what there is.
    const anything: jsonSchemaValidator = { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) }
    const client = new Client({ name: 'agentpipe', version: VERSION }, { capabilities: {}, jsonSchemaValidator: anything })
    await client.connect(transport, { timeout: CONNECT_MS, signal: this.#session.leaving })
    return client
  }

  async #programTransport({ command, args, env, cwd }: McpProgram): Promise<Transport> {
    const { ReadBuffer, serializeMessage } = await this.#library()
    const { workspace, groups } = this.#session
    const own = commandEnvironment(workspace, this.#session.env)
    const set = (text: string) => withVariables(text, own)
    const spec = {
      command: set(command),
      args: args.map(set),
      cwd: cwd === undefined ? workspace : set(cwd),
      env: { ...own, ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, set(value)])) },
    }
    this.#program = new ProgramTransport(spec, { buffer: new ReadBuffer({ maxBufferSize: LARGEST_MESSAGE }), serialize: serializeMessage }, groups)
    // Its types are not written for exactOptionalPropertyTypes.
    return this.#program as Transport
  }

  async #addressTransport({ url, headers }: McpAddress, sse: boolean): Promise<Transport> {
    const { SSEClientTransport, StreamableHTTPClientTransport } = await this.#library()
    const own = commandEnvironment(this.#session.workspace, this.#session.env)
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withVariables(value, own)]))
    const options = { requestInit: { headers: sent }, fetch: proxiedFetch }
    const address = new URL(withVariables(url, own))
    return (sse ? new SSEClientTransport(address, options) : new StreamableHTTPClientTransport(address, options)) as Transport
  }

  async #tools(): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const list = await this.#client?.listTools(cursor === undefined ? {} : { cursor }, { timeout: CONNECT_MS, signal: this.#session.leaving })
      for (const tool of list?.tools ?? []) tools.push(this.#tool(tool))
      cursor = list?.nextCursor
      if (cursor === undefined) break
    }
    return tools
  }

  #tool({ name, description, inputSchema, annotations }: Listed): Tool {
    const ours = toolName(this.name, name)
    return {
      name: ours,
      description: description ?? annotations?.title ?? name,
      inputSchema,
      readOnly: annotations?.readOnlyHint === true,
      run: async (input, call) => this.#call(name, await checkOutsideInput(ours, inputSchema, input), call),
    }
  }

  async #call(name: string, input: Readonly<Record<string, unknown>>, { signal, live }: Call): Promise<Outcome> {
    const { session, timeoutMs } = { session: this.#session, timeoutMs: this.#entry.timeoutMs ?? this.#session.timeoutMs }
    if (this.#client === undefined || this.#closed) throw this.#gone()
    try {
      const result = await this.#client.callTool({ name, arguments: { ...input } }, undefined, {
        signal,
        timeout: Math.min(timeoutMs ?? NO_LIMIT_MS, NO_LIMIT_MS),
        resetTimeoutOnProgress: true,
        onprogress: ({ progress, total, message }) =>
          void live.write(Buffer.from(`${message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`}\n`), 'stderr'),
      })
      return await mcpOutcome(result, session)
    } catch (error) {
      if (signal.aborted) throw new ToolError('cancelled', 'cancelled')
      // It has closed its input: soon it is known how it ended.
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') await this.#program?.untilEnd()
      if (this.#closed || this.#program?.end !== undefined) throw this.#gone()
      if ((error as { code?: unknown }).code === REQUEST_TIMEOUT) throw new ToolError(`timed out after ${(timeoutMs ?? 0) / 1000} s`, 'timeout')
      throw new ToolError(`MCP server ${this.name}: ${oneLine(error)}`)
    }
  }

  #gone(): ToolError {
    return new ToolError(`MCP server ${this.name} is gone: ${this.#program?.end ?? 'the connection is closed'}; its tools can't be used any more`)
  }
}

/** `server__tool`, in the characters and the length that model servers take. */
function toolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`
  const name = whole.replace(/[^A-Za-z0-9_-]/g, '_')
  if (name.length <= LONGEST_NAME) return name
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8)
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}_${digest}`
}

function oneLine(error: unknown): string {
  const { message, cause } = error as Error
  const text = message === 'fetch failed' && cause instanceof Error ? reason(cause) : message || reason(error)
  return text.split('\n', 1)[0] as string
}
