// Apart from the code of the sources, which is loaded when it is needed.

/** What each source is called, in the order in which they are offered. */
export const sourceNames = {
  'uptime-kuma': 'Uptime Kuma',
  gatus: 'Gatus',
  statuspage: 'Atlassian Statuspage',
} as const

/** A tool to move in from. */
export type Source = keyof typeof sourceNames

/** All sources. */
export const sources = Object.keys(sourceNames) as readonly Source[]

/** Returns whether a text names a source. */
export const isSource = (name: string): name is Source => Object.hasOwn(sourceNames, name)
