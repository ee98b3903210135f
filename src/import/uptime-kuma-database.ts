import { createRequire } from 'node:module'
import { type Draft, Fields, keyOf, nameOf, present, type Translation, Unreadable } from './translation.ts'
import { draftUptimeKuma, PREFIX } from './uptime-kuma.ts'
import { addHistories, type Query, type Row } from './uptime-kuma-history.ts'

/** More than an organization takes. */
const MAX_ROWS = 5000
/** What a value may have; longer ones are as if they were absent. */
const MAX_VALUE_BYTES = 200_000

/** Reads the rows of a table; none when there is no such table. */
type ReadTable = (table: string) => readonly Row[]

/**
 * Translates the database of Uptime Kuma 1 or 2.
 * @param path of a copy that nobody else uses, with its write-ahead log beside it: reading may change both.
 * @throws Unreadable.
 */
export function translateUptimeKumaDatabase(path: string): Translation {
  // It is WebAssembly of a megabyte, which only this needs.
  const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')
  const database = new Database(path, { fileMustExist: true })
  try {
    // Without it, a write-ahead log needs memory that processes share.
    database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON')
    const query: Query = (sql, values) => database.all(sql, [...values])
    return translated((table) => rowsOf(query, table), query)
  } catch (error) {
    if (error instanceof Unreadable) throw error
    throw new Unreadable('This database cannot be read. Stop Uptime Kuma, and take its kuma.db then.')
  } finally {
    database.close()
  }
}

/** Reads what a table stores, and computes nothing: a view, or a column that is computed, could go on for ever. */
function rowsOf(query: Query, table: string): readonly Row[] {
  const columns = columnsOf(query, table).map(quoted)
  if (columns.length === 0) return []
  const values = columns.map((name) => `CASE WHEN length(${name}) <= ${MAX_VALUE_BYTES} THEN ${name} END AS ${name}`)
  return query(`SELECT ${values.join(', ')} FROM ${quoted(table)} LIMIT ${MAX_ROWS}`, [])
}

/** Returns the columns that a table stores; none: there is no such table. */
function columnsOf(query: Query, table: string): string[] {
  const own = `SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'`
  if (query(own, [table]).length === 0) return []
  return query('SELECT name FROM pragma_table_info(?)', [table]).map(({ name }) => String(name))
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

function translated(read: ReadTable, query: Query): Translation {
  const monitors = read('monitor')
  if (monitors.length === 0) throw new Unreadable('This is no database of Uptime Kuma: it has no monitors.')
  const used = read('monitor_notification')
  const names = new Map(monitors.map((row) => [row['id'], row]))
  const draft = draftUptimeKuma({
    monitors: monitors.map((row) => new Fields(asInBackup(row, names, used))),
    notifications: read('notification').map((row) => new Fields(row)),
  })
  addPages(draft, read)
  for (const maintenance of read('maintenance').filter(({ active }) => active !== 0)) {
    draft.leave('maintenance', nameOf(String(maintenance['title']), 'Maintenance'), 'Plan it here again.')
  }
  addHistories(draft, (table) => columnsOf(query, table), query)
  return { ...draft, hasVariables: false }
}

/** Returns the name that a column may have in a backup, which has `json_path` as `jsonPath` and others as they are. */
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns a row as the backup has a monitor. */
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

/** Makes pages of status pages, and groups of theirs for the services that have none. */
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
      draft.skip('pages', title, 'None of its monitors comes along.')
      continue
    }
    if (domains.some((domain) => domain.text('status_page_id') === id))
      draft.partly('pages', title, 'Its domain is to be set up here.')
    if (page.text('custom_css') !== '') draft.partly('pages', title, 'It comes without its own style.')
    const description = page.text('description').slice(0, 2000)
    draft.objects.pages.set(
      keyOf(PREFIX, `page ${id}`),
      present({ slug: slugOf(page.text('slug')), name: title, description, services: [...new Set(services)] }),
    )
  }
}

function refusalOf(page: Fields): string | null {
  // What only some could read must not become public.
  if (page.text('password') !== '') return 'It has a password. Create it here, and choose who may read it.'
  return page.get('published') !== undefined && !page.isTrue('published') ? 'It is not published.' : null
}

const byWeight = (one: Fields, other: Fields) => (one.number('weight') ?? 0) - (other.number('weight') ?? 0)

/** Returns the keys of a group's services that come along. */
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

function slugOf(slug: string): string {
  const plain = slug
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return plain.length < 3 ? `${plain}-status`.replace(/^-/, '') : plain
}
