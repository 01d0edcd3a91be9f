import { messageFields } from '@agentpipe/message'
import type { Usage } from './provider.js'

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }

/** The USAGE of a response of `model`; `kind`: what it was for. */
export function usageFields({ input, output, cacheRead, cacheCreation }: Usage, model: string, kind: 'agent' | 'compact') {
  return messageFields('USAGE', [`${input}`, `${output}`, `${cacheRead}`, `${cacheCreation}`], { model: model || undefined, kind })
}
