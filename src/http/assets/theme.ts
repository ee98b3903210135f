import { readableAccents } from '../../core/colour.ts'

/** Returns the style sheet with an organization's colour, for screens. @param accent as `#rrggbb`. */
export function themeStylesheet(accent: string): string {
  const { light, dark } = readableAccents(accent)
  return `@media screen{:root{--brand:${accent};--accent:${light}}}
@media screen and (prefers-color-scheme:dark){:root{--accent:${dark}}}
`
}

/** Returns the path of the style sheet with a colour. The path contains the colour, so the content never changes. */
export function themeStylesheetPath(accent: string): string {
  return `/assets/theme.${accent.slice(1).toLowerCase()}.css`
}
