import { hostOf } from './openai-settings.js'

/** What a server of OpenAI's chat completions takes, where they differ. */
export interface Dialect {
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens'
  /** The other name was refused already. */
  readonly maxTokensSwitched: boolean
  /** Whether it can be asked for usage, by `stream_options`. */
  readonly streamOptions: boolean
  /** How what the model has thought goes back to it; `required`: each of its messages has to tell what was thought, be it nothing. */
  readonly reasoning: 'returned' | 'omitted' | 'required'
  /** `short`: Mistral's models want nine letters and digits. */
  readonly callIds: 'any' | 'short'
  /** How it is told how much a model may think. */
  readonly thinking: 'openrouter' | 'deepseek' | 'effort'
}

/** What we expect of a server before it has refused anything. */
export function dialectOf(baseUrl: string): Dialect {
  const host = hostOf(baseUrl)
  const own = host === 'api.openai.com' || host.endsWith('.openai.azure.com')
  return {
    maxTokens: own ? 'max_completion_tokens' : 'max_tokens',
    maxTokensSwitched: false,
    streamOptions: true,
    reasoning: 'returned',
    callIds: host.endsWith('mistral.ai') ? 'short' : 'any',
    thinking: host.endsWith('openrouter.ai') ? 'openrouter' : host.endsWith('deepseek.com') ? 'deepseek' : 'effort',
  }
}

const UNKNOWN = /unsupported|not support|unrecogni[sz]ed|unknown|not permitted|not allowed|unexpected|extra|invalid|instead/i

/** How to speak to a server that has refused a request with these words; undefined where nothing that we could do otherwise is at fault. */
export function adapted(dialect: Dialect, refusal: string): Dialect | undefined {
  if (dialect.streamOptions && /stream_options|include_usage/.test(refusal)) return { ...dialect, streamOptions: false }
  if (!dialect.maxTokensSwitched && /max_(?:completion_)?tokens/.test(refusal) && UNKNOWN.test(refusal)) {
    return { ...dialect, maxTokens: dialect.maxTokens === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens', maxTokensSwitched: true }
  }
  if (dialect.reasoning === 'returned' && /reasoning_content/.test(refusal) && /pass(?:ed)? back|missing|required|must be/i.test(refusal)) {
    return { ...dialect, reasoning: 'required' }
  }
  if (dialect.reasoning === 'returned' && /reasoning(?:_content|_details)?\b(?!_effort)/.test(refusal) && UNKNOWN.test(refusal)) {
    return { ...dialect, reasoning: 'omitted' }
  }
  if (dialect.callIds === 'any' && /length of 9\b/.test(refusal)) return { ...dialect, callIds: 'short' }
  return undefined
}
