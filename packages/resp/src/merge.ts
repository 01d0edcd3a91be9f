import { command, EXIT, Output, reason, usage, watchOwner } from '@agentpipe/stage'
import { mergeInput, openInput } from './merged-input.js'

/**
 * `resp merge FILE...`: the frames of several inputs in one stream, each frame as soon as it is whole. `-` is stdin; at its end
 * END is sent, so that agent-loop knows that no more input comes though the back edge goes on.
 */
export const merge = command({
  purpose: 'join inputs side by side; END follows stdin (-)',
  options: {},
  operands: 'FILE...',
  examples: ['resp write TEXT one > one.resp; resp write TEXT two > two.resp', 'resp merge one.resp two.resp | resp dump'],
  act({ operands, diagnose, trace }) {
    if (operands.length === 0) throw usage('merge needs a FILE, or - for stdin; see --help')
    if (operands.filter((file) => file === '-').length > 1) throw usage('merge reads stdin once: only one FILE may be -')
    // Ctrl-C reaches every process of a pipeline. What comes round then is still needed: the results, and STOP.
    process.on('SIGINT', () => {})
    const inputs = operands.map(openInput)
    // Not the context's output, which blocks: a reader that is slow must not keep us from noticing that our owner is gone.
    const output = new Output({ trace })
    return new Promise((leave) => {
      output.onClosed = () => leave(EXIT.OK)
      output.onError = (error) => {
        diagnose(`cannot write to standard output: ${reason(error)}`)
        leave(EXIT.IO)
      }
      watchOwner(() => leave(EXIT.UNAVAILABLE))
      Promise.all(inputs.map((input) => mergeInput(input, { output, diagnose, trace }))).then(async (statuses) => {
        await output.finished()
        leave(Math.max(...statuses))
      })
    })
  },
})
