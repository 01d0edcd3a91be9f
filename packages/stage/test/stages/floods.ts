import { command, runStage } from '../../src/index.js'

/** Writes 20 MB of frames, and nothing else goes on in it meanwhile. */
runStage({
  name: 'floods',
  purpose: 'write 20 MB',
  main: command({
    options: {},
    act({ output }) {
      for (let count = 0; count < 2000 && !output.closed; count++) {
        output.send(['TEXT', 'x'.repeat(10_000)])
        if (count % 10 === 0) output.flush()
      }
    },
  }),
  examples: ['floods', 'floods | cat'],
})
