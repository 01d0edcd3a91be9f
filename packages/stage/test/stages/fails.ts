import { command, EXIT, runStage, StageError } from '../../src/index.js'

/** Passes frames on up to one whose first field says how it is to fail. */
runStage({
  name: 'fails',
  purpose: 'fail as it is told to',
  main: command({
    options: {},
    stage: ({ output }) => ({
      frame(frame) {
        output.pass(frame)
        const how = frame.text(1)
        if (how === 'stage error') throw new StageError(EXIT.TRY_AGAIN, 'busy\x1b[2J')
        if (how === 'bug') throw new TypeError('x is not a function')
        if (how === 'later') setTimeout(() => missing())
        if (how === 'rejection') Promise.reject(new Error('nobody caught it'))
      },
      end: () => 3,
    }),
  }),
  examples: ['fails <a', 'fails <b'],
})

function missing(): never {
  throw new TypeError('thrown from a timer')
}
