// Apart from the format, which knows all features: the command line, which is small, needs no more than this.

/** The sections of a file in the order in which their objects are made: each refers only to those before it and itself. */
export const sections = ['groups', 'services', 'monitors', 'pages', 'channels', 'templates', 'objectives'] as const

export type Section = (typeof sections)[number]

/** Writes a text so that it reads as itself: `${` is no place for a value. */
export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/** Returns the values for the places `${NAME}` of a file, of those that there are. The service says which are missing, and where. */
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
