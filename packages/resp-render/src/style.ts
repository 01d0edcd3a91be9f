/** How many colours the terminal has; 0: not one escape sequence is written. */
export type ColourDepth = 0 | 16 | 256 | 16777216

const ATTRIBUTES: Readonly<Record<string, number>> = { bold: 1, dim: 2, italic: 3, underline: 4, inverse: 7, strike: 9 }
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
/** What xterm draws the sixteen as; only used to find the nearest one. */
const SIXTEEN = [0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff]
const BRIGHT = [0xff00ff, 0x00ffff, 0xffffff]
/** Steps of the 6x6x6 cube of the 256 colours. */
const CUBE = [0, 95, 135, 175, 215, 255]

/**
 * The SGR parameters of a look like `bold #ff8800 on bright-blue`: bold, dim, italic, underline, inverse, strike; a colour by name, by number (0 to
 * 255) or by its parts; `on` and another one for the background. Colours that the terminal doesn't have become the nearest that
 * it has. Throws RangeError for a word that is none of these; the error's message is the word.
 */
export function sgr(look: string, depth: ColourDepth): string {
  const codes: string[] = []
  let background = false
  for (const word of look.split(/\s+/)) {
    if (word === '') continue
    if (word === 'on') background = true
    else if (Object.hasOwn(ATTRIBUTES, word)) codes.push(String(ATTRIBUTES[word]))
    else codes.push(colour(word, background, depth))
  }
  return codes.join(';')
}

function colour(word: string, background: boolean, depth: ColourDepth): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(word)?.[1]
  if (hex !== undefined) return ofRgb(Number.parseInt(hex, 16), background, depth)
  const number = /^\d{1,3}$/.test(word) ? Number(word) : ofName(word)
  if (number < 0 || number > 255) throw new RangeError(word)
  if (number < 16) return ofSixteen(number, background)
  return depth === 16 ? ofSixteen(nearestOf([...SIXTEEN, ...BRIGHT], rgbOf(number)), background) : `${background ? 48 : 38};5;${number}`
}

function ofName(word: string): number {
  const bright = word.startsWith('bright-')
  const index = COLOURS.indexOf(bright ? word.slice(7) : word)
  return index < 0 ? -1 : index + (bright ? 8 : 0)
}

function ofSixteen(number: number, background: boolean): string {
  return String((number < 8 ? 30 + number : 82 + number) + (background ? 10 : 0))
}

function ofRgb(rgb: number, background: boolean, depth: ColourDepth): string {
  const [red, green, blue] = parts(rgb)
  if (depth === 16777216) return `${background ? 48 : 38};2;${red};${green};${blue}`
  if (depth === 16) return ofSixteen(nearestOf([...SIXTEEN, ...BRIGHT], rgb), background)
  const cube = 16 + 36 * step(red) + 6 * step(green) + step(blue)
  const grey = 232 + Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)))
  return `${background ? 48 : 38};5;${[cube, grey][nearestOf([rgbOf(cube), rgbOf(grey)], rgb)]}`
}

function step(value: number): number {
  return nearestOf(
    CUBE.map((each) => each << 8),
    value << 8,
  )
}

/** What a colour of the 256 from 16 on looks like. */
function rgbOf(number: number): number {
  if (number >= 232) return (8 + 10 * (number - 232)) * 0x010101
  const index = number - 16
  const [red = 0, green = 0, blue = 0] = [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((at) => CUBE[at])
  return (red << 16) | (green << 8) | blue
}

function nearestOf(colours: readonly number[], rgb: number): number {
  const distances = colours.map((each) => {
    const [a, b] = [parts(each), parts(rgb)]
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
  })
  return distances.indexOf(Math.min(...distances))
}

function parts(rgb: number): [red: number, green: number, blue: number] {
  return [rgb >> 16, (rgb >> 8) & 255, rgb & 255]
}
