import { legalName, RequestIds } from '../request-calls.js'
import type { Tool } from '../tool-list.js'

/** A tool's name as Google's models take it: letters, digits, `_` and `-`, begun by a letter or `_`. */
export function googleName(name: string): string {
  const legal = legalName(name, 'tool')
  return /^[A-Za-z_]/.test(legal) ? legal : `_${legal}`.slice(0, 64)
}

/** The tools by the names that the model is told, each once: their own, wherever Google takes it. */
export function toolNames(tools: readonly Tool[]): Map<string, Tool> {
  const isLegal = ({ name }: Tool) => googleName(name) === name
  const told = new RequestIds()
  const ordered = [...tools.filter(isLegal), ...tools.filter((tool) => !isLegal(tool))]
  return new Map(ordered.map((tool) => [told.take(googleName(tool.name)), tool]))
}
