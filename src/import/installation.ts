import { createHash } from 'node:crypto'
import { withReferences } from '../configuration/fields.ts'
import { MAX_KEY_LENGTH } from '../configuration/format.ts'
import { sections } from '../configuration/sections.ts'
import { type Source, sourceNames } from './source-names.ts'
import type { Drafted, DraftRecords, Objects } from './translation.ts'

/** The name by which people refer to the unnamed installation. */
const UNNAMED = 'default'

/** One of several installations of a tool, whose ids would otherwise collide. */
export interface Installation {
  readonly source: Source
  /** Lowercase letters, digits and hyphens; empty: the unnamed installation. */
  readonly name: string
}

/** The maximum length of a name. It leaves room in keys. */
const MAX_NAME_LENGTH = 20

/** Normalizes a typed name of an installation. Null if it is invalid. */
export function readName(text: string): string | null {
  const name = text.trim().toLowerCase()
  if (name === '' || name === UNNAMED) return ''
  return name.length <= MAX_NAME_LENGTH && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? name : null
}

/** The rule for names. */
export const NAME_RULE = `must be lowercase letters, digits and hyphens, at most ${MAX_NAME_LENGTH}`

/** Returns the name of the configuration file of an installation. */
export const fileOf = ({ source, name }: Installation): string =>
  name === '' ? `import from ${source}` : `import from ${source} ${name}`

/** Adds the name of an installation to all keys of a translation. Keys of the unnamed installation stay unchanged. */
export function withInstallation(drafted: Drafted, { source, name }: Installation): Drafted {
  if (name === '') return drafted
  const renamed = (key: string) => keyIn(source, name, key)
  const objects = Object.fromEntries(
    sections.map((section) => [
      section,
      new Map(
        [...drafted.objects[section]].map(([key, fields]) => [
          renamed(key),
          withReferences(fields, (_section, reference) => renamed(reference)),
        ]),
      ),
    ]),
  ) as Objects
  return {
    ...drafted,
    objects,
    pausedMonitors: drafted.pausedMonitors.map(renamed),
    records: renamedRecords(drafted.records, renamed),
  }
}

function renamedRecords(records: DraftRecords, renamed: (key: string) => string): DraftRecords {
  const listed = <T extends { readonly services: readonly string[] }>(all: readonly T[]): T[] =>
    all.map((each) => ({ ...each, services: each.services.map(renamed) }))
  const incidents = records.incidents.map((incident) => ({
    ...incident,
    updates: incident.updates.map((update) => ({
      ...update,
      services: update.services.map(({ key, status }) => ({ key: renamed(key), status })),
    })),
  }))
  return {
    histories: records.histories.map((each) => ({ ...each, key: renamed(each.key) })),
    incidents,
    maintenances: listed(records.maintenances),
    series: listed(records.series),
    subscribers: listed(records.subscribers),
  }
}

/** Inserts a name after the source at the start of a key. */
function keyIn(source: Source, name: string, key: string): string {
  const [begin, rest] = [`${source}_${name}_`, key.slice(source.length + 1)]
  if (begin.length + rest.length <= MAX_KEY_LENGTH) return begin + rest
  const hash = createHash('sha256').update(rest).digest('hex').slice(0, 8)
  const room = MAX_KEY_LENGTH - begin.length - hash.length - 1
  return `${begin}${rest.slice(0, room).replace(/(?<![-_])[-_]+$/, '')}-${hash}`
}

/** The services in a plan. */
interface PlannedServices {
  /** The number of services in the import. */
  readonly services: number
  readonly changes: readonly {
    readonly action: string
    readonly section: string
    readonly members: readonly { readonly name: string }[]
  }[]
}

/** The minimum number of renamed services. With fewer, no conclusion is possible. */
const MIN_RENAMED = 2

/**
 * Returns whether an import seems to come from another installation than the earlier import with this name, because most services
 * with known ids have different names.
 */
export function looksLikeAnother({ services, changes }: PlannedServices): boolean {
  const ofServices = changes.filter(({ section }) => section === 'services')
  const known = services - ofServices.filter(({ action }) => action === 'CREATE').length
  const renamed = ofServices.filter(
    ({ action, members }) => action === 'UPDATE' && members.some(({ name }) => name === 'name'),
  ).length
  return renamed >= MIN_RENAMED && renamed > known / 2
}

/** Returns a message that asks for a name. @param how where to give the name. */
export const askForName = (source: Source, how: string): string =>
  `This looks like another ${sourceNames[source]} installation than the one imported before, because most ids have different names. Name it ${how}, or use the name ${UNNAMED} if it is the same.`
