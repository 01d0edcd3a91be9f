import { randomUUID } from 'node:crypto'
import { usage } from '@agentpipe/stage'
import type { Settings } from '../options.js'

/** What stays the same in every request. */
export interface OpenAiSettings {
  readonly model: string
  readonly baseUrl: string
  /** OpenAI itself answers, not a server that speaks its API. */
  readonly official: boolean
  readonly maxTokens: number | undefined
  readonly effort: string | undefined
  /** Tokens that the model may think; undefined: as many as it likes. */
  readonly thinking: number | 'off' | undefined
  readonly temperature: number | undefined
  /** Tells requests of one session apart from others, for OpenAI's prompt cache. */
  readonly cacheKey: string
}

const BASE_URL = 'https://api.openai.com/v1'
const MODEL = 'gpt-5.4'

/** The options as OpenAI's APIs take them. Throws StageError (64) for what they would refuse, and for a server whose models we don't know. */
export function openAiSettings(settings: Settings, givenBaseUrl: string | undefined): OpenAiSettings {
  const baseUrl = givenBaseUrl || BASE_URL
  const official = hostOf(baseUrl) === 'api.openai.com'
  const model = settings.model ?? (official ? MODEL : undefined)
  if (model === undefined) throw usage(`which model of ${baseUrl}? --model M; the server lists them at ${baseUrl.replace(/\/$/, '')}/models`)
  return {
    model,
    baseUrl,
    official,
    maxTokens: settings['max-tokens'],
    effort: settings.effort,
    thinking: thinkingOf(settings.thinking),
    temperature: temperatureOf(settings.temperature),
    cacheKey: settings.session ?? randomUUID(),
  }
}

/** The host that a URL names. Throws StageError (64) for what is no URL. */
export function hostOf(url: string): string {
  if (!URL.canParse(url)) throw usage(`--base-url ${JSON.stringify(url)} is no URL: http://localhost:11434/v1`)
  return new URL(url).hostname
}

function thinkingOf(given: string | undefined): OpenAiSettings['thinking'] {
  if (given === undefined || given === 'adaptive') return undefined
  if (given === 'off' || given === '0') return 'off'
  if (!/^\d+$/.test(given)) throw usage(`--thinking ${JSON.stringify(given)}: a number of tokens, adaptive or off`)
  return Number(given)
}

function temperatureOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const temperature = given.trim() === '' ? Number.NaN : Number(given)
  if (!(temperature >= 0 && temperature <= 2)) throw usage(`--temperature ${JSON.stringify(given)}: a number from 0 to 2`)
  return temperature
}
