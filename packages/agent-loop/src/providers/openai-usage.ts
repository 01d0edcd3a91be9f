import type { Usage } from '../provider.js'
import { countOf, objectOf } from './json-value.js'

/**
 * A usage of chat completions or of responses, as USAGE has it: input without what was read from the cache or written to it. Undefined where
 * there is none.
 */
export function openAiUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value)
  if (usage === undefined) return undefined
  const details = objectOf(usage.prompt_tokens_details) ?? objectOf(usage.input_tokens_details) ?? {}
  const input = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens)
  const output = countOf(usage.completion_tokens) ?? countOf(usage.output_tokens)
  if (input === undefined && output === undefined) return undefined
  // DeepSeek and Moonshot have names of their own.
  const cacheRead = countOf(details.cached_tokens) ?? countOf(usage.prompt_cache_hit_tokens) ?? countOf(usage.cached_tokens) ?? 0
  const cacheCreation = countOf(details.cache_write_tokens) ?? 0
  // Some servers count what was thought in the total only.
  const total = countOf(usage.total_tokens) ?? 0
  return {
    input: Math.max(0, (input ?? 0) - cacheRead - cacheCreation),
    output: Math.max(output ?? 0, total - (input ?? 0)),
    cacheRead,
    cacheCreation,
  }
}
