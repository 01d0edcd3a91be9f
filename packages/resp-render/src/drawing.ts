import type { Frame } from '@agentpipe/frame'
import { type FrameStage, Output } from '@agentpipe/stage'
import { PromptLine } from './prompt-line.js'
import { Renderer } from './renderer.js'

/** What makes output of frames: it is given each, and asked for what can be written so far. */
export interface Rendering {
  frame(frame: Frame): void
  take(): string
  end(): void
}

interface Places {
  /** Where frames go on to. */
  readonly output: Output
  /** The terminal's descriptor. */
  readonly terminal: number
  /** Its width now. */
  readonly width: () => number
}

/**
 * `--tty`: draws on the terminal, with what PROMPT says below the output, and passes every other frame on once it is drawn. A terminal that does
 * nothing but print (TERM=dumb) gets no prompt.
 */
export function drawing(rendering: Rendering, { output, terminal, width }: Places): FrameStage {
  const screen = new Output({ descriptor: terminal })
  const renderer = rendering instanceof Renderer ? rendering : undefined
  const prompt = renderer && process.env.TERM !== 'dumb' ? new PromptLine(renderer.theme) : undefined
  let columns = width()
  process.on('SIGWINCH', () => {
    columns = width()
    renderer?.resize(columns)
  })
  const draw = (changed: boolean) => {
    const text = rendering.take()
    if (text !== '' || changed) screen.write(prompt ? prompt.below(text, columns) : text)
    screen.flush()
  }
  let prompted = false
  const end = () => {
    rendering.end()
    draw(false)
    if (prompt) screen.write(prompt.end())
    screen.flush()
    return undefined
  }
  return {
    outputs: [screen],
    frame(frame) {
      if (frame.type === 'PROMPT') {
        if (prompt) prompt.frame(frame)
        prompted = true
        return
      }
      rendering.frame(frame)
      output.pass(frame)
    },
    batch() {
      draw(prompted)
      prompted = false
    },
    end,
    cancel: () => void end(),
  }
}
