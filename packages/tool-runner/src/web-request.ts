import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type ProxyServer, proxyFor, VERSION } from '@agentpipe/stage'
import type { Address } from './addresses.js'
import { ToolError } from './tool-error.js'

const HEADERS = {
  'User-Agent': `agentpipe/${VERSION}`,
  Accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, */*;q=0.5',
  'Accept-Encoding': 'gzip, deflate, br',
}

/** An answer whose body has not been read. */
export interface WebAnswer {
  readonly status: number
  readonly statusText: string
  /** Without parameters, lower case; '' where the server does not say. */
  readonly type: string
  readonly charset: string | undefined
  /** Where it redirects to. */
  readonly location: string | undefined
  readonly encoding: string
  readonly body: Readable
}

/** The proxy by which a URL is asked for; undefined for none. It finds the address of the name then. */
export function proxyOf(url: URL): ProxyServer | undefined {
  return proxyFor(url.href, process.env)
}

/**
 * Asks for `url` from one of `addresses` and from no other, whatever its name means by now; through a proxy where the environment names one for it. Throws what
 * the connection does.
 */
export async function requestFrom(url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<WebAnswer> {
  const proxy = proxyOf(url)
  return proxy === undefined ? requestAt(url, addresses, signal) : requestThrough(proxy, url, signal)
}

async function requestAt(url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<WebAnswer> {
  const lookup: LookupFunction = (_name, { all }, callback) => {
    const [first] = addresses as [Address]
    if (all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
  const options = { headers: HEADERS, lookup, signal, agent: false as const, ...certificates(url) }
  const request = (url.protocol === 'https:' ? https : http).get(url, options)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  return webAnswer(message.statusCode ?? 0, message.statusMessage ?? '', message.headers, message)
}

async function requestThrough(proxy: ProxyServer, url: URL, signal: AbortSignal): Promise<WebAnswer> {
  const { ProxyAgent, request } = await import('undici')
  // As curl does it: a tunnel for https, and for http the proxy is asked, since many let tunnels lead to port 443 only.
  const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: false, requestTls: certificates(url), proxyTls: certificates(url) })
  try {
    const { statusCode, headers, body } = await request(url, { headers: HEADERS, signal, dispatcher })
    // A body that is let go of is an error of it.
    body.on('error', () => {})
    body.once('close', () => void dispatcher.destroy())
    return webAnswer(statusCode, STATUS_CODES[statusCode] ?? '', headers, body)
  } catch (error) {
    void dispatcher.destroy()
    if (signal.aborted) throw error
    throw new ToolError(`${url.href} can't be had through the proxy ${proxy.name} (${proxy.variable}): ${(error as Error).message}`)
  }
}

function webAnswer(status: number, statusText: string, headers: IncomingHttpHeaders, body: Readable): WebAnswer {
  const [, type = '', parameters = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(headers['content-type'] ?? '') ?? []
  const [, charset] = /charset="?([^";\s]+)/i.exec(parameters) ?? []
  const redirects = status >= 300 && status < 400
  const encoding = headers['content-encoding']?.toLowerCase() ?? ''
  return { status, statusText, type: type.toLowerCase(), charset, location: redirects ? headers.location : undefined, encoding, body }
}

/** The whole body, unpacked. Throws ToolError when that is more than `limit` bytes. */
export async function bodyOf(answer: WebAnswer, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of unpacked(answer)) {
    bytes += chunk.length
    if (bytes > limit) {
      answer.body.destroy()
      throw new ToolError(`it is larger than ${limit} bytes: use curl with Bash`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unpacked({ encoding, body }: WebAnswer): Readable {
  const decoder = encoding.includes('gzip')
    ? createGunzip()
    : encoding === 'br'
      ? createBrotliDecompress()
      : encoding === 'deflate'
        ? createInflate()
        : undefined
  if (decoder === undefined) return body
  body.on('error', (error) => decoder.destroy(error))
  return body.pipe(decoder)
}

/** Node read this variable at its start, when it was kept from us because it costs 60 ms. */
export function certificates({ protocol }: URL): { readonly ca?: string[] } {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (protocol !== 'https:' || !file) return {}
  try {
    return { ca: [...rootCertificates, readFileSync(file, 'utf8')] }
  } catch {
    return {}
  }
}
