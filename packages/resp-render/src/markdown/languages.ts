import { createRequire } from 'node:module'
import type { StreamParser } from '@codemirror/streamparser'

// Each is read when the first code of its language comes.
const require = createRequire(import.meta.url)

type Module = Readonly<Record<string, unknown>>

const MODULES: Readonly<Record<string, () => Module>> = {
  clike: () => require('@codemirror/legacy-modes/mode/clike'),
  clojure: () => require('@codemirror/legacy-modes/mode/clojure'),
  cmake: () => require('@codemirror/legacy-modes/mode/cmake'),
  css: () => require('@codemirror/legacy-modes/mode/css'),
  diff: () => require('@codemirror/legacy-modes/mode/diff'),
  dockerfile: () => require('@codemirror/legacy-modes/mode/dockerfile'),
  elm: () => require('@codemirror/legacy-modes/mode/elm'),
  erlang: () => require('@codemirror/legacy-modes/mode/erlang'),
  go: () => require('@codemirror/legacy-modes/mode/go'),
  groovy: () => require('@codemirror/legacy-modes/mode/groovy'),
  haskell: () => require('@codemirror/legacy-modes/mode/haskell'),
  http: () => require('@codemirror/legacy-modes/mode/http'),
  javascript: () => require('@codemirror/legacy-modes/mode/javascript'),
  julia: () => require('@codemirror/legacy-modes/mode/julia'),
  lua: () => require('@codemirror/legacy-modes/mode/lua'),
  mllike: () => require('@codemirror/legacy-modes/mode/mllike'),
  nginx: () => require('@codemirror/legacy-modes/mode/nginx'),
  perl: () => require('@codemirror/legacy-modes/mode/perl'),
  powershell: () => require('@codemirror/legacy-modes/mode/powershell'),
  properties: () => require('@codemirror/legacy-modes/mode/properties'),
  protobuf: () => require('@codemirror/legacy-modes/mode/protobuf'),
  python: () => require('@codemirror/legacy-modes/mode/python'),
  r: () => require('@codemirror/legacy-modes/mode/r'),
  ruby: () => require('@codemirror/legacy-modes/mode/ruby'),
  rust: () => require('@codemirror/legacy-modes/mode/rust'),
  scheme: () => require('@codemirror/legacy-modes/mode/scheme'),
  shell: () => require('@codemirror/legacy-modes/mode/shell'),
  sql: () => require('@codemirror/legacy-modes/mode/sql'),
  stex: () => require('@codemirror/legacy-modes/mode/stex'),
  swift: () => require('@codemirror/legacy-modes/mode/swift'),
  toml: () => require('@codemirror/legacy-modes/mode/toml'),
  xml: () => require('@codemirror/legacy-modes/mode/xml'),
  yaml: () => require('@codemirror/legacy-modes/mode/yaml'),
}

/** Module, name in it, and what people call the language. */
const LANGUAGES: readonly (readonly [module: string, name: string, aliases: string])[] = [
  ['javascript', 'javascript', 'javascript js jsx mjs cjs node'],
  ['javascript', 'typescript', 'typescript ts tsx mts cts'],
  ['javascript', 'json', 'json jsonc json5 jsonl ndjson'],
  ['python', 'python', 'python py python3 py3 pyi'],
  ['shell', 'shell', 'shell sh bash zsh ksh console shellsession shell-session terminal'],
  ['css', 'css', 'css'],
  ['css', 'sCSS', 'scss'],
  ['css', 'less', 'less'],
  ['xml', 'html', 'html htm vue svelte astro'],
  ['xml', 'xml', 'xml svg xhtml plist'],
  ['clike', 'c', 'c h'],
  ['clike', 'cpp', 'c++ cpp cc cxx hpp cuda arduino'],
  ['clike', 'java', 'java'],
  ['clike', 'kotlin', 'kotlin kt kts'],
  ['clike', 'scala', 'scala sc'],
  ['clike', 'csharp', 'csharp cs c#'],
  ['clike', 'dart', 'dart'],
  ['clike', 'objectiveC', 'objective-c objectivec objc'],
  ['clike', 'shader', 'glsl hlsl wgsl'],
  ['rust', 'rust', 'rust rs'],
  ['go', 'go', 'go golang'],
  ['ruby', 'ruby', 'ruby rb'],
  ['swift', 'swift', 'swift'],
  ['perl', 'perl', 'perl pl'],
  ['lua', 'lua', 'lua'],
  ['sql', 'standardSQL', 'sql'],
  ['sql', 'pgSQL', 'postgres postgresql pgsql'],
  ['sql', 'mySQL', 'mysql mariadb'],
  ['sql', 'sqlite', 'sqlite'],
  ['yaml', 'yaml', 'yaml yml'],
  ['toml', 'toml', 'toml'],
  ['properties', 'properties', 'ini properties conf dotenv env editorconfig'],
  ['dockerfile', 'dockerFile', 'dockerfile docker containerfile'],
  ['diff', 'diff', 'diff patch udiff'],
  ['cmake', 'cmake', 'cmake'],
  ['clojure', 'clojure', 'clojure clj cljs edn'],
  ['scheme', 'scheme', 'scheme racket lisp elisp'],
  ['elm', 'elm', 'elm'],
  ['erlang', 'erlang', 'erlang erl'],
  ['groovy', 'groovy', 'groovy gradle'],
  ['haskell', 'haskell', 'haskell hs'],
  ['http', 'http', 'http'],
  ['julia', 'julia', 'julia jl'],
  ['mllike', 'oCaml', 'ocaml ml'],
  ['mllike', 'fSharp', 'fsharp fs f#'],
  ['nginx', 'nginx', 'nginx'],
  ['powershell', 'powerShell', 'powershell ps1 pwsh'],
  ['protobuf', 'protobuf', 'protobuf proto'],
  ['r', 'r', 'r'],
  ['stex', 'stex', 'latex tex'],
]

/** The language that people call so, or undefined. Its name may have more behind it: `js{1,3}`, `ts:file.ts`. */
export function languageOf(name: string): StreamParser<unknown> | undefined {
  const [wanted = ''] = /^[\w+#-]+/.exec(name.replace(/^\{?\.?/, '').toLowerCase()) ?? []
  const entry = LANGUAGES.find(([, , aliases]) => aliases.split(' ').includes(wanted))
  return entry && (MODULES[entry[0]]?.()[entry[1]] as StreamParser<unknown> | undefined)
}
