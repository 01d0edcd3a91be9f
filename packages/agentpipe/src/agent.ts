import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { command, usage } from '@agentpipe/stage'
import { OPTIONS } from './options.js'
import { readPrompt } from './prompt.js'
import { writeScript } from './script.js'
import { supervise } from './supervisor.js'

/** `agentpipe [PROMPT]`: writes the wiring as a script, and runs it; or prints it. */
export const main = command({
  options: OPTIONS,
  operands: '[PROMPT]',
  async act({ options, operands, output, diagnose }) {
    if (options.continue && options.session !== undefined) throw usage('--continue and --session exclude each other')
    const prompt = await readPrompt(operands, diagnose)
    const script = writeScript(options, prompt, dirname(realpathSync(process.argv[1] as string)))
    if (!options['print-script']) return supervise(script)
    output.write(script)
  },
})
