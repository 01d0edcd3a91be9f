import { configPath, readConfig } from './config.js'
import { EXIT, StageError } from './exit-status.js'

/** USD for a million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheCreation: number
}

const price = (input: number, output: number, cacheRead = input / 10, cacheCreation = input * 1.25): Price => ({ input, output, cacheRead, cacheCreation })

/** As their makers list them, by the beginning of the model's name: the longest counts. Where longer prompts cost more, or a price is lower for a time, the higher one. */
const PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5': price(10, 50),
  'claude-fable-5-1': price(10, 50, 0.25),
  'claude-opus-5-5': price(4, 20, 0.2),
  'claude-opus-5': price(5, 25),
  'claude-opus-4-5': price(5, 25),
  'claude-opus-4-6': price(5, 25),
  'claude-opus-4-7': price(5, 25),
  'claude-opus-4-8': price(5, 25),
  'claude-opus-4': price(15, 75),
  'claude-sonnet-5-5': price(2, 10, 0.1),
  'claude-sonnet-5': price(2, 10),
  'claude-sonnet-4': price(3, 15),
  'claude-haiku-5-5': price(0.5, 2.5),
  'claude-haiku-4-5': price(1, 5),
  'gpt-5': price(1.25, 10, 0.125, 1.25),
  'gpt-5-mini': price(0.25, 2, 0.025, 0.25),
  'gpt-5.2': price(1.75, 14, 0.175, 1.75),
  'gemini-3.8-flash': price(1.5, 7.5, 0.15, 1.5),
  'gemini-4-argon': price(4, 20, 0.2, 4),
}

/** What follows the name of a model in its id: a date, or that it is the latest. */
const VERSION = /^(?:-latest|[-@]20\d\d-?\d\d-?\d\d|)$/

/**
 * What a model costs: as the config file says under `"agent-loop": {"prices": {"MODEL": {"input": 2, "output": 10}}}`, `cache_read` and
 * `cache_creation` beside them counting as input if left out; else as its maker lists it. Undefined where nobody says. Throws StageError (78).
 */
export function priceOf(model: string): Price | undefined {
  const { prices = {} } = readConfig('agent-loop')
  if (!isObject(prices)) throw wrong('agent-loop.prices is not an object')
  if (Object.hasOwn(prices, model)) return configured(model, prices[model])
  const names = Object.keys(PRICES).filter((name) => model.startsWith(name) && VERSION.test(model.slice(name.length)))
  return PRICES[names.sort((one, other) => other.length - one.length)[0] ?? '']
}

function configured(model: string, value: unknown): Price {
  const where = `agent-loop.prices.${model}`
  if (!isObject(value)) throw wrong(`${where} is not an object with input and output, in USD for a million tokens`)
  const number = (name: string, otherwise?: number): number => {
    const given = value[name] ?? otherwise
    if (typeof given !== 'number' || !(given >= 0))
      throw wrong(`${where}.${name}: expected a number of USD for a million tokens, found ${JSON.stringify(given)}`)
    return given
  }
  const input = number('input')
  return { input, output: number('output'), cacheRead: number('cache_read', input), cacheCreation: number('cache_creation', input) }
}

function wrong(problem: string): StageError {
  return new StageError(EXIT.CONFIG, `config file ${configPath()}: ${problem}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
