import { ownValue } from '../core/own-value.ts'
import { Fields } from './fields.ts'
import { slugOf } from './incident-fields.ts'
import { noteLosses } from './losses.ts'
import { type OpenDatabase, type Row, readSqlite } from './sqlite.ts'
import { type Draft, type Drafted, keyOf, nameOf, present, Unreadable } from './translation.ts'
import { draftUptimeKuma, PREFIX } from './uptime-kuma.ts'
import { addHistories } from './uptime-kuma-history.ts'
import { addIncidents } from './uptime-kuma-incidents.ts'
import { uptimeKumaKeys } from './uptime-kuma-keys.ts'

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

function translated({ table, tables, query, columnsOf }: OpenDatabase): Drafted {
  const rows = new Map<string, readonly Row[]>()
  const read: ReadTable = (name) => {
    const known = rows.get(name) ?? table(name)
    rows.set(name, known)
    return known
  }
  const monitors = read('monitor')
  if (monitors.length === 0) throw new Unreadable('This isn’t a database of Uptime Kuma: it has no monitors.')
  const used = read('monitor_notification').map((row) => new Fields(row))
  const names = new Map(monitors.map((row) => [row['id'], row]))
  const inBackup = monitors.map((row) => asInBackup(row, names, used))
  rows.set('monitor', inBackup)
  const { draft, configs } = draftUptimeKuma({
    monitors: inBackup.map((row) => new Fields(row)),
    notifications: read('notification').map((row) => new Fields(row)),
    proxies: read('proxy').map((row) => new Fields(row)),
  })
  addPages(draft, read)
  addIncidents(draft, read)
  addHistories(draft, columnsOf, query)
  noteTables(draft, rows, { table, tables })
  noteLosses(draft, configs, uptimeKumaKeys, ['notification', 'config'])
  return { ...draft, hasVariables: false }
}

/** Converts the name of a column to camel case, which backups use for some columns, such as `jsonPath`. */
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The columns that keep their names in backups (server/model/monitor.js, toJSON). */
const KEPT = /^(?:dns_resolve_|dns_last_|basic_auth_|oauth_|ping_)/

/** Converts a row to the format of monitors in a backup. */
function asInBackup(row: Row, monitors: ReadonlyMap<unknown, Row>, used: readonly Fields[]): Row {
  const { accepted_statuscodes_json: statuses, ...rest } = row
  const renamed = Object.entries(rest).map(([name, value]) => [KEPT.test(name) ? name : camelCase(name), value])
  const own = used.filter((each) => each.text('monitor_id') === String(row['id']))
  return {
    ...Object.fromEntries(renamed),
    pathName: pathOf(row, monitors),
    accepted_statuscodes: jsonList(statuses),
    conditions: jsonList(row['conditions']),
    notificationIDList: Object.fromEntries(own.map((each) => [each.text('notification_id'), true])),
  }
}

/** The tables with results and with the state of the server, which are read elsewhere or lose nothing. */
const STATE =
  /^(?:heartbeat|stat_\w+|sqlite_\w+|knex_\w+|notification_sent_history|monitor_tls_info|domain_expiry|maintenance_timeslot)$/

/** Notes what the tables contain that is not imported. */
function noteTables(
  draft: Draft,
  rows: ReadonlyMap<string, readonly Row[]>,
  { table, tables }: Pick<OpenDatabase, 'table' | 'tables'>,
): void {
  const { setting: settings = [], ...read } = Object.fromEntries(rows)
  const setting = Object.fromEntries(settings.map(({ key, value }) => [String(key), value]))
  const file = new Fields({ ...read, setting })
  for (const name of Object.keys(read)) file.list(name)
  file.fields('setting')
  noteLosses(draft, [file], uptimeKumaKeys)
  for (const name of tables()) {
    if (rows.has(name) || STATE.test(name) || table(name, 1).length === 0) continue
    draft.partly('settings', nameOf(`table ${name}`, 'table'), reasonOfTable(name))
  }
}

const reasons: Readonly<Record<string, string>> = {
  ...{ tag: 'Tags are not imported.', monitor_tag: 'Tags are not imported.' },
  user: 'People are not imported. Invite them here.',
  api_key: 'API keys are not imported. Create them here.',
}

const reasonOfTable = (name: string) => ownValue(reasons, name) ?? 'This table is not imported.'

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
      draft.skip('pages', title, refusal, page)
      continue
    }
    const own = groups.filter((group) => group.text('status_page_id') === id).toSorted(byWeight)
    const services = own.flatMap((group) => addGroup(draft, group, members))
    if (services.length === 0) {
      draft.skip('pages', title, 'None of its monitors is imported.', page)
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
