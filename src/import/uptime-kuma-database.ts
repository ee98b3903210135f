import { slugOf } from './incident-fields.ts'
import { type OpenDatabase, type Row, readSqlite } from './sqlite.ts'
import { type Draft, type Drafted, Fields, keyOf, nameOf, present, Unreadable } from './translation.ts'
import { draftUptimeKuma, PREFIX } from './uptime-kuma.ts'
import { addHistories } from './uptime-kuma-history.ts'
import { addIncidents } from './uptime-kuma-incidents.ts'

/** Reads the rows of a table. Empty if the table does not exist. */
type ReadTable = (table: string) => readonly Row[]

/**
 * Translates the database of Uptime Kuma 1 or 2.
 * @param path the path of a private copy, next to its write-ahead log. Reading may change both.
 * @throws Unreadable.
 */
export function translateUptimeKumaDatabase(path: string): Drafted {
  return readSqlite(path, 'Stop Uptime Kuma before you copy its kuma.db.', translated)
}

function translated({ table: read, query, columnsOf }: OpenDatabase): Drafted {
  const monitors = read('monitor')
  if (monitors.length === 0) throw new Unreadable('This isn’t a database of Uptime Kuma: it has no monitors.')
  const used = read('monitor_notification')
  const names = new Map(monitors.map((row) => [row['id'], row]))
  const draft = draftUptimeKuma({
    monitors: monitors.map((row) => new Fields(asInBackup(row, names, used))),
    notifications: read('notification').map((row) => new Fields(row)),
    proxies: read('proxy').map((row) => new Fields(row)),
  })
  addPages(draft, read)
  addIncidents(draft, read)
  addHistories(draft, columnsOf, query)
  return { ...draft, hasVariables: false }
}

/** Converts the name of a column to camel case, which backups use for some columns, such as `jsonPath`. */
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Converts a row to the format of monitors in a backup. */
function asInBackup(row: Row, monitors: ReadonlyMap<unknown, Row>, used: readonly Row[]): Row {
  const renamed = Object.entries(row).map(([name, value]) => [camelCase(name), value])
  const own = used.filter((each) => each['monitor_id'] === row['id'])
  return {
    ...Object.fromEntries(renamed),
    ...row,
    pathName: pathOf(row, monitors),
    accepted_statuscodes: jsonList(row['accepted_statuscodes_json']),
    notificationIDList: Object.fromEntries(own.map((each) => [String(each['notification_id']), true])),
  }
}

const MAX_DEPTH = 10

function pathOf(row: Row, monitors: ReadonlyMap<unknown, Row>): string {
  const path: string[] = []
  for (let each: Row | undefined = row; each !== undefined && path.length < MAX_DEPTH; ) {
    path.unshift(String(each['name']))
    each = monitors.get(each['parent'])
  }
  return path.join(' / ')
}

function jsonList(value: unknown): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(String(value))
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

/** Adds status pages, and their groups for services without a group. */
function addPages(draft: Draft, read: ReadTable): void {
  const groups = read('group').map((row) => new Fields(row))
  const members = read('monitor_group').map((row) => new Fields(row))
  const domains = read('status_page_cname').map((row) => new Fields(row))
  for (const page of read('status_page').map((row) => new Fields(row))) {
    const id = page.text('id')
    const title = nameOf(page.text('title'), page.text('slug'))
    const refusal = refusalOf(page)
    if (refusal !== null) {
      draft.skip('pages', title, refusal)
      continue
    }
    const own = groups.filter((group) => group.text('status_page_id') === id).toSorted(byWeight)
    const services = own.flatMap((group) => addGroup(draft, group, members))
    if (services.length === 0) {
      draft.skip('pages', title, 'None of its monitors is imported.')
      continue
    }
    if (domains.some((domain) => domain.text('status_page_id') === id))
      draft.partly('pages', title, 'Set up its domain here.')
    if (page.text('custom_css') !== '') draft.partly('pages', title, 'Its own style is not imported.')
    const description = page.text('description').slice(0, 2000)
    draft.objects.pages.set(
      keyOf(PREFIX, `page ${id}`),
      present({ slug: slugOf(page.text('slug')), name: title, description, services: [...new Set(services)] }),
    )
  }
}

function refusalOf(page: Fields): string | null {
  // A protected page must not become public.
  if (page.text('password') !== '') return 'It has a password. Create the page here and set its access.'
  return page.get('published') !== undefined && !page.isTrue('published') ? 'It is not published.' : null
}

const byWeight = (one: Fields, other: Fields) => (one.number('weight') ?? 0) - (other.number('weight') ?? 0)

/** Adds a group. Returns the keys of its imported services. */
function addGroup(draft: Draft, group: Fields, members: readonly Fields[]): string[] {
  const id = group.text('id')
  const keys = members
    .filter((member) => member.text('group_id') === id)
    .toSorted(byWeight)
    .map((member) => keyOf(PREFIX, member.text('monitor_id')))
    .filter((key) => draft.objects.services.has(key))
  const key = keyOf(PREFIX, `group ${id}`)
  for (const each of keys) {
    const service = draft.objects.services.get(each)
    if (service === undefined || service['group'] !== undefined) continue
    draft.objects.groups.set(key, { name: nameOf(group.text('name'), `Group ${id}`) })
    draft.objects.services.set(each, { ...service, group: key })
  }
  return keys
}
