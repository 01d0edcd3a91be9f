import type { Words } from './shell-commands.js'

/** Programs that run another one, which stands among their words. */
const WRAPPERS =
  /^(?:.*\/)?(?:env|nohup|setsid|nice|ionice|chrt|timeout|time|stdbuf|command|builtin|exec|xargs|parallel|sudo|doas|su|runuser|chroot|unshare|nsenter|flock|watch|script|busybox|ssh|strace|ltrace|gdb|systemd-run|find|fd)$/
/** Words by which find and fd are ones. */
const FIND_RUNS = /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|x|X)$|^--exec/

/** Whether a command runs another one. */
export function isWrapper([name, ...rest]: Words): boolean {
  if (name === undefined || !WRAPPERS.test(name)) return false
  return !/(?:find|fd)$/.test(name) || rest.some((word) => word === undefined || FIND_RUNS.test(word))
}

/** All that a command may run, itself first: of a wrapper, whatever its words from some place on can be taken for. */
export function possibleCommands(words: Words): readonly Words[] {
  if (!isWrapper(words)) return [words]
  return words.flatMap((_, index) => (index === 0 ? [words] : possibleTail(words.slice(index))))
}

function possibleTail(tail: Words): readonly Words[] {
  return tail[0]?.startsWith('-') ? [] : [tail]
}

/** The command that a simple wrapper runs, where that can't be mistaken: `timeout 5 make test`. Undefined for all others. */
export function wrappedCommand([name, ...rest]: Words): Words | undefined {
  const inner = name === 'timeout' ? afterDuration(rest) : name === 'nohup' || name === 'setsid' || name === 'command' || name === 'time' ? rest : undefined
  return inner?.[0] === undefined || inner[0].startsWith('-') ? undefined : inner
}

function afterDuration([duration, ...rest]: Words): Words | undefined {
  return duration !== undefined && /^[\d.]+[smhd]?$/.test(duration) ? rest : undefined
}
