import type { Container, List } from './containers.js'
import type { LineKind } from './line-kinds.js'

const BULLETS = ['•', '◦', '▪']

type Item = Extract<Container, { type: 'item' }>

/** The item that a marker begins in `parents`. `before` is what was open at its place: if that is an item of the same sort, it is the next one of its list. */
export function newItem(
  { sign, number, empty }: Extract<LineKind, { type: 'item' }>,
  indent: number,
  parents: readonly Container[],
  before: Container | undefined,
): Item {
  const sibling = before?.type === 'item' && before.list.sign === sign
  const list: List = sibling ? before.list : { sign, next: number }
  const depth = parents.filter((each) => each.type === 'item' && each.list.next === undefined).length
  const marker = list.next === undefined ? (BULLETS[depth % BULLETS.length] as string) : `${list.next}${sign}`
  return { type: 'item', list, indent, marker, cells: marker.length + 1, empty }
}

/** The item as a thing to do: its box stands in place of its bullet, or behind its number. */
export function asTask(item: Item, done: boolean): Container {
  const box = done ? '☑' : '☐'
  const marker = item.list.next === undefined ? box : `${item.marker} ${box}`
  return { ...item, marker, cells: marker.length + 1 }
}
