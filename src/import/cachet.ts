import { type CachetAffected, type CachetUpdate, draftCachet } from './cachet-draft.ts'
import { cachetKeys } from './cachet-keys.ts'
import { translateCachetTables } from './cachet-tables.ts'
import { noteUnfetched } from './fetch-notes.ts'
import { Fields } from './fields.ts'
import { timeOf } from './incident-fields.ts'
import { noteLosses } from './losses.ts'
import { readDump } from './mysql-dump.ts'
import { type Drafted, readJsonObject, Unreadable } from './translation.ts'

/** The possible names of each answer in a file that combines several. */
const parts = {
  groups: ['groups', 'component-groups', 'component_groups'],
  components: ['components'],
  incidents: ['incidents'],
  schedules: ['schedules'],
  subscribers: ['subscribers'],
} as const

/**
 * Translates an answer of Cachet 2 or 3 to `/api/…/components`, an object that combines several answers as `components`, `groups`,
 * `incidents` and so on, or a dump of its MySQL database. @throws Unreadable.
 */
export function translateCachet(text: string): Drafted {
  if (!/^\s*[{[]/.test(text.replace(/^\uFEFF/, ''))) return translateCachetTables(readDump(text))
  const file = readJsonObject(text)
  const components = Array.isArray(file.get('data')) ? itemsOf(file.list('data')) : partOf(file, parts.components)
  if (components.length === 0) throw new Unreadable('This isn’t a Cachet export: it has no components.')
  const included = itemsOf([
    ...file.list('included'),
    ...Object.values(parts).flatMap((names) => names.flatMap((name) => file.fields(name).list('included'))),
  ])
  const groups = [...partOf(file, parts.groups), ...included.filter(({ type }) => /group/i.test(type))]
  const updates = new Map(included.filter(({ type }) => /update/i.test(type)).map((update) => [update.id, update]))
  const loose = partOf(file, ['updates'])
  const draft = draftCachet({
    groups: [...new Map(groups.map((group) => [group.id, group])).values()].map(({ id, attributes }) => ({
      ...{ id, name: attributes.text('name'), isPublic: isPublic(attributes) },
    })),
    components: components.map(({ id, attributes, item }) => ({
      ...{ id, name: attributes.text('name'), description: attributes.text('description') },
      groupId:
        item.fields('relationships').fields('group').fields('data').text('id') ||
        attributes.text('group_id') ||
        attributes.text('component_group_id'),
      isEnabled: attributes.get('enabled') === undefined || attributes.isTrue('enabled'),
      hasLink: attributes.text('link') !== '',
      status: numberIn(attributes, 'status') ?? null,
    })),
    incidents: partOf(file, parts.incidents).map((incident) => {
      const { id, attributes } = incident
      return {
        ...{ id, name: attributes.text('name'), message: attributes.text('message'), isPublic: isPublic(attributes) },
        status: numberIn(attributes, 'latest_status') ?? numberIn(attributes, 'status') ?? 0,
        at: timeIn(attributes, 'occurred_at', 'occurred', 'created_at', 'created'),
        components: affectedBy(incident),
        updates: updatesOf(incident, updates, loose),
      }
    }),
    schedules: partOf(file, parts.schedules).map((schedule) => {
      const { id, attributes } = schedule
      return {
        ...{ id, name: attributes.text('name'), message: attributes.text('message') },
        status: numberIn(attributes, 'status') ?? 0,
        startsAt: timeIn(attributes, 'scheduled_at', 'scheduled'),
        endedAt: timeIn(attributes, 'completed_at', 'completed'),
        components: affectedBy(schedule),
        updates: updatesOf(schedule, updates, []),
      }
    }),
    subscribers: partOf(file, parts.subscribers).map((subscriber) => {
      const { attributes } = subscriber
      const isGlobal = attributes.get('global') === undefined || attributes.isTrue('global')
      return {
        email: attributes.text('email'),
        isVerified: timeIn(attributes, 'verified_at', 'email_verified_at', 'verified') !== null,
        components: isGlobal ? [] : affectedBy(subscriber).map((component) => component.id),
      }
    }),
  })
  noteUnfetched(draft, file)
  noteLosses(draft, [file], cachetKeys)
  return { ...draft, hasVariables: false }
}

/** An object of version 2, or a JSON:API object of version 3. */
interface Item {
  readonly id: string
  readonly type: string
  readonly attributes: Fields
  readonly item: Fields
}

function itemsOf(list: readonly unknown[]): Item[] {
  return list.map((each) => {
    const item = new Fields(each)
    const attributes = item.get('attributes') !== undefined ? item.fields('attributes') : item
    return { id: item.text('id'), type: item.text('type'), attributes, item }
  })
}

/** Returns the items of a field, which may be an answer with `data` or a list. */
function partOf(file: Fields, names: readonly string[]): Item[] {
  return names.flatMap((name) => {
    const answer = file.get(name)
    return itemsOf(Array.isArray(answer) ? answer : new Fields(answer).list('data'))
  })
}

/** Visibility 0 is for signed-in people only; version 3 hides 2 from everyone. */
const isPublic = (attributes: Fields) =>
  attributes.get('visible') === undefined || attributes.isTrue('visible') || numberIn(attributes, 'visible') === 1

/** Returns a field that is a number, or an object with a numeric `value`. */
const numberIn = (attributes: Fields, name: string): number | undefined =>
  attributes.number(name) ?? attributes.fields(name).number('value')

/** Returns the first valid time among fields, which may be objects with a `string`. */
function timeIn(attributes: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const at = timeOf(attributes.get(name)) ?? timeOf(attributes.fields(name).get('string'))
    if (at !== null) return at
  }
  return null
}

function affectedBy({ attributes, item }: Item): CachetAffected[] {
  const related = item.fields('relationships').fields('components').list('data')
  const one = attributes.text('component_id')
  const ids = [...related, ...attributes.list('components')].map((each) => {
    const component = new Fields(each)
    const status = component.fields('pivot').number('component_status') ?? component.fields('pivot').number('status_id')
    return { id: component.text('component_id') || component.text('id'), status: status ?? null }
  })
  const all =
    one === '' || one === '0' ? ids : [...ids, { id: one, status: attributes.number('component_status') ?? null }]
  return all.filter(({ id }) => id !== '')
}

/** Returns the updates of a record: its own, included ones, or ones that were fetched separately. */
function updatesOf(
  { id, attributes, item }: Item,
  included: ReadonlyMap<string, Item>,
  loose: readonly Item[],
): CachetUpdate[] {
  const related = item
    .fields('relationships')
    .fields('updates')
    .list('data')
    .map((each) => new Fields(each).text('id'))
  const all = [
    ...itemsOf(attributes.list('updates')),
    ...related.flatMap((update) => included.get(update) ?? []),
    ...loose.filter((update) => update.attributes.text('incident_id') === id),
  ]
  return all.flatMap(({ attributes: update }) => {
    const at = timeIn(update, 'created_at', 'created')
    return at === null ? [] : [{ at, status: numberIn(update, 'status') ?? 0, message: update.text('message') }]
  })
}
