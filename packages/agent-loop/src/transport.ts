/**
 * How providers reach their servers: what a model maker's SDK is given as its `fetch`. It goes by the proxies of the environment as curl does, ends answers that
 * stay silent or take too long, and writes down what passes where --debug-http asks for it. It answers with streams that were accepted, and
 * nothing else: it throws ProviderError for every status but 2xx, and for an answer that is no event stream. Made for one provider.
 */
export interface Transport {
  readonly fetch: typeof fetch
  /** Undefined where the server needs none. Never printed. */
  readonly key: string | undefined
  readonly baseUrl: string | undefined
}
