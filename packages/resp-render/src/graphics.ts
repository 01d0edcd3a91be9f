type Attribute = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'struck' | 'foreground' | 'background'

const ON: Readonly<Record<number, Attribute>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'struck' }
const OFF: Readonly<Record<number, readonly Attribute[]>> = {
  21: ['bold'],
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['struck'],
  39: ['foreground'],
  49: ['background'],
}

/**
 * The colours that a program set by SGR sequences, as one style. Blinking and concealed text is not among what it may ask
 * for: what is printed can be read.
 */
export class Graphics {
  #set = new Map<Attribute, string>()

  /** The parameters of one sequence that sets the same, '' for none. */
  get style(): string {
    return [...this.#set.values()].join(';')
  }

  /** Takes the parameters of one sequence: digits, `;` and `:`. */
  apply(parameters: string): void {
    const codes = parameters.split(';')
    for (let index = 0; index < codes.length; index++) index += this.#apply(codes, index)
  }

  reset(): void {
    this.#set.clear()
  }

  /** Takes one parameter; returns how many behind it belong to it. */
  #apply(codes: readonly string[], index: number): number {
    const [code = 0, ...parts] = (codes[index] as string).split(':').map(Number)
    if (code === 0) this.#set.clear()
    else if (code === 38 || code === 48) return this.#colour(code, parts, codes.slice(index + 1, index + 5).map(Number))
    else if (code === 4 && parts[0] === 0) this.#set.delete('underline')
    else if (ON[code] !== undefined) this.#set.set(ON[code], String(code))
    else if (OFF[code] !== undefined) for (const attribute of OFF[code]) this.#set.delete(attribute)
    else if (isColour(code)) this.#set.set(isBackground(code) ? 'background' : 'foreground', String(code))
    return 0
  }

  /** 38 and 48: `38;5;N`, `38;2;R;G;B`, or with colons, where an empty colour space may stand before the red. */
  #colour(code: number, parts: readonly number[], behind: readonly number[]): number {
    const values = parts.length > 0 ? (parts[0] === 2 && parts.length > 4 ? [2, ...parts.slice(2)] : parts) : behind
    const count = values[0] === 5 ? 2 : values[0] === 2 ? 4 : 0
    const colour = values.slice(0, count)
    if (count > 0 && colour.length === count && colour.every((value) => value >= 0 && value <= 255)) {
      this.#set.set(code === 48 ? 'background' : 'foreground', [code, ...colour].join(';'))
    }
    return parts.length > 0 ? 0 : count
  }
}

function isColour(code: number): boolean {
  return (code >= 30 && code <= 37) || (code >= 40 && code <= 47) || (code >= 90 && code <= 97) || (code >= 100 && code <= 107)
}

function isBackground(code: number): boolean {
  return (code >= 40 && code <= 47) || code >= 100
}
