import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT, readConfig, reason, StageError } from '@agentpipe/stage'
import type { Options } from './options.js'
import type { RuleSet } from './policy.js'
import { parseRule } from './rules.js'

/** The file of a project's own rules, from the workspace. */
const PROJECT_FILE = '.agentpipe/config.json'
const LARGEST_BYTES = 1024 * 1024
const KINDS = ['allow', 'ask', 'deny'] as const

/**
 * The user's rules: those of the flags (or of the environment), and those of the user's config file, which no flag takes away.
 * Throws StageError (64, 78).
 */
export function userRules(options: Options, workspace: string): RuleSet {
  const config = readConfig('tool-runner')
  return ruleSet((kind) => [
    ...options[kind].map((text) => parseRule(text, workspace, `--${kind}`)),
    ...texts(config[kind]).map((text) => parseRule(text, workspace, `config file: tool-runner.${kind}`)),
  ])
}

/** The project's rules, from .agentpipe/config.json in the workspace. Throws StageError (78). */
export function projectRules(workspace: string): RuleSet {
  const config = projectConfig(join(workspace, PROJECT_FILE))
  return ruleSet((kind) => texts(config[kind]).map((text) => parseRule(text, workspace, `${PROJECT_FILE}: ${kind}`)))
}

function ruleSet(rules: (kind: (typeof KINDS)[number]) => RuleSet['allow']): RuleSet {
  return { allow: rules('allow'), ask: rules('ask'), deny: rules('deny') }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function projectConfig(path: string): Readonly<Record<string, unknown>> {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return {}
    if (!stats.isFile() || stats.size > LARGEST_BYTES) throw new Error('not a regular file of at most 1 MiB')
    const value = JSON.parse(readFileSync(path, 'utf8'))?.['tool-runner']
    return typeof value === 'object' && value !== null ? value : {}
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return {}
    // Without its rules the project would be less protected than it asks for.
    throw new StageError(EXIT.CONFIG, `${PROJECT_FILE}: ${reason(error)}`)
  }
}
