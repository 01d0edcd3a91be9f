/** A proxy of the environment. */
export interface ProxyServer {
  /** With credentials, for the connection. */
  readonly url: string
  /** Without them, for people. */
  readonly name: string
  /** The variable that names it. */
  readonly variable: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy for a URL, as curl chooses it: by http_proxy in lower case only (HTTP_PROXY may be set by who sends a CGI script its headers), by https_proxy and all_proxy in either; what no_proxy
 * names is reached directly, and so is this machine itself. Source: curl(1), ENVIRONMENT.
 */
export function proxyFor(url: string, environment: Environment): ProxyServer | undefined {
  const { protocol, hostname, port } = new URL(url)
  const variables = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] : ['http_proxy', 'all_proxy', 'ALL_PROXY']
  const variable = variables.find((name) => environment[name])
  if (variable === undefined) return undefined
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const exempt = environment.no_proxy || environment.NO_PROXY || ''
  if (isLoopback(host) || isExempt(host, port || (protocol === 'https:' ? '443' : '80'), exempt)) return undefined
  const given = environment[variable] as string
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  return { url: full, name: withoutCredentials(full), variable }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** `example.com` and `.example.com` stand for the host and all below it, `*` for everything; a port may follow. */
function isExempt(host: string, port: string, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .map((entry) => entry.toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      const [, name = '', only] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.includes('::') && !entry.startsWith('[') ? `[${entry}]` : entry) ?? []
      if (only !== undefined && only !== port) return false
      const bare = name.replace(/^\*?\./, '')
      return host === bare || host.endsWith(`.${bare}`)
    })
}

function withoutCredentials(url: string): string {
  try {
    return new URL(url).host || url.replace(/^.*@/, '')
  } catch {
    return 'that is no URL'
  }
}
