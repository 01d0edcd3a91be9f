import { parentPort, workerData } from 'node:worker_threads'
import { gfm } from '@joplin/turndown-plugin-gfm'
import Turndown from 'turndown'

// A thread of its own: a page that was made to be slow to convert holds up nobody, and can be given up.
const { html, url } = workerData as { readonly html: string; readonly url: string }
parentPort?.postMessage(markdownOf(html, url))

/** A page as markdown, its links absolute. */
function markdownOf(page: string, base: string): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' })
  turndown.use(gfm)
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object', 'canvas', 'select', 'button'])
  // What is in no table of elements of ours, since the types know HTML alone.
  turndown.remove((node) => ['svg', 'math', 'dialog'].includes(node.nodeName.toLowerCase()))
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const address = absolute((node as Element).getAttribute('href'), base)
      const text = content.trim().replace(/\s+/g, ' ')
      return text === '' || address === undefined ? content : `[${text}](${address})`
    },
  })
  turndown.addRule('image', {
    filter: 'img',
    replacement: (_, node) => {
      const alternative = (node as Element).getAttribute('alt')?.trim().replace(/\s+/g, ' ')
      return alternative ? `[image: ${alternative}]` : ''
    },
  })
  return turndown.turndown(page).trim()
}

interface Element {
  getAttribute(name: string): string | null
}

/** Undefined for a place in the page itself, and for what is no address of the web. */
function absolute(href: string | null, base: string): string | undefined {
  if (!href || href.startsWith('#') || !URL.canParse(href, base)) return undefined
  const { protocol, href: whole } = new URL(href, base)
  return /^(https?|mailto|ftp):$/.test(protocol) ? whole : undefined
}
