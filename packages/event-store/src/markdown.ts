import { printable } from '@agentpipe/stage'
import type { Block } from './blocks.js'
import type { Session } from './sessions.js'

/** A session as a document to be read: prompts and answers as they are, what was thought and what tools said folded away. */
export function* markdown({ id }: Session, blocks: Iterable<Block>): Generator<string> {
  yield `# Session ${id}\n`
  let speaker = ''
  for (const block of blocks) {
    const said = sectionOf(block)
    if (said === undefined) continue
    if (said.speaker !== speaker) yield `\n## ${said.speaker}${said.speaker === USER ? ` · ${block.time.slice(0, 19).replace('T', ' ')}` : ''}\n`
    speaker = said.speaker === USER ? '' : said.speaker
    yield `\n${said.text}\n`
  }
}

const USER = 'User'
const AGENT = 'Agent'

function sectionOf(block: Block): { speaker: string; text: string } | undefined {
  const { type, name = '', status, text } = block
  switch (type) {
    case 'USER_MESSAGE':
      return { speaker: USER, text: safe(text) }
    case 'TEXT':
      return { speaker: AGENT, text: safe(text) }
    case 'THINKING':
      return text === '' ? undefined : { speaker: AGENT, text: folded('Thinking', safe(text)) }
    case 'TOOL_CALL':
      return { speaker: AGENT, text: `**${inline(name)}**\n\n${fenced(indented(text), 'json')}` }
    case 'TOOL_RESULT':
      return { speaker: AGENT, text: folded(`${inline(name)}: ${inline(status ?? 'ok')}`, fenced(text)) }
    case 'SUB_AGENT_RESULT':
      return { speaker: AGENT, text: folded('Sub-agent', safe(text)) }
    case 'CONTEXT_UPDATE':
      return { speaker: AGENT, text: folded(text === '' ? 'Context forgotten' : 'Context summarised', safe(text)) }
    case 'ERROR':
      return { speaker: AGENT, text: `> **Error:** ${inline(text)}` }
    case 'STOP':
      return text === 'end_turn' ? undefined : { speaker: AGENT, text: `> Stopped: ${inline(text)}` }
    default:
      return undefined
  }
}

function folded(title: string, text: string): string {
  return `<details><summary>${title}</summary>\n\n${text}\n\n</details>`
}

/** A fence that is longer than any run of backticks in what it holds. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${safe(text)}${text.endsWith('\n') || text === '' ? '' : '\n'}${fence}`
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

/** On one line, without meaning in Markdown or HTML. */
function inline(text: string): string {
  return printable(text).replace(/[<&*_`[\]]/g, (character) => (character === '<' ? '&lt;' : character === '&' ? '&amp;' : `\\${character}`))
}

/** What a terminal would act on as visible escapes; lines and tabs stay. */
function safe(text: string): string {
  return text.replace(/[^\n\t]+/g, printable)
}
