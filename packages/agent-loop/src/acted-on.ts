import type { MessageType } from '@agentpipe/message'

/** What is acted on when it comes. Everything else has come round, and ends here. */
export const ACTED_ON: ReadonlySet<string> = new Set<MessageType>([
  'HELLO',
  'TOOL_DEF',
  'HISTORY',
  'USER_INPUT',
  'END',
  'TOOL_RESULT',
  'SUB_AGENT_RESULT',
  'USAGE',
  'PERMISSION_REQUEST',
  'INTERRUPT',
  'PERMISSION',
  'PROMPT',
  'CONTROL',
  'STOP',
])
