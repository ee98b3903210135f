// Separate from the code of the sources, which is loaded on demand.

/** The display names of sources, in display order. */
export const sourceNames = {
  'uptime-kuma': 'Uptime Kuma',
  gatus: 'Gatus',
  statuspage: 'Atlassian Statuspage',
  openstatus: 'OpenStatus',
  cachet: 'Cachet',
  uptimerobot: 'UptimeRobot',
  betterstack: 'Better Stack',
  instatus: 'Instatus',
  hetrixtools: 'HetrixTools',
  upptime: 'Upptime',
  'blackbox-exporter': 'Prometheus blackbox exporter',
} as const

/** A tool to import from. */
export type Source = keyof typeof sourceNames

/** All sources. */
export const sources = Object.keys(sourceNames) as readonly Source[]

/** The first bytes of a SQLite file. */
const SQLITE_HEADER = 'SQLite format 3\0'

/** Returns whether a file of a source is a database. @param head the file, or its first bytes. */
export function isDatabase(source: Source, head: Uint8Array): boolean {
  const isKept = source === 'uptime-kuma' || source === 'cachet'
  return isKept && Buffer.from(head.subarray(0, 16)).toString('latin1') === SQLITE_HEADER
}

/** Returns whether a text names a source. */
export const isSource = (name: string): name is Source => Object.hasOwn(sourceNames, name)
