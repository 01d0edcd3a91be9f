import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { VERSION } from '@agentpipe/stage'
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
  readonly message: IncomingMessage
}

/** Asks for `url` from one of `addresses` and from no other, whatever its name means by now. Throws what the connection does. */
export async function requestFrom(url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<WebAnswer> {
  const lookup: LookupFunction = (_name, { all }, callback) => {
    const [first] = addresses as [Address]
    if (all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
  const options = { headers: HEADERS, lookup, signal, agent: false as const, ...certificates(url) }
  const request = (url.protocol === 'https:' ? https : http).get(url, options)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  const { headers, statusCode = 0, statusMessage = '' } = message
  const [, type = '', parameters = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(headers['content-type'] ?? '') ?? []
  const [, charset] = /charset="?([^";\s]+)/i.exec(parameters) ?? []
  const redirects = statusCode >= 300 && statusCode < 400
  return { status: statusCode, statusText: statusMessage, type: type.toLowerCase(), charset, location: redirects ? headers.location : undefined, message }
}

/** The whole body, unpacked. Throws ToolError when that is more than `limit` bytes. */
export async function bodyOf({ message }: WebAnswer, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of unpacked(message)) {
    bytes += chunk.length
    if (bytes > limit) {
      message.destroy()
      throw new ToolError(`it is larger than ${limit} bytes: use curl with Bash`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unpacked(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? ''
  const decoder = encoding.includes('gzip')
    ? createGunzip()
    : encoding === 'br'
      ? createBrotliDecompress()
      : encoding === 'deflate'
        ? createInflate()
        : undefined
  if (decoder === undefined) return message
  message.on('error', (error) => decoder.destroy(error))
  return message.pipe(decoder)
}

/** Node read this variable at its start, when it was kept from us because it costs 60 ms. */
function certificates({ protocol }: URL): { readonly ca?: string[] } {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (protocol !== 'https:' || !file) return {}
  try {
    return { ca: [...rootCertificates, readFileSync(file, 'utf8')] }
  } catch {
    return {}
  }
}
