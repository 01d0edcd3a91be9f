import type { Command, StageSpec } from './command.js'
import type { OptionSpec, OptionTable } from './option-table.js'

/** Where the texts of options begin, unless all names are short. */
const INDENT = 27
/** Of a text that has no room beside its name. */
const HANGING = 6
/** Fewer columns are too few for a text beside a name. */
const TEXT_COLUMNS = 30

/** A name, and what is said of it. */
type Row = readonly [name: string, about: string]

/**
 * The `--help` of an executable with its own options; of one with verbs, the verbs too. 24 lines at most in 80 columns: rare options are
 * counted, and the man page has them. Lines are broken at `columns`, but never the examples.
 */
export function stageHelp(spec: StageSpec, columns = screenColumns()): string {
  const verbs = Object.entries(spec.verbs ?? {}).map(([verb, { operands, purpose }]): Row => [words(verb, operands), purpose ?? ''])
  const forms = [spec.main ? synopsis(spec.name, spec.main) : undefined, verbs.length > 0 ? `${spec.name} VERB [OPTION...]` : undefined]
  const options = optionRows(spec.main?.options ?? {})
  const indent = Math.min(INDENT, longest([...verbs, ...options]) + 4)
  return [
    ...usageLines(forms, columns),
    ...wrapped(sentence(spec.purpose), columns, '', ''),
    ...section(rowLines(verbs, indent, columns)),
    ...section([...rowLines(options, indent, columns), ...more(spec.name, spec.main?.options ?? {}, columns)]),
    ...section(spec.examples),
    '',
  ].join('\n')
}

/** The `--help` of one verb. */
export function verbHelp(spec: StageSpec, verb: string, command: Command, columns = screenColumns()): string {
  const options = optionRows(command.options)
  const indent = Math.min(INDENT, longest(options) + 4)
  return [
    ...usageLines([synopsis(`${spec.name} ${verb}`, command)], columns),
    ...wrapped(sentence(command.purpose ?? ''), columns, '', ''),
    ...section([...rowLines(options, indent, columns), ...more(spec.name, command.options, columns)]),
    ...section(command.examples ?? []),
    '',
  ].join('\n')
}

/** Of the terminal that diagnostics go to: standard output may be a pager. */
function screenColumns(): number {
  const columns = Number(process.env.COLUMNS) || process.stderr.columns || 80
  return Math.max(columns, 20)
}

function section(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function usageLines(forms: readonly (string | undefined)[], columns: number): string[] {
  return forms
    .filter((form) => form !== undefined)
    .flatMap((form, index) => wrapped(form, columns, index === 0 ? 'usage: ' : '   or: ', ' '.repeat(HANGING + 3)))
}

function synopsis(name: string, { options, operands }: Command): string {
  return words(name, Object.keys(options).length > 0 ? '[OPTION...]' : '', operands)
}

function words(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}

function sentence(purpose: string): string {
  return `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}.`
}

function optionRows(table: OptionTable): Row[] {
  return Object.entries(table)
    .filter(([, { rare }]) => !rare)
    .map(([name, spec]) => [optionForm(name, spec), optionAbout(spec)])
}

/** Says that there are options that only the man page has. */
function more(name: string, table: OptionTable, columns: number): string[] {
  const rare = Object.values(table).filter(({ rare }) => rare).length
  return rare === 0 ? [] : wrapped(`man ${name} has ${rare} more option${rare === 1 ? '' : 's'}`, columns, '  ', '  ')
}

/** `-v, --invert`, `--width N`, `--stream-json[=FD]`. */
export function optionForm(name: string, { short, type, value, optionalValue }: OptionSpec): string {
  const form = `${short === undefined ? '' : `-${short}, `}--${name}`
  if (type === 'flag') return form
  return optionalValue ? `${form}[=${value ?? 'VALUE'}]` : `${form} ${value ?? 'VALUE'}`
}

function optionAbout({ about, choices, default: fallback }: OptionSpec): string {
  const values = choices === undefined ? '' : `: ${choices.join(', ')}`
  return `${about}${values}${fallback === undefined ? '' : ` (${fallback})`}`
}

function longest(rows: readonly Row[]): number {
  return Math.max(0, ...rows.map(([name]) => name.length))
}

function rowLines(rows: readonly Row[], indent: number, columns: number): string[] {
  if (columns - indent < TEXT_COLUMNS) {
    const hanging = ' '.repeat(HANGING)
    return rows.flatMap(([name, about]) => [`  ${name}`, ...wrapped(about, columns, hanging, hanging)])
  }
  return rows.flatMap(([name, about]) => wrapped(about, columns, `  ${name}`.padEnd(indent - 2).concat('  '), ' '.repeat(indent)))
}

/** `text` in lines of at most `columns`, broken at blanks; what is longer than a line stays whole. */
function wrapped(text: string, columns: number, first: string, other: string): string[] {
  const lines: string[] = []
  let line = first
  for (const [index, word] of text.split(' ').entries()) {
    if (index > 0 && line.length + 1 + word.length > columns && line !== other) {
      lines.push(line)
      line = `${other}${word}`
    } else line += index === 0 ? word : ` ${word}`
  }
  return [...lines, line]
}
