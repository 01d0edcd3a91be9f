/** What a frame is for: an event says what happened, a command asks for something, a control frame sets a pipeline up. */
export type Kind = 'event' | 'command' | 'control'

/**
 * How a value stands in JSON. The wire knows bytes only.
 * `text`: a string. `integer`: a number where its decimal form gives the same bytes, else a string.
 * `json`: the value itself where serialising it gives the same bytes, else the text under `NAME_text`.
 */
export type ValueType = 'text' | 'integer' | 'json'

export interface FieldSpec {
  readonly name: string
  readonly type: ValueType
  /** The member's name in JSON, where it is not `name`. */
  readonly json?: string
  /** The values that are known today. Others are no error. */
  readonly values?: readonly string[]
  readonly about: string
}

export interface MessageSpec {
  readonly kind: Kind
  /** Positional fields behind the type, all of them required. */
  readonly fields: readonly FieldSpec[]
  /** Optional key and value pairs behind them. */
  readonly attributes: readonly FieldSpec[]
  /** Who writes it. */
  readonly by: string
  readonly about: string
}

const image = { name: 'image', type: 'text', about: 'an image, in base64' } as const
const imageType = { name: 'image_type', type: 'text', about: 'its media type, image/png' } as const
const text = { name: 'text', type: 'text', about: 'UTF-8 text' } as const
const callId = { name: 'id', type: 'text', json: 'tool_use_id', about: 'of the call: [A-Za-z0-9_-]+, unique in a session' } as const
const toolName = { name: 'name', type: 'text', about: 'of the tool' } as const

/** Every message there is. The union of types, parse and build, the JSON mapping, messages(7) and the fuzz generators derive from it. */
export const MESSAGES = {
  USER_MESSAGE: {
    kind: 'event',
    fields: [text],
    attributes: [image, imageType],
    by: 'agent-loop',
    about: 'An input, when agent-loop takes it up: a turn begins.',
  },
  TEXT: { kind: 'event', fields: [text], attributes: [], by: 'agent-loop', about: 'A piece of what the model says, as it streams.' },
  THINKING: {
    kind: 'event',
    fields: [text],
    attributes: [
      { name: 'signature', type: 'text', about: "the server's signature of the whole block; it closes the block" },
      { name: 'opaque', type: 'text', about: 'what only the server can read' },
    ],
    by: 'agent-loop',
    about: 'A piece of what the model thinks.',
  },
  TOOL_CALL: {
    kind: 'event',
    fields: [toolName, callId, { name: 'input', type: 'json', about: 'a JSON object' }],
    attributes: [{ name: '@opaque', type: 'text', json: 'opaque', about: 'what only the server can read' }],
    by: 'agent-loop',
    about:
      'The model calls a tool. Each top-level member of the input stands again as an attribute (strings as they are, other values as JSON), so that a stage in shell needs no JSON parser; they are left out where the frame would be past the limits.',
  },
  TOOL_OUTPUT: {
    kind: 'event',
    fields: [callId, { name: 'chunk', type: 'text', about: 'a piece of output, cut between characters' }],
    attributes: [{ name: 'stream', type: 'text', values: ['stdout', 'stderr'], about: 'where it was printed' }],
    by: 'runners',
    about: 'Live output of a call that is running; capped a call like the result.',
  },
  TOOL_RESULT: {
    kind: 'event',
    fields: [callId, toolName, { name: 'output', type: 'text', json: 'content', about: 'what the model is told' }],
    attributes: [
      {
        name: 'status',
        type: 'text',
        values: ['ok', 'error', 'denied', 'timeout', 'cancelled'],
        about: 'how the call ended; a command that exits other than 0 is an error',
      },
      { name: 'exit_code', type: 'integer', about: 'of a command' },
      { name: 'signal', type: 'text', about: 'that ended a command, SIGKILL' },
      { name: 'duration_ms', type: 'integer', about: 'milliseconds' },
      { name: 'permission', type: 'text', about: 'who decided that it may run' },
      { name: 'summary', type: 'text', about: 'one line for people' },
      { name: 'diff', type: 'text', about: 'unified diff of what was changed' },
      { name: 'full_output', type: 'text', about: 'path of the whole output, when it was cut' },
      image,
      imageType,
      { name: 'session_id', type: 'text', about: 'of a sub-agent that was started' },
    ],
    by: 'runners; agent-loop for calls that nobody can take',
    about: 'The answer to a call, matched by its id.',
  },
  USAGE: {
    kind: 'event',
    fields: [
      { name: 'input', type: 'integer', json: 'input_tokens', about: 'tokens, without those of the cache' },
      { name: 'output', type: 'integer', json: 'output_tokens', about: 'tokens' },
      { name: 'cache_read', type: 'integer', json: 'cache_read_tokens', about: 'tokens' },
      { name: 'cache_creation', type: 'integer', json: 'cache_creation_tokens', about: 'tokens' },
    ],
    attributes: [
      { name: 'model', type: 'text', about: 'that answered' },
      { name: 'kind', type: 'text', values: ['agent', 'compact', 'sub_agent'], about: 'what for' },
    ],
    by: 'agent-loop',
    about: 'Closes every response of the model.',
  },
  SUB_AGENT_RESULT: {
    kind: 'event',
    fields: [
      { name: 'session_id', type: 'text', about: 'of the sub-agent' },
      { name: 'status', type: 'text', values: ['ok', 'error', 'cancelled'], about: 'how it ended' },
      text,
    ],
    attributes: [
      { name: 'tool_use_id', type: 'text', about: 'of the call that started it' },
      { name: 'description', type: 'text', about: 'what it was to do' },
      { name: 'input_tokens', type: 'integer', about: 'tokens' },
      { name: 'output_tokens', type: 'integer', about: 'tokens' },
    ],
    by: 'sub-agent',
    about: 'A sub-agent has ended.',
  },
  STOP: {
    kind: 'event',
    fields: [
      {
        name: 'reason',
        type: 'text',
        values: ['end_turn', 'max_tokens', 'max_turns', 'max_cost', 'interrupted', 'refusal', 'error'],
        about: 'why the turn ended',
      },
    ],
    attributes: [],
    by: 'agent-loop',
    about: 'Closes every turn, once.',
  },
  CONTEXT_UPDATE: {
    kind: 'event',
    fields: [
      { name: 'kind', type: 'text', values: ['compact', 'clear'], about: 'what was done to the context: summarised, or forgotten' },
      { name: 'trigger', type: 'text', values: ['auto', 'manual'], about: 'who asked for it' },
    ],
    attributes: [
      { name: 'summary', type: 'text', about: 'what stands in place of what was left out' },
      { name: 'kept', type: 'integer', about: 'turns at the end that were kept as they are' },
      { name: 'kept_responses', type: 'integer', about: 'where no turn was: responses of the model at the end that were kept, with their results' },
      { name: 'tokens_before', type: 'integer', about: 'tokens' },
      { name: 'tokens_after', type: 'integer', about: 'tokens' },
    ],
    by: 'agent-loop',
    about: 'The conversation was shortened.',
  },
  ERROR: {
    kind: 'event',
    fields: [{ name: 'message', type: 'text', about: 'one line for people' }],
    attributes: [
      { name: 'code', type: 'text', about: 'for programs: bad_call, repeated_calls, output_schema, cut, malformed' },
      { name: 'source', type: 'text', about: 'the stage that says it' },
      { name: 'offset', type: 'integer', about: 'byte offset in its input' },
    ],
    by: 'any stage',
    about: 'Something went wrong.',
  },
  RETRY: {
    kind: 'event',
    fields: [],
    attributes: [
      { name: 'attempt', type: 'integer', about: 'counted from 1' },
      { name: 'delay_ms', type: 'integer', about: 'milliseconds until it' },
      { name: 'reason', type: 'text', about: 'one line for people' },
    ],
    by: 'agent-loop',
    about: 'What it said since the last USAGE is void: the model is asked again.',
  },
  PERMISSION_REQUEST: {
    kind: 'event',
    fields: [callId, toolName, { name: 'reason', type: 'text', about: 'the rule that asks' }],
    attributes: [{ name: 'input', type: 'text', about: 'what would be done, whole' }],
    by: 'runners',
    about: 'A call waits for a decision. One that comes round to agent-loop has found nobody to ask: it is denied.',
  },
  USER_INPUT: {
    kind: 'command',
    fields: [text],
    attributes: [image, imageType],
    by: 'person or script',
    about: 'What the agent is to do; agent-loop consumes it.',
  },
  END: { kind: 'command', fields: [], attributes: [], by: 'person or script', about: 'No more input: agent-loop, which consumes it, leaves when it is idle.' },
  PERMISSION: {
    kind: 'command',
    fields: [callId, { name: 'decision', type: 'text', values: ['allow', 'always', 'deny'], about: 'what was decided' }],
    attributes: [{ name: 'reason', type: 'text', about: 'why, for the model; that of a person is: the user said no' }],
    by: 'user-prompt; agent-loop when nobody is there',
    about: 'The answer to a PERMISSION_REQUEST.',
  },
  INTERRUPT: {
    kind: 'command',
    fields: [{ name: 'nonce', type: 'text', about: 'new for each interrupt' }],
    attributes: [{ name: 'call', type: 'text', about: 'only the call of this id' }],
    by: 'user-prompt; agent-loop on SIGINT',
    about: 'The turn, or one call, is to end now.',
  },
  CONTROL: {
    kind: 'command',
    fields: [
      { name: 'name', type: 'text', values: ['compact', 'model', 'clear', 'refused'], about: 'what to do; refused: an ERROR that says args' },
      { name: 'args', type: 'text', about: 'with what' },
    ],
    attributes: [],
    by: 'user-prompt',
    about: 'A setting of agent-loop, which consumes it.',
  },
  PROMPT: {
    kind: 'command',
    fields: [text, { name: 'cursor', type: 'integer', about: 'where the cursor stands, in characters' }],
    attributes: [
      { name: 'hint', type: 'text', about: 'what may be typed; stands in place of an empty text' },
      { name: 'note', type: 'text', about: 'lines below it' },
      { name: 'show', type: 'text', about: 'shown once, above it, where it stays' },
      { name: 'bell', type: 'text', about: 'the bell rings, once' },
      { name: 'serial', type: 'integer', about: 'another one each time, so that no two frames are the same' },
    ],
    by: 'user-prompt',
    about: 'What the prompt line looks like; resp-render --tty draws it.',
  },
  HELLO: {
    kind: 'control',
    fields: [
      { name: 'version', type: 'integer', about: 'of the protocol: 1' },
      { name: 'session_id', type: 'text', about: 'of the session' },
    ],
    attributes: [
      { name: 'agent', type: 'text', about: 'name and version of the head' },
      { name: 'cwd', type: 'text', about: 'its working directory' },
      { name: 'model', type: 'text', about: 'that answers' },
      { name: 'answer', type: 'text', values: ['json'], about: 'what the final answer of each turn is, which is checked before STOP; text if left out' },
    ],
    by: 'agent-loop',
    about: 'The first frame. When it has come round, every tool is known.',
  },
  TOOL_DEF: {
    kind: 'control',
    fields: [
      toolName,
      { name: 'description', type: 'text', about: 'for the model' },
      { name: 'input_schema', type: 'json', about: 'JSON Schema of the input' },
    ],
    attributes: [{ name: 'read_only', type: 'text', values: ['true', 'false'], about: 'whether calls change nothing' }],
    by: 'runners',
    about: 'A tool that its writer runs. Stands before HELLO, or comes later; the first definition of a name wins.',
  },
  HISTORY: {
    kind: 'control',
    fields: [{ name: 'event', type: 'text', about: 'type of the recorded frame; its other fields follow' }],
    attributes: [],
    by: 'event-store',
    about: "A whole recorded frame's fields, its type first; agent-loop, which consumes it, rebuilds the conversation from them.",
  },
} as const satisfies Record<string, MessageSpec>

export type Messages = typeof MESSAGES
export type MessageType = keyof Messages

/** The spec of a type, or undefined for a type that we don't know: it passes untouched. */
export function messageSpec(type: string): MessageSpec | undefined {
  return Object.hasOwn(MESSAGES, type) ? MESSAGES[type as MessageType] : undefined
}
