import { sections } from '../configuration/sections.ts'
import { withoutCausedStatuses } from './component-status.ts'
import { type Installation, withInstallation } from './installation.ts'
import type { Drafted, Note, Objects, RecordText, Translation } from './translation.ts'
import { isCutName, Unreadable } from './translation.ts'

/** The maximum number of objects of a configuration. */
const MAX_OBJECTS = 2000
/** The maximum number of notes. */
const MAX_NOTES = 2000
/** The maximum number of records of each kind. The newest are imported. */
const MAX_RECORDS = { incidents: 5000, maintenances: 5000, series: 50, subscribers: 50_000 } as const

/**
 * Finishes a translation: leaves statuses to their causes, adds the installation to keys, enforces limits and serializes records.
 * @throws Unreadable if there are too many objects.
 */
export function finished(drafted: Drafted, installation: Installation): Translation {
  const count = sections.reduce((sum, section) => sum + drafted.objects[section].size, 0)
  if (count > MAX_OBJECTS)
    throw new Unreadable(`This has ${count} objects, but an import is limited to ${MAX_OBJECTS}.`)
  const { objects, records, pausedMonitors, hasVariables, notes } = withInstallation(
    withoutCausedStatuses(drafted),
    installation,
  )
  const left: Note[] = cutNames(objects)
  const incidents = newest(records.incidents, MAX_RECORDS.incidents, ({ startedAt }) => startedAt)
  const maintenances = newest(records.maintenances, MAX_RECORDS.maintenances, ({ startsAt }) => startsAt)
  note(left, 'incidents', records.incidents.length, incidents.length)
  note(left, 'maintenance', records.maintenances.length, maintenances.length)
  note(left, 'maintenance', records.series.length, Math.min(records.series.length, MAX_RECORDS.series))
  note(left, 'subscribers', records.subscribers.length, Math.min(records.subscribers.length, MAX_RECORDS.subscribers))
  return {
    ...{ objects, pausedMonitors, hasVariables, notes: listed([...left, ...notes]) },
    records: {
      histories: records.histories,
      incidents: incidents.map(asText),
      maintenances: maintenances.map(asText),
      series: records.series.slice(0, MAX_RECORDS.series).map(asText),
      subscribers: records.subscribers.slice(0, MAX_RECORDS.subscribers),
    },
  }
}

/** Returns a note for each object whose name is too long. */
function cutNames(objects: Objects): Note[] {
  const reason = 'Its name has more than 100 characters. The end is replaced with a mark that is always the same.'
  return sections.flatMap((section) =>
    [...objects[section].values()]
      .filter(({ name }) => isCutName(name))
      .map(({ name }) => ({ outcome: 'PARTLY' as const, section, name: String(name), reason })),
  )
}

/** Returns at most as many notes as an import may have. The last one says how many are left out. */
function listed(notes: readonly Note[]): readonly Note[] {
  if (notes.length <= MAX_NOTES) return notes
  const rest = notes.length - MAX_NOTES + 1
  const name = `${rest} more`
  const reason = 'Too much is not imported, or not completely, to list all of it.'
  return [...notes.slice(0, MAX_NOTES - 1), { outcome: 'PARTLY', section: 'settings', name, reason }]
}

/** Returns the newest items, oldest first. */
function newest<T>(all: readonly T[], limit: number, at: (each: T) => string): T[] {
  return all.toSorted((one, other) => (at(one) < at(other) ? -1 : 1)).slice(-limit)
}

/** The size limit of a record, so that it fits into a request. */
const MAX_RECORD_BYTES = 90_000
/** The limits to which larger records are cut: characters per message, and updates. */
const MAX_CUT_MESSAGE = 500
const MAX_CUT_UPDATES = 60

interface Titled {
  readonly title: string
  readonly updates?: readonly { readonly message: string }[]
}

function asText(record: Titled): RecordText {
  const json = JSON.stringify(record)
  return { name: record.title, json: Buffer.byteLength(json) <= MAX_RECORD_BYTES ? json : JSON.stringify(cut(record)) }
}

/** Cuts a record to its first and last updates, and to the beginnings of their messages. */
function cut<T extends Titled>(record: T): T {
  const { updates = [] } = record
  const half = MAX_CUT_UPDATES / 2
  const kept = updates.length <= MAX_CUT_UPDATES ? updates : [...updates.slice(0, half), ...updates.slice(-half)]
  const short = kept.map((update) => ({
    ...update,
    message: update.message.length <= MAX_CUT_MESSAGE ? update.message : `${update.message.slice(0, MAX_CUT_MESSAGE)}…`,
  }))
  return { ...record, updates: short }
}

function note(notes: Note[], section: Note['section'], found: number, kept: number): void {
  if (found === kept) return
  const reason = `An import is limited to the newest ${kept}.`
  notes.push({ outcome: 'SKIPPED', section, name: `${found - kept} more`, reason })
}
