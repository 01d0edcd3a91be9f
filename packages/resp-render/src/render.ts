import { command, type FrameStage, STDOUT, usage } from '@agentpipe/stage'
import { AnswerText } from './answer-text.js'
import { drawing, type Rendering } from './drawing.js'
import type { Cap } from './excerpt.js'
import { following } from './follow.js'
import { Renderer, type RenderOptions } from './renderer.js'
import { Report } from './report.js'
import { colourDepth, isTerminal, openTerminal, takesLinks, terminalWidth } from './terminal.js'
import { themeChoice } from './theme-file.js'

/** `resp-render`: a stage at the end of a ring, or of a capture. */
export const render = command({
  options: {
    format: { type: 'text', value: 'FORMAT', choices: ['ansi', 'text', 'json'], default: 'ansi', about: 'all, or the answer alone' },
    width: { type: 'count', value: 'N', about: "cells of a row (the terminal's, COLUMNS, or 80)" },
    color: { type: 'text', value: 'WHEN', choices: ['auto', 'always', 'never'], default: 'auto', about: 'colours' },
    thinking: { type: 'text', value: 'HOW', choices: ['show', 'brief', 'hide'], default: 'show', about: 'what the model thinks' },
    'tool-output': { type: 'text', value: 'N', offered: ['all', 'none'], default: '10', about: "lines of each tool's output, all or none" },
    theme: { type: 'text', value: 'THEME', offered: ['dark', 'light', 'plain'], about: "dark, light, plain, or a file (the terminal's, or dark)" },
    'tool-colors': { type: 'text', value: 'HOW', choices: ['keep', 'strip'], default: 'keep', about: 'colours that tools print' },
    'wrap-code': { type: 'flag', about: 'wrap lines of code too' },
    tty: { type: 'flag', about: 'draw on the terminal, the prompt below, and pass frames on' },
    follow: { type: 'text', value: 'FILE', about: 'show a capture, and what is appended to it' },
    usage: { type: 'flag', about: 'end each turn in a line of its tokens' },
  },
  stage({ options, output }): FrameStage {
    if (options.tty && options.follow !== undefined) throw usage('--follow: not with --tty, which draws what it passes on')
    const terminal = options.tty ? openTerminal() : STDOUT
    const rendering = renderingFor(options.format, {
      width: terminalWidth(options.width, terminal),
      depth: colourDepth(options.color, process.env, isTerminal(terminal)),
      theme: themeChoice(options.theme),
      thinking: options.thinking,
      toolOutput: outputCap(options['tool-output']),
      toolColours: options['tool-colors'] === 'keep',
      usage: options.usage,
      wrapCode: options['wrap-code'],
      links: takesLinks(),
    })
    if (options.tty) return drawing(rendering, { output, terminal, width: () => terminalWidth(options.width, terminal) })
    const write = () => output.write(rendering instanceof Renderer ? rendering.takeBytes() : rendering.take())
    if (options.follow !== undefined) return following(options.follow, rendering, output, write)
    const end = () => {
      rendering.end()
      write()
      return undefined
    }
    return {
      prints: 'text',
      saysLast: true,
      frame: (frame) => rendering.frame(frame),
      batch: write,
      end,
      cancel: () => void end(),
    }
  },
})

function renderingFor(format: 'ansi' | 'text' | 'json', options: RenderOptions): Rendering {
  if (format === 'text') return new AnswerText()
  return format === 'json' ? new Report() : new Renderer(options)
}

function outputCap(text: string): Cap {
  if (text === 'all') return 'all'
  if (text === 'none') return 0
  if (!/^\d{1,9}$/.test(text)) throw usage(`--tool-output: expected a number of lines, all or none, found ${JSON.stringify(text)}`)
  return Number(text)
}
