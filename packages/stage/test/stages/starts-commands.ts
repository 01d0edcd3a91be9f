import { spawn } from 'node:child_process'
import { command, killGroup, Reaper, runStage } from '../../src/index.js'

/** Runs the command that each TEXT holds in a process group that the reaper knows; sends its pid. */
runStage({
  name: 'starts-commands',
  purpose: 'run commands',
  main: command({
    options: {},
    stage({ output }) {
      const reaper = new Reaper()
      return {
        frame(frame) {
          const child = spawn('/bin/sh', ['-c', frame.text(1) ?? ''], { detached: true, stdio: 'ignore' })
          const group = child.pid as number
          reaper.add(group)
          child.on('exit', () => {
            killGroup(group, 'SIGKILL')
            reaper.remove(group)
            output.send(['ENDED', `${group}`])
          })
          output.send(['STARTED', `${group}`])
        },
        end: () => new Promise<undefined>(() => {}),
        cancel: () => reaper.close(),
      }
    },
  }),
  examples: ['starts-commands <a', 'starts-commands <b'],
})
