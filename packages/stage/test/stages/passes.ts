import { command, runStage } from '../../src/index.js'

/** Passes every frame on. */
runStage({
  name: 'passes',
  purpose: 'pass every frame on',
  main: command({ options: {}, stage: ({ output }) => ({ frame: (frame) => output.pass(frame) }) }),
  examples: ['passes <a', 'passes <b'],
})
