import { DEFAULT_LIMITS, type FieldValue } from '@agentpipe/frame'
import { command, EXIT, readAll, reason, StageError, systemError, usage } from '@agentpipe/stage'
import { rawOperands } from './raw-operands.js'

/** `resp write TYPE [FIELD...]`: one frame. A field `-` is what stands on stdin; fields keep their bytes, whatever they are. */
export const write = command({
  purpose: 'write one frame; a field - is read from stdin',
  options: {},
  operands: 'TYPE [FIELD...]',
  operandsEndOptions: true,
  examples: ['resp write TEXT hello', 'date | resp write USER_INPUT - | resp dump'],
  act({ operands, output }) {
    if (operands.length === 0) throw usage('write needs a TYPE; see --help')
    if (operands.filter((field) => field === '-').length > 1) throw usage('write reads stdin once: only one field may be -')
    const fields = rawOperands(operands).map((field) => (field === '-' ? standardInput() : field))
    try {
      output.send(fields)
    } catch (error) {
      throw new StageError(EXIT.USAGE, reason(error))
    }
  },
})

function standardInput(): FieldValue {
  try {
    // A byte past the limit is enough to be refused: what never ends is not read to the end.
    return readAll(0, DEFAULT_LIMITS.fieldBytes + 1)
  } catch (error) {
    throw systemError(EXIT.IO, 'cannot read standard input', error)
  }
}
