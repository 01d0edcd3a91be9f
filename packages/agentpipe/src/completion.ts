import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { command, EXIT, reason, StageError, usage } from '@agentpipe/stage'

/** Where scripts/completions.mjs puts them, below share/. */
const FILES: Readonly<Record<string, string>> = {
  bash: 'bash-completion/completions/agentpipe',
  zsh: 'zsh/site-functions/_agentpipe',
  fish: 'fish/vendor_completions.d/agentpipe.fish',
}

/** `agentpipe completion SHELL`: what completes all executables in a shell, as it was made when they were built. */
export const completion = command({
  purpose: 'print what completes words in bash, zsh or fish',
  options: {},
  operands: 'SHELL',
  examples: ['agentpipe completion bash | bash -n', 'agentpipe completion fish | head -1'],
  act({ operands, output }) {
    const [shell = ''] = operands
    const file = Object.hasOwn(FILES, shell) ? FILES[shell] : undefined
    if (operands.length !== 1 || file === undefined)
      throw usage(`completion: expected one of ${Object.keys(FILES).join(', ')}, found ${JSON.stringify(operands.join(' '))}`)
    const path = join(dirname(realpathSync(process.argv[1] as string)), '..', '..', 'share', file)
    let script: Buffer
    try {
      script = readFileSync(path)
    } catch (error) {
      throw new StageError(EXIT.UNAVAILABLE, `cannot read ${path}: ${reason(error)}: build or install agentpipe again`)
    }
    output.write(script)
  },
})
