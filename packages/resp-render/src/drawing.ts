import type { Frame } from '@agentpipe/frame'
import { type FrameStage, Output } from '@agentpipe/stage'
import { attributesOf } from './attributes.js'
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
 * `--tty`: draws on the terminal, with what PROMPT says below the output, and passes every frame on once it is drawn. A terminal that does
 * nothing but print (TERM=dumb) gets no prompt.
 */
export function drawing(rendering: Rendering, { output, terminal, width }: Places): FrameStage {
  const screen = new Output({ descriptor: terminal })
  const renderer = rendering instanceof Renderer ? rendering : undefined
  const prompt = renderer && process.env.TERM !== 'dumb' ? new PromptLine(renderer.theme) : undefined
  // Asked for as it is drawn: the PROMPT for another width may come before our own SIGWINCH is seen, and with the old width too little would be taken away.
  process.on('SIGWINCH', () => renderer?.resize(width()))
  let bell = ''
  const draw = (changed: boolean) => {
    const text = rendering.take()
    if (text !== '' || changed) screen.write((prompt ? prompt.below(text, width()) : text) + bell)
    bell = ''
    screen.flush()
  }
  let prompted = false
  const takePrompt = (frame: Frame) => {
    const attributes = attributesOf(frame)
    const text = attributes.get('show')
    if (text !== undefined) renderer?.show(text)
    if (attributes.has('bell')) bell = '\x07'
    prompt?.frame(frame)
  }
  const end = () => {
    rendering.end()
    draw(false)
    if (prompt) screen.write(prompt.end(width()))
    screen.flush()
    return undefined
  }
  return {
    outputs: [screen],
    saysLast: true,
    frame(frame) {
      if (frame.type === 'PROMPT') {
        takePrompt(frame)
        prompted = true
      } else rendering.frame(frame)
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
