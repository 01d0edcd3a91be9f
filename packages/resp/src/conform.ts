import { command, EXIT, printable, usage, watchOwner } from '@agentpipe/stage'
import { POINTS } from './conform-points.js'
import { Trial } from './conform-trial.js'

const NOT_CONFORMING = 1

/**
 * `resp conform -- COMMAND...`: starts a stage again and again, feeds it what is ugly, and says for each point of the stage contract (messages(7)) whether
 * it keeps it. What it sends are frames of types that nobody knows, so that nothing is run or recorded. Status 0 if all is well, else 1.
 */
export const conform = command({
  purpose: 'say whether a stage keeps the contract of stages',
  options: { timeout: { type: 'seconds', value: 'S', default: 10, about: 'how long to wait for each answer' } },
  operands: '-- COMMAND...',
  operandsEndOptions: true,
  examples: ["resp conform -- cat || echo 'cat checks nothing'", "resp conform --timeout 2 -- sh -c 'tee taken' || echo 'nor does tee'"],
  async act({ operands, options, output }) {
    const [file, ...args] = operands
    if (file === undefined) throw usage('conform needs the COMMAND that is a stage; see --help')
    watchOwner(() => process.exit(EXIT.UNAVAILABLE))
    let failed = 0
    for (const { name, check } of POINTS) {
      const wrong = await Trial.each([file, ...args], options.timeout * 1000, check)
      if (wrong !== undefined) failed++
      output.write(wrong === undefined ? `ok    ${name}\n` : `FAIL  ${name}: ${printable(wrong)}\n`)
      output.flush()
    }
    output.write(failed === 0 ? 'it keeps the contract\n' : `${failed} of ${POINTS.length} points are not kept\n`)
    return failed === 0 ? EXIT.OK : NOT_CONFORMING
  },
})
