import type { FieldValue } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import { reason } from '@agentpipe/stage'
import type { Outcome } from './tool.js'
import { ToolError } from './tool-error.js'

/** The TOOL_RESULT of a call, as fields. */
export function resultFields(id: string, name: string, outcome: Outcome, durationMs: number): FieldValue[] {
  const { status, exitCode, signal, summary, diff, fullOutput, image, permission } = outcome
  return messageFields('TOOL_RESULT', [id, name, outcome.output], {
    status,
    exit_code: exitCode,
    signal,
    duration_ms: Math.round(durationMs),
    permission,
    summary: oneLine(summary),
    diff,
    full_output: fullOutput,
    image: image?.data,
    image_type: image?.type,
  })
}

/** The outcome of a call that ended in an error. */
export function failure(error: unknown): Outcome {
  if (error instanceof ToolError) return { status: error.status, output: error.message, summary: error.summary }
  return { status: 'error', output: reason(error), summary: reason(error) }
}

function oneLine(text: string): string {
  const [line = ''] = text.split('\n', 1)
  return line.length <= 200 ? line : `${line.slice(0, 200)}...`
}
