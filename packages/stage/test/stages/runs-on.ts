import { command, runStage } from '../../src/index.js'

/** Has something running from its first frame on that ends only when it is cancelled; passes frames on, and says INTERRUPT and CANCEL. */
runStage({
  name: 'runs-on',
  purpose: 'be busy until it is cancelled',
  main: command({
    options: {},
    stage({ output }) {
      const running = setInterval(() => {}, 1000)
      return {
        frame: (frame) => output.pass(frame),
        end: () => new Promise<undefined>(() => {}),
        interrupt: () => output.send(['INTERRUPTED']),
        cancel() {
          clearInterval(running)
          output.send(['CANCELLED'])
        },
      }
    },
  }),
  examples: ['runs-on <a', 'runs-on <b'],
})
