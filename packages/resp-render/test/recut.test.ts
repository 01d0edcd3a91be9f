import fc from 'fast-check'
import t from 'tap'
import { cellsOf } from '../src/cells.js'
import type { RenderOptions } from '../src/renderer.js'
import { render } from './render.js'

/** What makes trouble: characters of several bytes, units and cells, sequences, what ends lines and words. */
const ATOMS = [
  ...[
    'a',
    'word',
    'x'.repeat(40),
    ' ',
    '  ',
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\t',
    '#',
    '7',
    'é',
    'e\u0301',
    '漢字',
    'か\u3099',
    '👨‍👩‍👧',
    '❤️',
    '🇯🇵',
    '🇯',
    '1\ufe0f\u20e3',
    '🏻',
  ],
  ...[
    'ก็',
    'नमस्ते',
    '한글',
    '\u1112\u1161\u11ab',
    '\u0301'.repeat(60),
    '🏴\u{e0067}\u{e007f}',
    '\u200b',
    '\u202e',
    '\u{e0041}',
    '\b',
    '\x07',
    '\x1b',
    '\x1b[31m',
    '\x1b[0m',
  ],
  ...['\x1b]0;t\x07', '\x1b]52;c;xx', '\x1b\\', '\x1b(0', '\u009b2J', '\u009d0;x\u009c', '\x1b[K', '\x1b[2K', '\x1bP', '\u0085', '\x7f'],
]

/** Markup, and what looks like it. */
const MARKUP = [
  ...[
    '*',
    '**',
    '_',
    '`',
    '``',
    '~~',
    '~',
    '[',
    '](',
    ']',
    '](http://a.b/c_d*e "t")',
    '][r]',
    '!',
    '<',
    '>',
    '<b>',
    '</b',
    '<http://x.y>',
    '&amp;',
    '&#x1b;',
    '&#x202e;',
    '&',
  ],
  ...[
    '\\',
    '\n- ',
    '\n* ',
    '\n  - ',
    '\n1. ',
    '\n10) ',
    '\n> ',
    '>',
    '\n# ',
    '\n### x ##',
    '\n===',
    '\n---',
    '\n***',
    '\n    ',
    '\n\t',
    '\n```',
    '\n```js\n',
    '\n~~~',
  ],
  ...[
    '|',
    '\n|a|b|\n',
    '\n|-|:-:|\n',
    '\n-|-\n',
    ' | ',
    '\\|',
    '[x] ',
    '[ ] ',
    '\n[r]: u',
    '\n[r]: http://u/ "t"\n',
    '[^1]:',
    '<!--',
    '-->',
    '\n<div>\n',
    '<br>',
    'https://x.y/z_a*',
    'http',
    'const a = `x',
    '/* ',
  ],
]

const text = fc.array(fc.oneof(fc.constantFrom(...ATOMS), fc.constantFrom(...MARKUP)), { maxLength: 40 }).map((atoms) => atoms.join(''))
const width = fc.constantFrom(1, 2, 5, 20, 33, 80)
const cap = fc.constantFrom(0, 2, 10, 'all' as const)
const MAKERS: readonly ((piece: Buffer) => readonly (string | Buffer)[])[] = [
  (piece) => ['TEXT', piece],
  (piece) => ['THINKING', piece],
  (piece) => ['TOOL_OUTPUT', 'c1', piece],
]

t.test('the same text is the same screen, however it is cut into frames', async () => {
  fc.assert(
    fc.property(text, width, cap, fc.nat(), (text, width, toolOutput, at) => {
      const bytes = Buffer.from(text)
      const cut = at % (bytes.length + 1)
      return MAKERS.every((frame) => {
        const shown = (...pieces: readonly Buffer[]) => render(pieces.map(frame), { width, depth: 16, toolOutput })
        const whole = shown(bytes)
        return shown(bytes.subarray(0, cut), bytes.subarray(cut)) === whole && shown(...Array.from(bytes, (byte) => Buffer.from([byte]))) === whole
      })
    }),
    { numRuns: 200 },
  )
})

t.test('whatever a field holds: no escape, no control character, no line over the width', async () => {
  fc.assert(
    fc.property(text, width, (text, width) => {
      const shown = (options: Partial<RenderOptions>) => render(everywhere(text), { width, wrapCode: true, ...options })
      const screen = shown({})
      const coloured = shown({ depth: 16777216, links: true, toolColours: false })
      return isSafe(screen) && isSafe(bare(coloured)) && (width === 1 || screen.split('\n').every((line) => cellsOf(line) <= width))
    }),
    { numRuns: 200 },
  )
})

/** A text in every field that is shown. */
function everywhere(text: string): readonly (readonly string[])[] {
  return [
    ...[
      ['USER_MESSAGE', text],
      ['THINKING', text],
      ['TEXT', text],
      ['TOOL_CALL', text, text, text],
      ['TOOL_CALL', 'Bash', 'c1', JSON.stringify({ command: text })],
    ],
    ...[
      ['TOOL_OUTPUT', 'c1', text],
      ['TOOL_RESULT', 'c1', 'Bash', text, 'status', text, 'summary', text, 'diff', `@@ -1 +1 @@\n-${text}\n+${text}`],
    ],
    ...[
      ['TOOL_RESULT', text, text, text],
      ['SUB_AGENT_RESULT', text, text, text],
      ['RETRY', 'reason', text],
      ['ERROR', text, 'source', text],
    ],
    ...[
      ['PERMISSION_REQUEST', text, text, text, 'input', text],
      ['CONTEXT_UPDATE', text, text],
      ['STOP', text],
    ],
  ]
}

/** Nothing that acts on a terminal, or that is not seen. */
function isSafe(screen: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return !/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]/.test(screen)
}

/** Without the sequences that are ours: looks, and links to where a reader may go. */
function bare(screen: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return screen.replace(/\x1b\[[\d;]*m|\x1b\]8;;\x1b\\|\x1b\]8;id=\d+;(?:https?|mailto):[!-~]+\x1b\\/gi, '')
}
