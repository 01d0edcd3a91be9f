import { readdirSync, readFileSync } from 'node:fs'
import { type Ended, type RunOptions, run } from '@agentpipe/testing'
import type { Workspace } from './capture.js'

/** Runs agentpipe in a workspace, its model.resp playing the model. */
export function agent(workspace: Workspace, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return run('agentpipe', ['--provider', 'replay', '--from', 'model.resp', ...args], inside(workspace, options))
}

/** Options that run something in a workspace. */
export function inside(workspace: Workspace, options: RunOptions = {}): RunOptions {
  return { cwd: workspace.directory, timeout: 120_000, ...options, env: { ...workspace.environment, ...options.env } }
}

/** The lines of the one session's log that are whole, as objects. */
export function logged(workspace: Workspace): Record<string, unknown>[] {
  return readFileSync(logPath(workspace), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** The events.jsonl of the one session there is. */
export function logPath(workspace: Workspace): string {
  const projects = workspace.path('state/agentpipe/projects')
  const [project] = readdirSync(projects) as [string]
  const [session] = readdirSync(`${projects}/${project}`) as [string]
  return `${projects}/${project}/${session}/events.jsonl`
}
