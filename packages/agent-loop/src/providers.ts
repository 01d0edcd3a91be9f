import { EXIT, StageError, usage } from '@agentpipe/stage'
import type { Settings } from './options.js'
import type { Provider } from './provider.js'
import type { Transport } from './transport.js'

/** Makes a provider, importing it only now: an SDK costs more than all the rest of the start. */
type Make = (settings: Settings) => Promise<Provider>

/** The providers that there are; undefined for one that is still to come. */
const PROVIDERS: Readonly<Record<string, Make | undefined>> = {
  anthropic: async (settings) => (await import('./providers/anthropic.js')).anthropic(settings, plainTransport(settings, 'ANTHROPIC')),
  openai: async (settings) => (await import('./providers/openai.js')).openai(settings, plainTransport(settings, 'OPENAI')),
  'openai-responses': async (settings) => (await import('./providers/openai-responses.js')).openaiResponses(settings, plainTransport(settings, 'OPENAI')),
  google: undefined,
  replay: async (settings) => (await import('./providers/replay.js')).replay(settings),
}

/** The variables that hold a provider's key, in the order in which they are looked for. */
const KEYS: readonly (readonly [variable: string, provider: string])[] = [
  ['ANTHROPIC_API_KEY', 'anthropic'],
  ['OPENAI_API_KEY', 'openai'],
  ['GEMINI_API_KEY', 'google'],
  ['GOOGLE_API_KEY', 'google'],
]

const REPLAY = '--provider replay --from FILE plays a captured session'

/**
 * The provider that the settings ask for, else the one whose key is set. Throws StageError: 64 for a name that there is not, 78 for
 * a provider that this version lacks and where nothing says which.
 */
export async function chooseProvider(settings: Settings): Promise<Provider> {
  const name = settings.provider ?? (settings.from === undefined ? keyedProvider() : 'replay')
  if (name === undefined) {
    const variables = [...new Set(KEYS.map(([variable]) => variable))].join(', ')
    throw new StageError(EXIT.CONFIG, `no model to ask: no --provider is given and none of ${variables} is set; ${REPLAY}`)
  }
  if (!Object.hasOwn(PROVIDERS, name)) throw usage(`there is no provider ${JSON.stringify(name)}: ${Object.keys(PROVIDERS).join(', ')}`)
  const make = PROVIDERS[name]
  if (make === undefined) throw new StageError(EXIT.CONFIG, `provider ${name} is not in this version yet; ${REPLAY}`)
  return make(settings)
}

function keyedProvider(): string | undefined {
  return KEYS.find(([variable]) => process.env[variable])?.[1]
}

function plainTransport(settings: Settings, maker: 'ANTHROPIC' | 'OPENAI'): Transport {
  const { [`${maker}_API_KEY`]: key, [`${maker}_BASE_URL`]: baseUrl } = process.env
  return { fetch, key: key || undefined, baseUrl: settings['base-url'] ?? (baseUrl || undefined) }
}
