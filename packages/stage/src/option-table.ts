/**
 * One option of an executable. Its flag, its environment variable, its place in the config file and its line in `--help`
 * derive from this.
 */
export interface OptionSpec {
  /**
   * `text`: any string. `count`: a whole number from 0. `size`: bytes, with k, m, g. `seconds`: a time, with ms, s, m, h.
   * `flag`: there or not. `list`: given any number of times.
   */
  readonly type: 'text' | 'count' | 'size' | 'seconds' | 'flag' | 'list'
  /** One line, without full stop. */
  readonly about: string
  /** What stands for the value in help: `FILE`. */
  readonly value?: string
  /** The only values that a text may have. */
  readonly choices?: readonly string[]
  /** Values that shells complete, of an option that may have others: `NAME=` where more has to follow. */
  readonly offered?: readonly string[]
  /** A value when the option is given nowhere. */
  readonly default?: string | number
  /** A one-letter form. */
  readonly short?: string
  /** The value may be left out (`--stream-json`, `--stream-json=3`): then it is ''. */
  readonly optionalValue?: true
  /** Variables of other programs that count where ours is not set, first one first. */
  readonly environment?: readonly string[]
  /** Left out of --help; the man page has it. */
  readonly rare?: true
}

export type OptionTable = Readonly<Record<string, OptionSpec>>

type Value<Spec extends OptionSpec> = Spec['type'] extends 'flag'
  ? boolean
  : Spec['type'] extends 'list'
    ? readonly string[]
    : (Spec['type'] extends 'text' ? (Spec extends { choices: readonly (infer Choice)[] } ? Choice : string) : number) | Missing<Spec>

type Missing<Spec extends OptionSpec> = Spec extends { default: string | number } ? never : undefined

/** The values of a table's options, by flag name. A `seconds` value is in seconds, a `size` in bytes. */
export type OptionValues<Table extends OptionTable> = { readonly [Name in keyof Table]: Value<Table[Name]> }
