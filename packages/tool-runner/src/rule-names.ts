import { nearest, usage } from '@agentpipe/stage'
import type { Options } from './options.js'

/** sub-agent's, and known to rules. */
const BESIDE = ['SubAgent']

/**
 * Refuses rules of flags that name a tool which there is not: a `--deny bash` that denies nothing would be found out too late. `othersToCome`: tools from outside,
 * whose names nobody knows yet; then only a name that differs from one in `builtIn` by its capitals is refused. Throws StageError (64).
 */
export function checkRuleNames(options: Pick<Options, 'allow' | 'ask' | 'deny'>, builtIn: readonly string[], othersToCome: boolean): void {
  const known = [...builtIn, ...BESIDE]
  for (const kind of ['allow', 'ask', 'deny'] as const) {
    for (const rule of options[kind]) {
      const name = rule.trim().split('(', 1)[0] as string
      if (name.includes('*') || known.includes(name)) continue
      const meant = known.find((each) => each.toLowerCase() === name.toLowerCase())
      if (meant === undefined && (othersToCome || name.includes('__'))) continue
      const near = meant ?? nearest(name, known)
      throw usage(`--${kind}: there is no tool ${JSON.stringify(name)}; ${near === undefined ? `the tools are ${known.join(', ')}` : `did you mean ${near}?`}`)
    }
  }
}
