import { invalid } from '../core/validation.ts'

/** What a template may leave open: filled in when it is used. */
export const placeholders = ['service', 'title', 'started', 'ends', 'page'] as const
export type Placeholder = (typeof placeholders)[number]

/** What the placeholders stand for; a missing one is not known. */
export type PlaceholderValues = Readonly<Partial<Record<Placeholder, string>>>

const PLACEHOLDER = /\{\{\s*([^{}\n]{1,40}?)\s*\}\}/g
const isPlaceholder = (name: string): name is Placeholder => placeholders.some((known) => known === name)

/** @throws Invalid when a text has a placeholder that there is not. @param path of the text in the input. */
export function requirePlaceholders(path: readonly string[], text: string): void {
  const unknown = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name).find((name) => !isPlaceholder(name))
  if (unknown === undefined) return
  const known = placeholders.map((name) => `{{${name}}}`).join(', ')
  throw invalid([{ path, message: `has the unknown placeholder {{${unknown}}}; there are ${known}` }])
}

/** Fills in the placeholders of a text. What is not known stays as it is, for the writer. */
export function fillPlaceholders(text: string, values: PlaceholderValues): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => (isPlaceholder(name) ? (values[name] ?? whole) : whole))
}

/** Returns the placeholders that are left in texts, in their order. */
export function placeholdersIn(texts: readonly string[]): Placeholder[] {
  const found = new Set(texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name)))
  return placeholders.filter((name) => found.has(name))
}
