import type { OptionTable, OptionValues } from '@agentpipe/stage'

/** Handed on under the same name to the stage that is named. What a stage does not get from us it takes from its own environment and config. */
const HANDED_ON = {
  'agent-loop': {
    provider: {
      type: 'text',
      value: 'NAME',
      offered: ['anthropic', 'openai', 'openai-responses', 'google', 'replay'],
      about: 'anthropic, openai, openai-responses, google or replay',
    },
    model: { type: 'text', value: 'M', about: 'the model that answers' },
    'base-url': { type: 'text', value: 'URL', about: 'of the model server', rare: true },
    from: { type: 'text', value: 'FILE', about: 'the capture that --provider replay plays' },
    system: { type: 'text', value: 'FILE', about: 'file with the system prompt', rare: true },
    'append-system': { type: 'text', value: 'TEXT', about: 'added to the system prompt', rare: true },
    'no-context': { type: 'flag', about: 'tell the model nothing of the project: no AGENTS.md, skills or environment', rare: true },
    'max-turns': { type: 'count', value: 'N', about: 'model requests at most', rare: true },
    'max-cost': { type: 'text', value: 'USD', about: 'what the run may cost', rare: true },
    'output-schema': { type: 'text', value: 'FILE', about: 'JSON Schema that the answer, then JSON, has to satisfy', rare: true },
    'on-divergence': { type: 'text', value: 'WHAT', choices: ['ignore', 'warn', 'stop'], about: 'when tools answer otherwise than in the capture', rare: true },
    until: { type: 'count', value: 'N', about: 'turns of the capture to play; then the real provider goes on', rare: true },
    'no-tools': { type: 'flag', about: 'answer without tools, and wait for no runner', rare: true },
    effort: { type: 'text', value: 'LEVEL', offered: ['low', 'medium', 'high'], about: 'how hard the model tries: low, medium, high', rare: true },
    thinking: { type: 'text', value: 'TOKENS', offered: ['off'], about: 'tokens that it may think, or off', rare: true },
    'max-tokens': { type: 'count', value: 'N', about: 'tokens in an answer at most', rare: true },
    'max-context': { type: 'count', value: 'N', about: 'tokens in a request at most', rare: true },
    'compact-at': { type: 'count', value: 'PERCENT', about: 'share of the context window at which old turns are summarised; 0: never', rare: true },
    temperature: { type: 'text', value: 'T', about: 'how freely the model chooses its words', rare: true },
    profile: { type: 'text', value: 'NAME', about: 'a named set of options of the config file', rare: true },
    'key-file': { type: 'text', value: 'FILE', about: 'file that holds the key', rare: true },
    'key-command': { type: 'text', value: 'COMMAND', about: "command of the shell that prints the key: a password manager's", rare: true },
    'idle-timeout': { type: 'seconds', value: 'S', about: 'longest silence of the model server; 0: no limit', rare: true },
    'request-timeout': { type: 'seconds', value: 'S', about: 'longest time of one model request; 0: no limit', rare: true },
    retries: { type: 'count', value: 'N', about: 'times that a failed model request is made again', rare: true },
    'debug-http': { type: 'text', value: 'FILE', about: 'file that gets every request and answer, without keys', rare: true },
  },
  'tool-runner': {
    mode: { type: 'text', value: 'MODE', choices: ['read-only', 'workspace', 'full'], about: 'what tools may do' },
    workspace: { type: 'text', value: 'DIR', about: 'where they may write (the current directory)', rare: true },
    timeout: { type: 'text', value: 'S', about: 'seconds a command may take', rare: true },
    allow: { type: 'list', value: 'RULE', about: 'calls that may run unasked, like "Bash(npm test)"', rare: true },
    ask: { type: 'list', value: 'RULE', about: 'calls that somebody has to permit', rare: true },
    deny: { type: 'list', value: 'RULE', about: 'calls that may not run', rare: true },
    'max-output': { type: 'text', value: 'BYTES', about: 'how much a result holds at most', rare: true },
    'tools-dir': { type: 'list', value: 'DIR', about: 'directory whose programs are tools', rare: true },
    mcp: { type: 'list', value: 'FILE', about: 'file that names MCP servers, whose tools are used', rare: true },
    env: { type: 'list', value: 'NAME', about: 'variable that commands get though it looks like a key', rare: true },
    sandbox: { type: 'text', value: 'KIND', choices: ['auto', 'bwrap', 'none'], about: 'how commands are confined', rare: true },
    network: { type: 'flag', about: 'confined commands have the network', rare: true },
    writable: { type: 'list', value: 'DIR', about: 'directory that is written as the workspace is', rare: true },
    tools: { type: 'text', value: 'LIST', about: 'only these tools, with commas between them', rare: true },
  },
  'event-store': {
    redact: { type: 'list', value: 'PATTERN', about: 'record [redacted] in place of what matches', rare: true },
    fsync: { type: 'text', choices: ['always', 'turn', 'never'], value: 'WHEN', about: 'when recording waits for the disk', rare: true },
  },
  'resp-render': {
    color: { type: 'text', value: 'WHEN', choices: ['auto', 'always', 'never'], about: 'colours', rare: true },
    width: { type: 'count', value: 'N', about: 'columns', rare: true },
    theme: { type: 'text', value: 'THEME', offered: ['dark', 'light', 'plain'], about: 'dark, light, plain, or a file', rare: true },
    'tool-output': { type: 'text', value: 'N', offered: ['all', 'none'], about: "lines of each tool's output, all or none", rare: true },
    'tool-colors': { type: 'text', value: 'HOW', choices: ['keep', 'strip'], about: 'colours that tools print', rare: true },
    usage: { type: 'flag', about: 'end each turn in a line of its tokens', rare: true },
  },
  'user-prompt': {
    bell: { type: 'flag', about: 'ring the bell when a turn ends, and when something is asked', rare: true },
  },
} as const satisfies Readonly<Record<string, OptionTable>>

/** The stages that make up the ring, in order. */
export const STAGES = ['agent-loop', 'tool-runner', 'sub-agent', 'event-store', 'resp-render'] as const
export type StageName = (typeof STAGES)[number]

const ASSIGNED = STAGES.map((name) => `${name}=`)

/** Those, and the stages themselves. */
export const HANDED_ON_OPTIONS = {
  ...HANDED_ON['agent-loop'],
  ...HANDED_ON['tool-runner'],
  stage: { type: 'list', value: 'NAME=COMMAND', offered: ASSIGNED, about: 'run COMMAND in place of a stage' },
  before: { type: 'list', value: 'NAME=COMMAND', offered: ASSIGNED, about: 'run COMMAND in front of a stage', rare: true },
  after: { type: 'list', value: 'NAME=COMMAND', offered: ASSIGNED, about: 'run COMMAND behind a stage', rare: true },
  without: { type: 'list', value: 'NAME', offered: STAGES, about: 'leave a stage out; without resp-render frames are printed', rare: true },
  on: { type: 'text', value: 'HOST[:DIR]', about: 'run the tools on another machine, by ssh', rare: true },
  pipeline: { type: 'text', value: 'NAME', about: 'a named set of options of the config file', rare: true },
} as const satisfies OptionTable

export const OPTIONS = {
  ...HANDED_ON_OPTIONS,
  session: { type: 'text', value: 'ID', about: 'name the session, or go on with it' },
  continue: { type: 'flag', about: 'go on with the latest session of this directory' },
  record: { type: 'text', value: 'FILE', about: 'write all frames to FILE, to be replayed' },
  'output-format': { type: 'text', value: 'FORMAT', choices: ['human', 'text', 'json', 'stream-json'], default: 'human', about: 'what to print' },
  'input-format': { type: 'text', value: 'FORMAT', choices: ['text', 'stream-json'], default: 'text', about: 'of standard input', rare: true },
  'dry-run': { type: 'flag', about: 'say which stages would run, and leave', rare: true },
  'print-script': { type: 'flag', about: 'print the shell script that would run' },
  ...HANDED_ON['event-store'],
  ...HANDED_ON['resp-render'],
  ...HANDED_ON['user-prompt'],
} as const satisfies OptionTable

/** What is to be run: `interactive`, with a person at the terminal in place of a prompt. */
export type Settings = OptionValues<typeof OPTIONS> & { readonly interactive: boolean }

/** The words of the options that are handed on to a stage. */
export function handedOn(stage: string, settings: Settings): string[] {
  const table: OptionTable = Object.hasOwn(HANDED_ON, stage) ? HANDED_ON[stage as keyof typeof HANDED_ON] : {}
  return words(Object.keys(table), settings)
}

/**
 * What an agent that the model starts gets: what its stages would get from us, but for what is about this run alone, and the same stages: who has put
 * tool-runner into a container has not done so for the first agent only.
 */
export function handedDown(settings: Settings): string[] {
  const own = ['from', 'until', 'on-divergence', 'output-schema', 'debug-http']
  return words(
    [
      ...Object.keys(HANDED_ON['agent-loop']),
      ...Object.keys(HANDED_ON['tool-runner']),
      ...Object.keys(HANDED_ON['event-store']),
      'stage',
      'before',
      'after',
      'without',
      'on',
    ].filter((name) => !own.includes(name)),
    settings,
  )
}

/** Options as words of a command line, those that are set. */
export function words(names: readonly string[], settings: object): string[] {
  return names.flatMap((name) => {
    const value = (settings as Readonly<Record<string, unknown>>)[name]
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [value].flat().map((each) => `--${name}=${each}`)
  })
}
