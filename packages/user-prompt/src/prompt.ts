import { command, descriptorKind, EXIT, type FrameStage } from '@agentpipe/stage'
import { followErrors } from './errors-file.js'
import { Keys } from './keys.js'
import { Prompter } from './prompter.js'
import { Terminal } from './terminal.js'

/** `user-prompt`: the beginning of an interactive ring, what comes round on its standard input. */
export const prompt = command({
  options: {
    errors: { type: 'text', value: 'FILE', about: 'show what stages write there' },
    next: { type: 'text', value: 'FILE', about: 'where /resume writes the session to go on with' },
    bell: { type: 'flag', about: 'ring the bell when a turn ends, and when something is asked' },
  },
  stage({ options, output }): FrameStage {
    // Nothing comes round where it was started by itself: then only keys count.
    const ring = descriptorKind(0) === 'pipe'
    let leave: (status: number) => void = () => {}
    const done = new Promise<number>((resolve) => {
      leave = resolve
    })
    const prompter = new Prompter({ output, ring, bell: options.bell, next: options.next, suspend: () => terminal.suspend(), leave })
    const keys = new Keys((press) => prompter.press(press))
    const terminal = new Terminal({ keys: (bytes) => keys.push(bytes), gone: () => prompter.leave(), shown: () => prompter.redraw() })
    // A trace of what is shown would be shown, and so on for ever.
    if (options.errors !== undefined && !process.env.AGENTPIPE_TRACE) followErrors(options.errors, (lines) => prompter.show(lines))
    prompter.redraw()
    return {
      noTerminal: true,
      done,
      frame: (frame) => prompter.frame(frame),
      end() {
        if (!ring) return done
        terminal.restore()
        return prompter.leaving ? EXIT.OK : EXIT.UNAVAILABLE
      },
      cancel() {
        terminal.restore()
        prompter.leave()
      },
    }
  },
})
