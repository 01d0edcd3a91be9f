import { usage } from '@agentpipe/stage'
import type { ThinkingConfig, ThinkingLevel } from '@google/genai'
import type { Settings } from '../options.js'

/** What stays the same in every request. */
export interface GoogleSettings {
  readonly model: string
  readonly maxTokens: number | undefined
  readonly temperature: number | undefined
  /** Undefined for a model that can't think. */
  readonly thinking: ThinkingConfig | undefined
  /** It is what the user asked for, not only a wish of ours to see thoughts. */
  readonly thinkingAsked: boolean
  /** A model from before Gemini 3: thinks by numbers of tokens, needs no signatures, and takes no images in results. */
  readonly early: boolean
}

const MODEL = 'gemini-3.8-flash'

/** Models before Gemini 3, and those of them that can't think. */
const EARLY = /(?:^|\/)(?:gemini-[12]\b|gemma|learnlm)/
const THOUGHTLESS = /(?:^|\/)(?:gemini-(?:1|2\.0)\b|gemma-[123]\b|learnlm)/

/** Efforts, and the tokens that Google's own OpenAI-compatible server takes them for with earlier models. */
const EFFORTS: Readonly<Record<string, number>> = { minimal: 512, low: 1024, medium: 8192, high: 24_576 }

/** The options as Gemini's API takes them. Throws StageError (64) for what it would refuse. */
export function googleSettings(settings: Settings): GoogleSettings {
  const { model = MODEL, effort, thinking: given, 'max-tokens': maxTokens } = settings
  if (!/^[\w./:@-]+$/.test(model) || model.includes('..')) throw usage(`--model ${JSON.stringify(model)}: no name that a model of Google's can have`)
  const asked = askedThinking(model, given, effort)
  const { thinkingBudget: budget = 0 } = asked ?? {}
  if (maxTokens !== undefined && maxTokens <= budget) throw usage(`--max-tokens ${maxTokens} leaves nothing for an answer after ${budget} tokens of thinking`)
  return {
    model,
    maxTokens,
    temperature: temperatureOf(settings.temperature),
    thinking: asked ?? (THOUGHTLESS.test(model) ? undefined : { includeThoughts: true }),
    thinkingAsked: asked !== undefined,
    early: EARLY.test(model),
  }
}

/** The API takes a level or a number of tokens, not both. */
function askedThinking(model: string, given: string | undefined, effort: string | undefined): ThinkingConfig | undefined {
  const early = EARLY.test(model)
  if (given === 'off' || given === '0') return early ? { thinkingBudget: 0 } : { thinkingLevel: leastLevel(model) }
  if (given !== undefined && given !== 'adaptive') return { includeThoughts: true, thinkingBudget: tokensOf(given, model, effort) }
  if (effort !== undefined) return { includeThoughts: true, ...effortOf(effort, early) }
  return given === 'adaptive' && early ? { includeThoughts: true, thinkingBudget: -1 } : undefined
}

/** No model from Gemini 3 on stops thinking altogether. */
function leastLevel(model: string): ThinkingLevel {
  return (/flash/.test(model) ? 'MINIMAL' : 'LOW') as ThinkingLevel
}

function tokensOf(given: string, model: string, effort: string | undefined): number {
  if (!/^\d{1,9}$/.test(given)) throw usage(`--thinking ${JSON.stringify(given)}: a number of tokens, adaptive or off`)
  if (effort !== undefined) throw usage(`--thinking ${given} does not go together with --effort`)
  if (/gemini-(?:[4-9]|\d\d)/.test(model)) throw usage(`--thinking ${given}: ${model} takes no number of tokens; --effort low, medium or high`)
  return Number(given)
}

function effortOf(effort: string, early: boolean): ThinkingConfig {
  const tokens = Object.hasOwn(EFFORTS, effort) ? EFFORTS[effort] : undefined
  if (tokens === undefined) throw usage(`--effort ${JSON.stringify(effort)}: Google's models know ${Object.keys(EFFORTS).join(', ')}`)
  return early ? { thinkingBudget: tokens } : { thinkingLevel: effort.toUpperCase() as ThinkingLevel }
}

function temperatureOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const temperature = given.trim() === '' ? Number.NaN : Number(given)
  if (!(temperature >= 0 && temperature <= 2)) throw usage(`--temperature ${JSON.stringify(given)}: a number from 0 to 2`)
  return temperature
}
