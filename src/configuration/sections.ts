// Apart from the format, which knows all features: the command line, which is small, needs no more than this.

/** The sections of a file in the order in which their objects are made: each refers only to those before it and itself. */
export const sections = ['groups', 'services', 'monitors', 'pages', 'channels'] as const

export type Section = (typeof sections)[number]

/** Writes a text so that it reads as itself: `${` is no place for a value. */
export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${')
}
