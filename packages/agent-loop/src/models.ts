/** Tokens of a request at most, by the beginning of the model's name: the first that fits counts. What is left of the window is for the answer. */
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-/, 168_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^(gpt-4o|gpt-4-turbo|chatgpt)/, 112_000],
  [/^o\d/, 168_000],
  [/^gemini-/, 1_000_000],
]

/** Most models that are served today take as much. One that takes less says so, and is asked for less. */
const UNKNOWN = 112_000

/** How many tokens a request to `model` may have. Routers put the maker in front of the name: `anthropic/claude-...`. */
export function requestTokens(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? UNKNOWN
}
