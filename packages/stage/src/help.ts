import type { Command, StageSpec } from './command.js'
import type { OptionSpec, OptionTable } from './option-table.js'

const COLUMNS = 80
const INDENT = 27

/** The `--help` of an executable with its own options; of one with verbs, the verbs too. 24 lines at most, rare options left out. */
export function stageHelp(spec: StageSpec): string {
  const verbs = Object.entries(spec.verbs ?? {}).map(([verb, { operands, purpose }]) =>
    row(`${verb}${operands === undefined ? '' : ` ${operands}`}`, purpose ?? ''),
  )
  const forms = [spec.main ? synopsis(spec.name, spec.main) : undefined, verbs.length > 0 ? `${spec.name} VERB [OPTION...]` : undefined]
  return [
    ...usageLines(forms),
    sentence(spec.purpose),
    ...(verbs.length > 0 ? ['', ...verbs] : []),
    ...optionLines(spec.main?.options ?? {}),
    '',
    ...spec.examples,
    '',
  ].join('\n')
}

/** The `--help` of one verb. */
export function verbHelp(spec: StageSpec, verb: string, command: Command): string {
  return [
    ...usageLines([synopsis(`${spec.name} ${verb}`, command)]),
    sentence(command.purpose ?? ''),
    ...optionLines(command.options),
    '',
    ...(command.examples ?? []),
    '',
  ].join('\n')
}

function usageLines(forms: readonly (string | undefined)[]): string[] {
  return forms.filter((form) => form !== undefined).map((form, index) => `${index === 0 ? 'usage:' : '   or:'} ${form}`)
}

function synopsis(name: string, { options, operands }: Command): string {
  const parts = [name, Object.keys(options).length > 0 ? '[OPTION...]' : '', operands ?? '']
  return parts.filter((part) => part !== '').join(' ')
}

function sentence(purpose: string): string {
  return `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}.`
}

function optionLines(table: OptionTable): string[] {
  const shown = Object.entries(table).filter(([, { rare }]) => !rare)
  return shown.length === 0 ? [] : ['', ...shown.map(([name, spec]) => row(optionForm(name, spec), optionAbout(spec)))]
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

function row(left: string, right: string): string {
  // A long text moves towards its name before it leaves the screen.
  const gap = Math.max(2, Math.min(INDENT - 2 - left.length, COLUMNS - 2 - left.length - right.length))
  return `  ${left}${' '.repeat(gap)}${right}`
}
