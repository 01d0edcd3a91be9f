import { checkInput, type InputOf, type InputSchema, validatorOf } from './input-schema.js'
import type { LiveOutput } from './live-output.js'
import type { Status } from './tool-error.js'

/** Something that the model can call. */
export interface Tool {
  readonly name: string
  /** For the model. */
  readonly description: string
  /** JSON Schema. */
  readonly inputSchema: object
  /** Calls change nothing: they may run side by side, and in every mode. */
  readonly readOnly: boolean
  /** It asks the policy itself about what a call is to do; for others the policy judges the tool as a whole. */
  readonly judgesItself?: true
  /** Gets ready for the first call, which need not wait for it then. */
  warmUp?(): Promise<unknown>
  /** Runs one call; `input` is the JSON text that the model wrote. A ToolError is the call's answer, and so is any other error. */
  run(input: string, call: Call): Promise<Outcome>
}

/** What a tool knows of the call that it answers. */
export interface Call {
  readonly id: string
  readonly tool: string
  /** JSON text, as the model wrote it. */
  readonly input: string
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal
  readonly live: LiveOutput
}

export interface Image {
  /** Base64. */
  readonly data: string
  /** Media type, image/png. */
  readonly type: string
}

/** What becomes a TOOL_RESULT. */
export interface Outcome {
  readonly status: Status
  /** For the model. */
  readonly output: string | Buffer
  /** For people, one line. */
  readonly summary: string
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  /** Unified. */
  readonly diff?: string | undefined
  /** Path of a file with the whole output, when `output` was cut. */
  readonly fullOutput?: string | undefined
  readonly image?: Image | undefined
  /** Who decided that it may be done, where that was a rule or a person. */
  readonly permission?: string | undefined
}

/** A tool as it is written down: `run` gets an input that keeps to the schema. */
export interface ToolSpec<Schema extends InputSchema> {
  readonly name: string
  readonly description: string
  readonly inputSchema: Schema
  readonly readOnly: boolean
  readonly judgesItself?: true
  run(input: InputOf<Schema>, call: Call): Promise<Outcome>
}

/** A tool whose input is checked against its schema before it runs. */
export function defineTool<const Schema extends InputSchema>(spec: ToolSpec<Schema>): Tool {
  return {
    ...spec,
    warmUp: () => validatorOf(spec.inputSchema),
    run: async (input, call) => spec.run(await checkInput(spec.name, spec.inputSchema, input), call),
  }
}
