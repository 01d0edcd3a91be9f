import { usage } from '@agentpipe/stage'
import type { OutputConfig, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages'
import type { Settings } from '../options.js'

/** What stays the same in every request. */
export interface AnthropicSettings {
  readonly model: string
  readonly maxTokens: number
  readonly thinking: ThinkingConfigParam | undefined
  readonly effort: OutputConfig['effort']
  readonly temperature: number | undefined
}

const MODEL = 'claude-sonnet-5-5'
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const
/** The least that the API takes, and what is left for the answer where --max-tokens doesn't say. */
const LEAST_THINKING = 1024
const ANSWER_TOKENS = 8192

/** The options as Anthropic's API takes them. Throws StageError (64) for what it would refuse. */
export function anthropicSettings(settings: Settings, outputTokens: (model: string) => number): AnthropicSettings {
  const model = settings.model ?? MODEL
  const thinking = thinkingOf(settings.thinking)
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : 0
  const maxTokens = settings['max-tokens'] ?? Math.max(outputTokens(model), budget + ANSWER_TOKENS)
  if (maxTokens <= budget) throw usage(`--max-tokens ${maxTokens} leaves nothing for an answer after --thinking ${budget}`)
  const temperature = temperatureOf(settings.temperature)
  if (temperature !== undefined && thinking !== undefined && thinking.type !== 'disabled') throw usage('--temperature does not go together with --thinking')
  return { model, maxTokens, thinking, effort: effortOf(settings.effort), temperature }
}

function thinkingOf(given: string | undefined): ThinkingConfigParam | undefined {
  if (given === undefined) return undefined
  if (given === 'off' || given === '0') return { type: 'disabled' }
  // Newer models keep what they think to themselves unless they are asked for it.
  if (given === 'adaptive') return { type: 'adaptive', display: 'summarized' }
  const tokens = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (!(tokens >= LEAST_THINKING)) throw usage(`--thinking ${JSON.stringify(given)}: a number of tokens from ${LEAST_THINKING} on, adaptive or off`)
  return { type: 'enabled', budget_tokens: tokens }
}

function effortOf(given: string | undefined): OutputConfig['effort'] {
  if (given === undefined) return undefined
  const effort = EFFORTS.find((each) => each === given)
  if (effort === undefined) throw usage(`--effort ${JSON.stringify(given)}: Anthropic's models know ${EFFORTS.join(', ')}`)
  return effort
}

function temperatureOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const temperature = given.trim() === '' ? Number.NaN : Number(given)
  if (!(temperature >= 0 && temperature <= 1)) throw usage(`--temperature ${JSON.stringify(given)}: a number from 0 to 1`)
  return temperature
}
