import { command, EXIT, readAll, StageError, usage } from '@agentpipe/stage'

/** `resp write TYPE [FIELD...]`: one frame. A field `-` is what stands on stdin, byte for byte. */
export const write = command({
  purpose: 'write one frame; a field - is read from stdin',
  options: {},
  operands: 'TYPE [FIELD...]',
  operandsEndOptions: true,
  examples: ['resp write TEXT hello', 'git diff | resp write USER_INPUT -'],
  act({ operands, output }) {
    if (operands.length === 0) throw usage('write needs a TYPE; see --help')
    if (operands.filter((field) => field === '-').length > 1) throw usage('write reads stdin once: only one field may be -')
    const fields = operands.map((field) => (field === '-' ? readAll(0) : field))
    try {
      output.send(fields)
    } catch (error) {
      throw new StageError(EXIT.USAGE, (error as Error).message)
    }
  },
})
