/** Addresses that are longer are not given to a terminal. */
const LONGEST_ADDRESS = 2000

/** Whether a terminal is told to open an address: only what a reader takes for a link, and nothing that could end the sequence. */
export function canOpen(address: string): boolean {
  return address.length <= LONGEST_ADDRESS && /^(?:https?|mailto):[!-~]+$/i.test(address)
}

/** The address that is shown behind the text of a link, '' for none: the text is the address, or the terminal knows it and the text names no other. */
export function addressToShow(address: string, text: string, links: boolean): string {
  if (address === '' || address.startsWith('#') || same(address, text)) return ''
  return links && canOpen(address) && !looksLikeAddress(text) ? '' : address
}

function same(address: string, text: string): boolean {
  const bare = (value: string) => value.replace(/^(?:mailto:|https?:\/\/)/i, '').replace(/\/$/, '')
  return bare(address) === bare(text.trim())
}

function looksLikeAddress(text: string): boolean {
  return /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|[\w-]+(?:\.[\w-]+)+(?:[/?#:]|\s*$))/i.test(text)
}

/** Where addresses stand in a text, without the punctuation behind them. */
export function* addressesIn(text: string): Generator<{ readonly start: number; readonly end: number }> {
  if (!text.includes('://')) return
  for (const { 0: found, index } of text.matchAll(/(?<![A-Za-z0-9+.-])https?:\/\/[!-;=?-~]+/gi)) {
    let end = found.length
    while (end > 0 && isBehind(found, end)) end--
    if (end > found.indexOf('://') + 3) yield { start: index, end: index + end }
  }
}

/** Whether the last character belongs to the sentence; a closing parenthesis does unless the address has the opening one. */
function isBehind(address: string, end: number): boolean {
  const last = address[end - 1] as string
  if (last !== ')') return '.,;:!?\'"*_~`]'.includes(last)
  const inside = address.slice(0, end)
  return inside.split(')').length > inside.split('(').length
}
