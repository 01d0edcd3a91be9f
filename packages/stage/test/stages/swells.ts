import { command, runStage } from '../../src/index.js'

const MEGABYTE = 'x'.repeat(1024 * 1024)

/** Makes a frame of a megabyte of every frame; counts on stderr, at the end, how many it was given. */
runStage({
  name: 'swells',
  purpose: 'answer each frame with a megabyte',
  main: command({
    options: {},
    stage({ output, diagnose }) {
      let count = 0
      return {
        frame() {
          count++
          output.send(['TEXT', MEGABYTE])
        },
        end() {
          diagnose(`${count} frames`)
          return 0
        },
      }
    },
  }),
  examples: ['swells <a', 'swells <b'],
})
