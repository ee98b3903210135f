import { type CachetAffected, type CachetUpdate, draftCachet } from './cachet-draft.ts'
import { cachetKeys } from './cachet-keys.ts'
import { Fields } from './fields.ts'
import { timeOf } from './incident-fields.ts'
import { noteLosses } from './losses.ts'
import { type Drafted, Unreadable } from './translation.ts'

/** Rows of database tables by table name. */
export type Tables = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>

/** The tables to read. Cachet can be configured to prefix their names. */
export const cachetTables = [
  'component_groups',
  'components',
  'incidents',
  'incident_components',
  'incident_updates',
  'updates',
  'schedules',
  'schedule_components',
  'subscribers',
  'subscriptions',
] as const

/** Returns the name of a Cachet table without its prefix. Null if it is not one of `cachetTables`. */
export function cachetTable(name: string): (typeof cachetTables)[number] | null {
  const exact = cachetTables.find((table) => table === name)
  if (exact !== undefined) return exact
  // Uses the longest match, because `x_incident_components` also ends with `components`.
  const matching = cachetTables.filter((table) => name.endsWith(`_${table}`))
  return matching.toSorted((one, other) => other.length - one.length)[0] ?? null
}

/** Translates the tables of Cachet 2 or 3 (see its database/migrations). Its times are UTC. @throws Unreadable. */
export function translateCachetTables(tables: Tables): Drafted {
  const file = new Fields(Object.fromEntries(tables))
  const rows = (name: (typeof cachetTables)[number]) => file.list(name).map((row) => new Fields(row))
  const components = rows('components').filter(isKept)
  if (components.length === 0) throw new Unreadable('This isn’t a database of Cachet: it has no components.')
  const affected = grouped(rows('incident_components'), 'incident_id')
  const scheduled = grouped(rows('schedule_components'), 'schedule_id')
  const updates = updatesById(rows('updates'), rows('incident_updates'))
  const followed = grouped(rows('subscriptions'), 'subscriber_id')
  const draft = draftCachet({
    groups: rows('component_groups').map((group) => ({
      ...{ id: group.text('id'), name: group.text('name'), isPublic: isPublic(group) },
    })),
    components: components.map((component) => ({
      ...{ id: component.text('id'), name: component.text('name'), description: component.text('description') },
      groupId: zeroless(component.text('component_group_id') || component.text('group_id')),
      isEnabled: component.get('enabled') === undefined || component.isTrue('enabled'),
      hasLink: component.text('link') !== '',
      status: component.number('status') ?? null,
    })),
    incidents: rows('incidents')
      .filter(isKept)
      .map((incident) => {
        const id = incident.text('id')
        const one = zeroless(incident.text('component_id'))
        const own = (affected.get(id) ?? []).map(affectedIn)
        return {
          ...{ id, name: incident.text('name'), message: incident.text('message'), isPublic: isPublic(incident) },
          status: statusOf(incident.number('status') ?? 0, updates.get(`incident ${id}`)),
          at: timeOf(incident.get('occurred_at')) ?? timeOf(incident.get('created_at')),
          components: one === '' ? own : [...own, { id: one, status: null }],
          updates: updates.get(`incident ${id}`) ?? [],
        }
      }),
    schedules: rows('schedules')
      .filter(isKept)
      .map((schedule) => {
        const id = schedule.text('id')
        return {
          ...{
            id,
            name: schedule.text('name'),
            message: schedule.text('message'),
            status: schedule.number('status') ?? 0,
          },
          startsAt: timeOf(schedule.get('scheduled_at')),
          endedAt: timeOf(schedule.get('completed_at')),
          components: (scheduled.get(id) ?? []).map(affectedIn),
          updates: updates.get(`schedule ${id}`) ?? [],
        }
      }),
    subscribers: rows('subscribers').map((subscriber) => {
      const isGlobal = subscriber.get('global') === undefined || subscriber.isTrue('global')
      const own = (followed.get(subscriber.text('id')) ?? []).map((each) => each.text('component_id'))
      const verified = timeOf(subscriber.get('verified_at')) ?? timeOf(subscriber.get('email_verified_at'))
      return { email: subscriber.text('email'), isVerified: verified !== null, components: isGlobal ? [] : own }
    }),
  })
  for (const removed of ['components', 'incidents', 'schedules'] as const)
    for (const row of rows(removed)) if (!isKept(row)) row.settle()
  noteLosses(draft, [file], cachetKeys)
  return { ...draft, hasVariables: false }
}

const isKept = (row: Fields) => row.get('deleted_at') === undefined
const isPublic = (row: Fields) => row.get('visible') === undefined || row.isTrue('visible')
const zeroless = (id: string) => (id === '0' ? '' : id)

const affectedIn = (row: Fields): CachetAffected => ({
  id: row.text('component_id'),
  status: row.number('component_status') ?? row.number('status_id') ?? null,
})

/** Returns the status of the newest update, or of the incident itself if it has no updates. */
const statusOf = (own: number, updates: readonly CachetUpdate[] | undefined) =>
  updates?.toSorted((one, other) => (one.at < other.at ? -1 : 1)).at(-1)?.status ?? own

function grouped(rows: readonly Fields[], column: string): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>()
  for (const row of rows) {
    const key = row.text(column)
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return groups
}

/** Groups updates by their incident or schedule. Version 3 stores both in one table, with a type. */
function updatesById(mixed: readonly Fields[], ofIncidents: readonly Fields[]): Map<string, CachetUpdate[]> {
  const updates = new Map<string, CachetUpdate[]>()
  const add = (key: string, row: Fields) => {
    const at = timeOf(row.get('created_at'))
    if (at === null) return
    const update = { at, status: row.number('status') ?? 0, message: row.text('message') }
    const known = updates.get(key)
    if (known) known.push(update)
    else updates.set(key, [update])
  }
  for (const row of ofIncidents) add(`incident ${row.text('incident_id')}`, row)
  for (const row of mixed)
    add(`${/schedule/i.test(row.text('updateable_type')) ? 'schedule' : 'incident'} ${row.text('updateable_id')}`, row)
  return updates
}
