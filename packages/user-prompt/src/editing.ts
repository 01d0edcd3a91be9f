import type { Draft } from './draft.js'

/** What keys do to the draft, by readline's names: Emacs' keys, as in bash. */
const EDITING: Readonly<Record<string, (draft: Draft) => void>> = {
  left: (draft) => draft.left(),
  'ctrl-b': (draft) => draft.left(),
  right: (draft) => draft.right(),
  'ctrl-f': (draft) => draft.right(),
  'ctrl-left': (draft) => draft.wordLeft(),
  'meta-left': (draft) => draft.wordLeft(),
  'meta-b': (draft) => draft.wordLeft(),
  'ctrl-right': (draft) => draft.wordRight(),
  'meta-right': (draft) => draft.wordRight(),
  'meta-f': (draft) => draft.wordRight(),
  home: (draft) => draft.home(),
  'ctrl-a': (draft) => draft.home(),
  end: (draft) => draft.end(),
  'ctrl-e': (draft) => draft.end(),
  backspace: (draft) => draft.eraseLeft(),
  'ctrl-h': (draft) => draft.eraseLeft(),
  delete: (draft) => draft.eraseRight(),
  'ctrl-d': (draft) => draft.eraseRight(),
  'ctrl-u': (draft) => draft.cutToStart(),
  'ctrl-k': (draft) => draft.cutToEnd(),
  'ctrl-w': (draft) => draft.cutBlankLeft(),
  'meta-backspace': (draft) => draft.cutWordLeft(),
  'ctrl-backspace': (draft) => draft.cutWordLeft(),
  'meta-d': (draft) => draft.cutWordRight(),
  'ctrl-delete': (draft) => draft.cutWordRight(),
  'ctrl-y': (draft) => draft.paste(),
  'meta-return': (draft) => draft.insert('\n'),
  enter: (draft) => draft.insert('\n'),
}

/** Does to the draft what a key is for. False for a key that has nothing to do with it. */
export function edit(draft: Draft, { name, text }: { readonly name: string; readonly text: string }): boolean {
  const change = Object.hasOwn(EDITING, name) ? EDITING[name] : undefined
  if (change === undefined && text === '') return false
  if (change === undefined) draft.insert(text)
  else change(draft)
  return true
}
