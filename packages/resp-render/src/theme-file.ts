import { readFileSync } from 'node:fs'
import { EXIT, nearest, StageError, systemError } from '@agentpipe/stage'
import { sgr } from './style.js'
import { isRole, roles, type ThemeChoice, type ThemeName } from './theme.js'

/**
 * What `--theme` says: `dark`, `light`, `plain`, or a file of lines like `heading: bold #ff8800`; `base: light` says what the roles look like that
 * it doesn't name (dark). Where nothing is said the terminal is asked: COLORFGBG, which some set, ends in its background. Throws StageError: 66 for a file that can't be
 * read, 78 for one that is wrong.
 */
export function themeChoice(option: string | undefined, environment: NodeJS.ProcessEnv = process.env): ThemeChoice {
  if (option === undefined) return { name: /;(?:7|15)$/.test(environment.COLORFGBG ?? '') ? 'light' : 'dark', changes: {} }
  return isThemeName(option) ? { name: option, changes: {} } : readTheme(option)
}

function readTheme(path: string): ThemeChoice {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `--theme: cannot read ${path} (dark, light and plain need no file)`, error)
  }
  const changes: Record<string, string> = {}
  let name: ThemeName = 'dark'
  text.split(/\r?\n/).forEach((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return
    const wrong = (what: string) => new StageError(EXIT.CONFIG, `--theme: ${path}, line ${index + 1}: ${what}`)
    const [, role = '', look = ''] = /^\s*([^:]*?)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    if (role === 'base') {
      if (!isThemeName(look)) throw wrong(`expected base: dark, light or plain`)
      name = look
    } else if (isRole(role)) changes[role] = checked(look, wrong)
    else throw wrong(unknownRole(role))
  })
  return { name, changes }
}

function checked(look: string, wrong: (what: string) => Error): string {
  try {
    sgr(look, 16777216)
    return look
  } catch (error) {
    throw wrong(`expected bold, dim, italic, underline, inverse, strike or a colour, found ${JSON.stringify((error as Error).message)}`)
  }
}

function unknownRole(role: string): string {
  const meant = nearest(role, roles())
  return `there is no role ${JSON.stringify(role)}${meant === undefined ? '' : `, did you mean ${meant}?`}`
}

function isThemeName(name: string): name is ThemeName {
  return name === 'dark' || name === 'light' || name === 'plain'
}
