import { eastAsianWidth } from 'get-east-asian-width'

/** Told of text in pieces whose width is known. */
export interface CellSink {
  /** ASCII: a cell for each character. LF stands in it as it came. */
  plain(text: string): void
  /** One grapheme cluster, never cut: 0, 1 or 2 cells. */
  cluster(text: string, cells: number): void
}

/** Past this many code units a cluster is cut: the longest emoji has 35, a stack of accents may have a million. */
const LONGEST_CLUSTER = 48
/** How much is given to the segmenter at once. */
const WINDOW = 256

/** Characters that are a cluster each, whatever follows: no segmenter is needed for them. */
const SIMPLE =
  '\\u00a0-\\u00a8\\u00aa-\\u00ac\\u00af-\\u02ff\\u0370-\\u0482\\u048a-\\u052f\\u2010-\\u2027\\u2030-\\u203b\\u2190-\\u2193\\u2200-\\u22ff' +
  '\\u2500-\\u259f\\u25cb\\u25cf\\u2713\\u2717\\u2800-\\u28ff\\u3001-\\u3029\\u3041-\\u3096\\u30a1-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60'
const KEYCAP = '[#*0-9](?=\\ufe0f)'
/** A run of ASCII, of simple characters, or of what has to be segmented. */
const RUNS = new RegExp(`(?:(?!${KEYCAP})[\\n\\x20-\\x7e])+|([${SIMPLE}]+)|((?:${KEYCAP})?[^\\n\\x20-\\x7e${SIMPLE}]+)`, 'g')
const ONLY_PLAIN = /^[\n\x20-\x7e]*$/

/**
 * Text into clusters, however it comes in pieces: what might go on in the next piece is kept back until that is there.
 * Text holds no control characters but LF.
 */
export class Clusters {
  #tail = ''

  push(text: string, sink: CellSink): void {
    const all = this.#tail === '' ? text : this.#tail + text
    this.#tail = ''
    if (ONLY_PLAIN.test(all)) {
      this.#plain(all, sink)
      return
    }
    for (const { 0: run, 1: simple, 2: complex, index } of all.matchAll(RUNS)) {
      const last = index + run.length === all.length
      if (simple !== undefined) for (const character of run) sink.cluster(character, eastAsianWidth(character.charCodeAt(0)))
      else if (complex !== undefined) this.#complex(run, last, sink)
      else if (last) this.#plain(run, sink)
      else sink.plain(run)
    }
  }

  /** Nothing goes on: what was kept back is a cluster. */
  flush(sink: CellSink): void {
    const tail = this.#tail
    this.#tail = ''
    if (tail === '') return
    if (ONLY_PLAIN.test(tail)) sink.plain(tail)
    else sink.cluster(tail, clusterCells(tail))
  }

  #plain(text: string, sink: CellSink): void {
    if (!isKeycapBase(text.charCodeAt(text.length - 1))) {
      sink.plain(text)
      return
    }
    this.#tail = text.slice(-1)
    if (text.length > 1) sink.plain(text.slice(0, -1))
  }

  #complex(run: string, last: boolean, sink: CellSink): void {
    for (let at = 0; at < run.length; ) {
      const window = run.slice(at, at + WINDOW)
      const atEnd = at + window.length === run.length
      for (const { segment, index } of segmenter().segment(window)) {
        const cluster = segment.length > LONGEST_CLUSTER ? segment.slice(0, wholeCharacters(segment, LONGEST_CLUSTER)) : segment
        const whole = cluster.length === segment.length
        const lastOfWindow = index + segment.length === window.length
        if (whole && lastOfWindow && atEnd && last) {
          this.#tail = segment
          return
        }
        if (whole && lastOfWindow && !atEnd) break
        sink.cluster(cluster, clusterCells(cluster))
        at += cluster.length
        if (!whole) break
      }
    }
  }
}

/** `#`, `*` or a digit: with what may follow it is one emoji. */
function isKeycapBase(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x23 || code === 0x2a
}

/** The largest length up to `limit` that does not cut a surrogate pair. */
export function wholeCharacters(text: string, limit: number): number {
  const before = text.charCodeAt(limit - 1)
  return before >= 0xd800 && before < 0xdc00 ? limit - 1 : limit
}

/** Whether a text is ASCII: a cell for each character. */
export function isPlain(text: string): boolean {
  return ONLY_PLAIN.test(text)
}

/** How many cells a text takes that has no line end. */
export function cellsOf(text: string): number {
  if (ONLY_PLAIN.test(text)) return text.length
  let cells = 0
  const sink: CellSink = {
    plain: (run) => {
      cells += run.length
    },
    cluster: (_, width) => {
      cells += width
    },
  }
  const clusters = new Clusters()
  clusters.push(text, sink)
  clusters.flush(sink)
  return cells
}

const INVISIBLE = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]/u
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}{2}|[#*0-9])/u

/** 2 for what is drawn as one emoji; else what UAX #11 says of each character, 0 for what only changes the one before it. */
function clusterCells(cluster: string): number {
  if (EMOJI.test(cluster)) return cluster.includes('\ufe0f') || cluster.length > 3 ? 2 : eastAsianWidth(cluster.codePointAt(0) as number)
  let cells = 0
  for (const character of cluster) if (!INVISIBLE.test(character)) cells += eastAsianWidth(character.codePointAt(0) as number)
  // More than two letters in one cluster: terminals draw them apart, if at all.
  return Math.min(cells, 2)
}

let shared: Intl.Segmenter | undefined

/** Made on first use: it costs 13 ms, and most sessions need none. */
function segmenter(): Intl.Segmenter {
  shared ??= new Intl.Segmenter()
  return shared
}
