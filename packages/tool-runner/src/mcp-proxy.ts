import { proxyFor, reason } from '@agentpipe/stage'
import type { ProxyAgent } from 'undici'
import { certificates } from './web-request.js'

/** One for each proxy: its connections are used again. */
const agents = new Map<string, ProxyAgent>()

/** Node's fetch, by the proxy that the environment names for the URL, if it does. Throws an Error that names the proxy where that is the way. */
export async function proxiedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const proxy = proxyFor(String(url), process.env)
  if (proxy === undefined) return fetch(url, init)
  const { ProxyAgent, fetch: fetchBy } = await import('undici')
  const tls = certificates(new URL(url))
  const dispatcher = agents.get(proxy.url) ?? new ProxyAgent({ uri: proxy.url, proxyTunnel: false, requestTls: tls, proxyTls: tls })
  agents.set(proxy.url, dispatcher)
  try {
    return (await fetchBy(url, { ...init, dispatcher } as object)) as unknown as Response
  } catch (error) {
    const { cause = error } = error as Error
    throw new Error(`through the proxy ${proxy.name} (${proxy.variable}): ${reason(cause)}`)
  }
}
