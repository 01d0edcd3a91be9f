import { addressesOf, isPrivate, isPrivateName } from '../addresses.js'
import { imageType, LARGEST_IMAGE_BYTES } from '../image-kind.js'
import { markdownOf } from '../markdown.js'
import { OutputCapture } from '../output-capture.js'
import type { Session } from '../session.js'
import { type Call, defineTool, type Outcome, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { bodyOf, proxyOf, requestFrom, type WebAnswer } from '../web-request.js'

const TIMEOUT_MS = 30_000
const MOST_REDIRECTS = 10
const LARGEST_BYTES = 10 * 1024 ** 2
const HTML = /^(text\/html|application\/xhtml\+xml)$/
const TEXT = /^text\/|[/+](json|xml|yaml|javascript|toml|x-sh|sql|markdown|ndjson)$/

export function webFetchTool(session: Session): Tool {
  return defineTool({
    name: 'WebFetch',
    description: 'Gets a page of the web, as markdown, or another text or image, as it is. It sends nothing but the address.',
    readOnly: true,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: { url: { type: 'string', description: 'http:// or https://' } },
      required: ['url'],
    },
    async run({ url }, call) {
      const timeoutMs = Math.min(TIMEOUT_MS, session.timeoutMs ?? TIMEOUT_MS)
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([call.signal, timeout])
      try {
        return await fetched(session, webAddress(url), call, signal)
      } catch (error) {
        if (call.signal.aborted) throw new ToolError('cancelled', 'cancelled')
        if (timeout.aborted) throw new ToolError(`timed out after ${timeoutMs / 1000} s`, 'timeout')
        if (error instanceof ToolError) throw error
        const { code, message } = error as NodeJS.ErrnoException
        throw new ToolError(`${url} can't be had: ${message || code}`)
      }
    },
  })
}

function webAddress(text: string, base?: string): URL {
  if (!URL.canParse(text, base)) throw new ToolError(`${JSON.stringify(text)} is no URL`)
  const url = new URL(text, base)
  if (!/^https?:$/.test(url.protocol)) throw new ToolError(`${url.protocol} is not fetched: http and https are`)
  if (url.username !== '' || url.password !== '') throw new ToolError('a URL with a name or password is not fetched')
  return url
}

async function fetched(session: Session, first: URL, call: Call, signal: AbortSignal): Promise<Outcome> {
  let url = first
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await answerOf(session, url, call, signal)
    if (answer.location === undefined) return outcomeOf(session, answer, { url, redirected: redirects > 0 }, signal)
    answer.body.destroy()
    url = webAddress(answer.location, url.href)
  }
  throw new ToolError(`more than ${MOST_REDIRECTS} redirections, the last one to ${url.href}`)
}

/** Each step of a redirection is judged anew, by the addresses that its name has now; no others are spoken to. */
async function answerOf({ permissions }: Session, url: URL, call: Call, signal: AbortSignal): Promise<WebAnswer> {
  const addresses = await addressesOf(url.hostname).catch((error: unknown) => {
    // Behind a proxy there is often nobody to ask about names: it knows them.
    if (proxyOf(url) === undefined) throw error
    return []
  })
  const inside = addresses.length === 0 ? isPrivateName(url.hostname) : addresses.some(isPrivate)
  await permissions.obey(call, permissions.policy.fetch(url.hostname, inside), url.hostname)
  return requestFrom(url, addresses, signal)
}

interface Origin {
  readonly url: URL
  readonly redirected: boolean
}

async function outcomeOf(session: Session, answer: WebAnswer, { url, redirected }: Origin, signal: AbortSignal): Promise<Outcome> {
  const body = await bodyOf(answer, LARGEST_BYTES)
  const failed = answer.status >= 400
  const status = `HTTP ${answer.status} ${answer.statusText}`.trim()
  const notes = [failed ? `[${status}]` : '', redirected ? `[from ${url.href}]` : ''].filter(Boolean)
  const image = imageType(body.subarray(0, 12))
  if (image !== undefined) return imageOutcome(body, image)
  if (isBinary(answer, body)) throw new ToolError(`not shown: ${answer.type || 'bytes'}, ${body.length} bytes; curl with Bash can save it`)
  const text = decoded(body, answer.charset)
  const shown = HTML.test(answer.type) || (answer.type === '' && /^\s*<(!doctype html|html)/i.test(text)) ? await markdownOf(text, url.href, signal) : text
  const capture = new OutputCapture(session.maxOutput, () => session.temporary.path('page'))
  await capture.write(Buffer.from([...notes, shown].join('\n')))
  const { text: output, fullOutput } = await capture.finish()
  return { status: failed ? 'error' : 'ok', output, summary: `${status}, ${body.length} bytes`, fullOutput }
}

function imageOutcome(body: Buffer, type: string): Outcome {
  if (body.length > LARGEST_IMAGE_BYTES) throw new ToolError(`an image of ${body.length} bytes: at most ${LARGEST_IMAGE_BYTES} can be shown`)
  return { status: 'ok', output: `[${type}, ${body.length} bytes]`, summary: type, image: { data: body.toString('base64'), type } }
}

function isBinary({ type }: WebAnswer, body: Buffer): boolean {
  return body.subarray(0, 8192).includes(0) || !(type === '' || HTML.test(type) || TEXT.test(type) || body.length === 0)
}

/** By the charset that the server names, else the page itself, else UTF-8. */
function decoded(body: Buffer, charset: string | undefined): string {
  const [, named] = /<meta[^>]+charset=["']?([\w-]+)/i.exec(body.toString('latin1', 0, 2048)) ?? []
  for (const label of [charset, named])
    try {
      if (label !== undefined) return new TextDecoder(label).decode(body)
    } catch {
      // A name that means nothing: the next one may.
    }
  return new TextDecoder().decode(body)
}
