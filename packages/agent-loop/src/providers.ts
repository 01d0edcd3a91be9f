import { type Diagnose, EXIT, printable, StageError, usage } from '@agentpipe/stage'
import { findKey, KEY_VARIABLES } from './keys.js'
import { localServer } from './local-server.js'
import type { Settings } from './options.js'
import type { Provider } from './provider.js'
import { persistent } from './retry.js'
import { makeTransport, type Transport } from './transport.js'

/** A maker of models, or those who speak like it. */
interface Maker {
  /** Imported only now: what belongs to a provider costs more than all the rest of the start. */
  readonly make: (settings: Settings, transport: Transport) => Promise<Provider>
  /** The variable that names another server than the maker's own. */
  readonly baseUrl: string
}

const MAKERS: Readonly<Record<string, Maker>> = {
  anthropic: {
    make: async (settings, transport) => (await import('./providers/anthropic.js')).anthropic(settings, transport),
    baseUrl: 'ANTHROPIC_BASE_URL',
  },
  openai: {
    make: async (settings, transport) => (await import('./providers/openai.js')).openai(settings, transport),
    baseUrl: 'OPENAI_BASE_URL',
  },
  'openai-responses': {
    make: async (settings, transport) => (await import('./providers/openai-responses.js')).openaiResponses(settings, transport),
    baseUrl: 'OPENAI_BASE_URL',
  },
  google: {
    make: async (settings, transport) => (await import('./providers/google.js')).google(settings, transport),
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
  },
}

const NAMES = [...Object.keys(MAKERS), 'replay']
const REPLAY = '--provider replay --from FILE plays a captured session'

/** The shortest wait before a failed request is made again, in milliseconds; tests have less time. */
const RETRY_MS = Number(process.env.AGENTPIPE_RETRY_MS || 500)

/**
 * The provider that the settings ask for, else the one whose key is set. Throws StageError: 64 for a name that there is not, 78 where
 * nothing says which, or it has no key.
 */
export async function chooseProvider(settings: Settings, diagnose: Diagnose): Promise<Provider> {
  const { from, until } = settings
  if (until === undefined) return oneProvider(settings, diagnose)
  if (from === undefined || settings.provider === 'replay')
    throw usage('--until N plays that many turns of --from FILE; then the provider that is named, or whose key is set, goes on')
  if ((settings.provider ?? byKey(settings)) === undefined)
    throw new StageError(EXIT.CONFIG, `--until ${until}: no model goes on then: give --provider, or set one of ${variables()}`)
  const then = await oneProvider({ ...settings, from: undefined }, diagnose)
  const [{ replay }, { Until }] = await Promise.all([import('./providers/replay.js'), import('./providers/until.js')])
  return new Until(until, replay({ ...settings, model: undefined }), then)
}

async function oneProvider(settings: Settings, diagnose: Diagnose): Promise<Provider> {
  const name = settings.provider ?? (settings.from === undefined ? byKey(settings) : 'replay')
  if (name === undefined)
    throw new StageError(EXIT.CONFIG, `no model to ask: no --provider is given and none of ${variables()} is set; ${REPLAY}${await localServer()}`)
  if (name === 'replay') return (await import('./providers/replay.js')).replay(settings)
  const maker = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
  if (maker === undefined) throw usage(`there is no provider ${JSON.stringify(name)}: ${NAMES.join(', ')}`)
  const transport = await transportFor(name, maker, settings, diagnose)
  return persistent(await maker.make(settings, transport), settings.retries, RETRY_MS, transport.key ?? process.env.ANTHROPIC_AUTH_TOKEN)
}

async function transportFor(name: string, { baseUrl: variable }: Maker, settings: Settings, diagnose: Diagnose): Promise<Transport> {
  const baseUrl = settings['base-url'] ?? (process.env[variable] || undefined)
  if (baseUrl !== undefined && !/^https?:\/\/[^/]/.test(baseUrl))
    throw usage(`--base-url: expected http://... or https://..., found ${printable(JSON.stringify(baseUrl))}`)
  const key = await findKey(name, settings, diagnose)
  if (key === undefined && baseUrl === undefined && !(name === 'anthropic' && process.env.ANTHROPIC_AUTH_TOKEN)) {
    const own = KEY_VARIABLES.filter(([, provider]) => provider === name.replace(/-.*/, '')).map(([each]) => each)
    throw new StageError(EXIT.CONFIG, `provider ${name} needs a key: set ${own[0]}, or give --key-file or --key-command; ${REPLAY}${await localServer()}`)
  }
  return makeTransport({
    key,
    baseUrl,
    idleMs: limit(settings['idle-timeout']),
    totalMs: limit(settings['request-timeout']),
    logFile: settings['debug-http'],
  })
}

/** Seconds as milliseconds; 0 is no limit. */
function limit(seconds: number): number | undefined {
  return seconds === 0 ? undefined : seconds * 1000
}

/** A server that is given without a key speaks like OpenAI's: nearly all do. */
function byKey(settings: Settings): string | undefined {
  const keyed = KEY_VARIABLES.find(([variable]) => process.env[variable])?.[1]
  return keyed ?? (settings['base-url'] === undefined && !process.env.OPENAI_BASE_URL ? undefined : 'openai')
}

function variables(): string {
  return KEY_VARIABLES.map(([variable]) => variable)
    .filter((variable) => !/TOKEN|GOOGLE/.test(variable))
    .join(', ')
}
