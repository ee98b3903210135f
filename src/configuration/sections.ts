// Separate from the format, which imports all features: the small bundle of the command line needs only this.

/** The sections of a file in the order of creation: objects refer only to earlier sections and their own. */
export const sections = ['groups', 'services', 'monitors', 'pages', 'channels', 'templates', 'objectives'] as const

export type Section = (typeof sections)[number]

/** A renamed key of an object. */
export interface Move {
  readonly section: Section
  readonly from: string
  readonly to: string
}

/** Escapes `${` in a text, so that a file keeps it literally. */
export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/** Returns the available values for `${NAME}` in a file. The service reports missing ones with their lines. */
export function valuesFor(
  yaml: string,
  values: Readonly<Record<string, string | undefined>>,
): { name: string; value: string }[] {
  const names = new Set([...yaml.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name))
  return [...names].flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, value }]
  })
}
