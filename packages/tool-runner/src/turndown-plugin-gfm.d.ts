declare module '@joplin/turndown-plugin-gfm' {
  /** Tables, strikethrough and task lists. */
  export const gfm: import('turndown').Plugin
}
