import { openSync } from 'node:fs'
import { type Frame, FrameError } from '@agentpipe/frame'
import { messageSpec } from '@agentpipe/message'
import { command, EXIT, eachFrame, systemError, usage } from '@agentpipe/stage'
import { shownKey, shownValue } from './shown-field.js'

/** `resp dump [FILE]`: frames as text for people, one field a line, safe on a terminal. Also git's textconv for captures. */
export const dump = command({
  purpose: 'print frames for people to read, and git to diff',
  options: {
    full: { type: 'flag', about: 'print long fields whole' },
    lenient: { type: 'flag', about: 'leave with 0 though the frames are damaged' },
  },
  operands: '[FILE]',
  examples: ['resp write TOOL_CALL Bash c1 {} | resp dump', "git config --global diff.resp.textconv 'resp dump --lenient'"],
  act(context) {
    const { operands, options, output } = context
    if (operands.length > 1) throw usage(`dump takes one FILE, found ${operands.length}; see --help`)
    const descriptor = open(operands[0] ?? '-')
    try {
      eachFrame(context, descriptor, (frame) => output.write(dumpFrame(frame, options.full)))
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      output.write(`damaged: ${error.message}\n`)
      output.flush()
      if (!options.lenient) throw error
    }
  },
})

function open(file: string): number {
  if (file === '-') return 0
  try {
    return openSync(file, 'r')
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot open ${file}`, error)
  }
}

/**
 * The type, then a line for each field: its name, its length in bytes, its text. `+` marks an attribute. Where the frame stands
 * in its stream is not said: a diff of two dumps shows what changed and nothing else.
 */
function dumpFrame(frame: Frame, full: boolean): string {
  const spec = messageSpec(frame.type)
  // The fields of a type that we don't know, or of the frame that a HISTORY holds, may be anything: they are numbered.
  const attributesAt = spec === undefined || frame.type === 'HISTORY' ? frame.count : spec.fields.length + 1
  const lines = [shownKey(frame.field(0) as Buffer)]
  for (let index = 1; index < frame.count; index++) {
    const value = frame.field(index) as Buffer
    const isKey = index >= attributesAt && index + 1 < frame.count
    lines.push(
      isKey
        ? `  + ${shownKey(value)}${shownValue(frame.field(++index) as Buffer, full)}`
        : `  ${spec?.fields[index - 1]?.name ?? index}${shownValue(value, full)}`,
    )
  }
  return `${lines.join('\n')}\n`
}
