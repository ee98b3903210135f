import { invalid } from '../../core/validation.ts'

/** The parts of a template that may stay open until it is used. */
export const placeholders = ['service', 'title', 'started', 'ends', 'page'] as const
export type Placeholder = (typeof placeholders)[number]

/** The values of placeholders; absent: unknown. */
export type PlaceholderValues = Readonly<Partial<Record<Placeholder, string>>>

const PLACEHOLDER = /\{\{([^{}\n]{1,60})\}\}/g
const namesIn = (text: string) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim())
const isPlaceholder = (name: string): name is Placeholder => placeholders.some((known) => known === name)

/**
 * @throws Invalid when a text has an unknown placeholder.
 * @param path of the text in the input.
 */
export function requirePlaceholders(path: readonly string[], text: string): void {
  const unknown = namesIn(text).find((name) => !isPlaceholder(name))
  if (unknown === undefined) return
  const known = placeholders.map((name) => `{{${name}}}`).join(', ')
  throw invalid([{ path, message: `has the unknown placeholder {{${unknown}}}; there are ${known}` }])
}

/** Fills in the placeholders of a text, except unknown ones, which the writer fills in. */
export function fillPlaceholders(text: string, values: PlaceholderValues): string {
  return text.replace(PLACEHOLDER, (whole, padded: string) => {
    const name = padded.trim()
    return isPlaceholder(name) ? (values[name] ?? whole) : whole
  })
}

/** Returns the remaining placeholders of texts, in order. */
export function placeholdersIn(texts: readonly string[]): Placeholder[] {
  const found = new Set(texts.flatMap(namesIn))
  return placeholders.filter((name) => found.has(name))
}
