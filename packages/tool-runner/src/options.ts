import type { OptionTable, OptionValues } from '@agentpipe/stage'

export const OPTIONS = {
  workspace: { type: 'text', value: 'DIR', default: '.', about: 'where relative paths begin and files are written' },
  mode: { type: 'text', value: 'MODE', choices: ['read-only', 'workspace', 'full'], default: 'workspace', about: 'what tools may do' },
  timeout: { type: 'seconds', value: 'S', default: 120, about: 'time of a command that asks for none; 0: no limit' },
  'max-output': { type: 'size', value: 'BYTES', default: 100 * 1024, about: 'most that the model gets of an output' },
  sandbox: { type: 'text', value: 'KIND', choices: ['auto', 'bwrap', 'none'], default: 'none', about: 'how commands are confined' },
  network: { type: 'flag', about: 'confined commands have the network', rare: true },
  writable: { type: 'list', value: 'DIR', about: 'directory that is written as the workspace is', rare: true },
  allow: { type: 'list', value: 'RULE', about: 'allow what RULE says: Bash(git diff:*), Edit(src/**)', rare: true },
  ask: { type: 'list', value: 'RULE', about: 'ask before what RULE says is done', rare: true },
  deny: { type: 'list', value: 'RULE', about: 'deny what RULE says, whatever else is allowed', rare: true },
  'tools-dir': { type: 'list', value: 'DIR', about: 'directory whose programs are tools' },
  mcp: { type: 'list', value: 'FILE', about: 'file that names MCP servers, whose tools are used' },
  'tools-wait': { type: 'seconds', value: 'S', default: 1, about: 'longest wait for tools from outside before the first frame', rare: true },
  env: { type: 'list', value: 'NAME', about: 'variable that commands get though it looks like a key', rare: true },
  tools: { type: 'text', value: 'LIST', about: 'only these tools, with commas between them' },
} as const satisfies OptionTable

export type Options = OptionValues<typeof OPTIONS>
export type Mode = Options['mode']
