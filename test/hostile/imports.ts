import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bomb } from './bomb.ts'
import type { HostileCase } from './case.ts'
import { asMember, form, upload } from './console.ts'
import { mutation } from './inputs.ts'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')

const import_ = (name: string, from: string, content: Buffer | string, statuses: readonly number[] = [422]) =>
  asMember(`a file to import: ${name}`, statuses, `import?from=${from}`, upload('file', Buffer.from(content)))

const depth = 2_000_000
const monitors = (count: number) =>
  JSON.stringify({
    monitorList: Array.from({ length: count }, (_, id) => ({ id, name: 'a', type: 'http', url: 'x:' })),
  })
const aliases = Array.from({ length: 30 }, (_, level) =>
  level === 0 ? 'a0: &a0 [x, x]' : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`,
)

/** Each merges the one before it twice. */
const merges = Array.from({ length: 40 }, (_, level) =>
  level === 0 ? 'a0: &a0 {x: 1}' : `a${level}: &a${level} {<<: [*a${level - 1}, *a${level - 1}]}`,
)
const unknownKeys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n')
const wideAnchor = `a: &a {${Array.from({ length: 1000 }, (_, index) => `k${index}: 1`).join(', ')}}`

/** Returns a SQLite file created by these statements. */
function databaseOf(...statements: readonly string[]): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'allclear-hostile-'))
  const path = join(directory, 'kuma.db')
  const database = new Database(path)
  for (const each of statements) database.exec(each)
  database.close()
  const file = readFileSync(path)
  rmSync(directory, { recursive: true })
  return file
}

/** Endless rows, and columns that are large. */
const busyDatabase = () =>
  databaseOf(`CREATE TABLE monitor (id INTEGER, name TEXT, url TEXT AS (zeroblob(900000000)));
    INSERT INTO monitor VALUES (1, 'a');
    CREATE VIEW status_page AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n;`)

const counted = (monitorsCount: number, days: number) => `
  CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, type TEXT, url TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${monitorsCount})
    INSERT INTO monitor SELECT i, 'M' || i, 'http', 'https://m' || i || '.example/' FROM n;
  CREATE TABLE stat_daily (id INTEGER PRIMARY KEY, monitor_id INTEGER, timestamp INTEGER, up INTEGER, down INTEGER, extras TEXT);
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${monitorsCount * days - 1})
    INSERT INTO stat_daily SELECT i, i / ${days} + 1, 1700000000 + 86400 * (i % ${days}), 1440, 1, '{"maintenance":1}' FROM n;`

/** A database with tables that share a root page, and inner pages that point to each other. */
function forgedDatabase(): Buffer {
  const whole = databaseOf(
    counted(400, 20),
    `CREATE TABLE status_page (id INTEGER PRIMARY KEY, slug TEXT, title TEXT);
     PRAGMA writable_schema = ON;
     UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'stat_daily') WHERE name = 'status_page';`,
  )
  const forged = Buffer.from(whole)
  for (let at = 4096; at + 12 < forged.length; at += 4096)
    if (forged[at] === 5) forged.writeUInt32BE(at / 4096 + 1, at + 8)
  return forged
}

/** A case with a file that is created on first use. */
const lazily = (name: string, from: string, make: () => Buffer | string, statuses: readonly number[]): HostileCase => {
  let made: Buffer | undefined
  return {
    name: `the console: a file to import: ${name}`,
    statuses,
    send: (target) => {
      made ??= Buffer.from(make())
      return import_(name, from, made, statuses).send(target)
    },
  }
}

const block = Buffer.alloc(64 * 1024, 'x')

function writeOn(response: ServerResponse): void {
  while (!response.destroyed && response.write(block));
  response.once('drain', () => writeOn(response))
}

/** A case of an import that fetches from an attacker's server. */
function fetched(
  name: string,
  from: string,
  answer: RequestListener,
  statuses: readonly number[] = [422],
): HostileCase {
  return {
    name: `the console: an import that is fetched: ${name}`,
    statuses,
    waits: true,
    async send(target) {
      const server = createServer(answer)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      try {
        const sent = form(new URLSearchParams({ from, address, key: '', text: '' }).toString())
        return await asMember(name, statuses, `import?from=${from}`, sent).send(target)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

let sendings = 0

/** A case of records, with new ids each time. */
const recording = (name: string, records: (id: number) => object) =>
  mutation(`records of another tool: ${name}`, 'importRecords', () => ({ source: 'Hostile', ...records(++sendings) }))
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
const at = '2026-01-01T00:00:00Z'
const update = (message: string, services: object[] = []) => ({ at, status: 'IDENTIFIED', message, services })
const incident = (id: string, updates: object[]) => ({
  id,
  title: 'Hostile',
  impact: 'MINOR',
  startedAt: at,
  resolvedAt: at,
  updates,
})

const longIncident = (index: number) => ({
  ...{ id: `i${index}`, name: 'Hostile', status: 'resolved', impact: 'minor', created_at: at },
  components: [],
  incident_updates: many(12, () => ({ status: 'identified', display_at: at, body: '<a '.repeat(30) })),
})

/** Broken files of other tools, servers that impersonate them, and as many records as a request accepts. */
export const imports: readonly HostileCase[] = [
  import_('20 MB of brackets', 'uptime-kuma', '['.repeat(19_000_000)),
  // Parsed, they take more memory than the program that reads them may have.
  import_('20 MB of empty objects', 'uptime-kuma', `[${'{},'.repeat(6_600_000)}1]`),
  import_('20 MB of objects in lists', 'statuspage', `[${'[{}],'.repeat(3_900_000)}1]`),
  import_('20 MB of commas', 'statuspage', `email,${','.repeat(19_000_000)}`, [200, 422]),
  import_('20 MB of values', 'cachet', `INSERT INTO components VALUES (${'1,'.repeat(9_000_000)}1);`, [200, 422]),
  import_('20 MB of zeros', 'uptime-kuma', Buffer.alloc(19_000_000)),
  import_('objects in objects', 'statuspage', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  import_('100,000 monitors', 'uptime-kuma', monitors(100_000)),
  import_('10,000 monitors with a wrong address', 'uptime-kuma', monitors(10_000)),
  import_(
    'members of every object',
    'statuspage',
    '{"__proto__":{"a":1},"components":[{"id":"__proto__","group":true}]}',
    [200, 422],
  ),
  import_('30 levels of aliases', 'gatus', `${aliases.join('\n')}\nendpoints: *a29`),
  import_('40 levels of merge keys', 'gatus', `${merges.join('\n')}\nendpoints: [*a39]`),
  import_('a merge key that merges itself', 'openstatus', 'a: &a { request: {}, <<: *a }'),
  import_('100,000 merges of one anchor', 'gatus', `a: &a {b: 1}\nendpoints:\n${'- {<<: *a}\n'.repeat(80_000)}`),
  import_('merges of a large object', 'upptime', `${wideAnchor}\nsites:\n${'- {<<: *a, name: x}\n'.repeat(1900)}`),
  import_(
    '15,000 unknown keys',
    'upptime',
    `sites: [{name: a, url: "https://a.example"}]\n${unknownKeys(15_000)}`,
    [200, 422],
  ),
  lazily(
    'a million unknown keys',
    'statuspage',
    () =>
      JSON.stringify({ components: [{ id: 'a', name: 'A' }] }).replace(
        '}]',
        many(900_000, (index) => `,"k${index}":1`)
          .join('')
          .concat('}]'),
      ),
    [200, 422],
  ),
  import_(
    'unknown objects in objects',
    'betterstack',
    `{"data":[{"id":"1","attributes":${'{"relationships":'.repeat(9000)}1${'}'.repeat(9000)}}]}`,
    [200, 422],
  ),
  import_('unknown lists in lists', 'instatus', `[{"id":"a","zz":${'['.repeat(9000)}${']'.repeat(9000)}}]`, [200, 422]),
  import_(
    'a target that is slow to match',
    'blackbox-exporter',
    `modules: {m: {prober: tcp, tcp: {query_response: [{expect: "^${'\\\\+'.repeat(20_000)}("}]}}}\nscrape_configs: [{job_name: a, metrics_path: /probe, params: {module: [m]}, static_configs: [{targets: ["${':'.repeat(50_000)}", "a:1"]}]}]`,
    [200, 422],
  ),
  import_('YAML of 19 MB', 'gatus', 'endpoints:\n'.concat('- {name: a}\n'.repeat(1_500_000))),
  import_('YAML in brackets', 'gatus', `endpoints: ${'['.repeat(1_000_000)}`),
  import_(
    'a database of zeros',
    'uptime-kuma',
    Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(19_000_000)]),
  ),
  lazily('a database that makes work', 'uptime-kuma', busyDatabase, [200]),
  import_('a file of 30 MB', 'gatus', Buffer.alloc(30_000_000), [413]),
  lazily('300,000 days of Uptime Kuma', 'uptime-kuma', () => databaseOf(counted(500, 600)), [200]),
  lazily('a database with a forged schema', 'uptime-kuma', forgedDatabase, [200, 422]),
  import_(
    'a dump of one line',
    'cachet',
    `INSERT INTO components VALUES ${"(1,'\\''),".repeat(2_000_000)}`,
    [200, 422],
  ),
  import_('a dump of quotes', 'cachet', "'".repeat(19_000_000)),
  import_('a dump of brackets', 'cachet', `INSERT INTO components VALUES ${'('.repeat(19_000_000)}`),
  lazily(
    '5,000 incidents with 60,000 updates',
    'statuspage',
    () =>
      JSON.stringify({
        incidents: many(5000, longIncident).map((each, index) => ({ ...each, id: `i${index}` })),
      }),
    [200, 413, 422],
  ),
  import_(
    '100,000 subscribers',
    'statuspage',
    many(100_000, (index) => `email,a${index}@a.example,yes`).join('\n'),
    [200, 422],
  ),
  fetched('an endless body', 'statuspage', (_, response) => writeOn(response.writeHead(200))),
  fetched('an answer that never comes', 'cachet', () => {}),
  fetched('a redirect to the service', 'statuspage', (_, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:80/' }).end()
  }),
  fetched('a gzip bomb', 'statuspage', (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb(100))
  }),
  fetched('2 MB of brackets', 'cachet', (_, response) => void response.writeHead(200).end('['.repeat(2_400_000))),
  fetched('endless pages', 'cachet', ({ url }, response) =>
    json(response, { data: many(50, (index) => ({ id: `${url}${index}`, attributes: { name: 'x'.repeat(1000) } })) }),
  ),
  fetched('an error', 'statuspage', (_, response) => void response.writeHead(500).end()),
  recording('incidents with markdown that is slow', (id) => ({
    incidents: many(60, (index) =>
      incident(
        `${id} ${index}`,
        many(8, () => update('*a _'.repeat(60))),
      ),
    ),
  })),
  recording('incidents with many updates', (id) => ({
    incidents: many(4, (index) =>
      incident(
        `${id} ${index}`,
        many(400, () => update('')),
      ),
    ),
  })),
  recording('incidents with many services', (id) => ({
    incidents: many(20, (index) =>
      incident(`${id} ${index}`, [
        update(
          '',
          many(80, () => ({ key: 'none', status: 'MAJOR_OUTAGE' })),
        ),
      ]),
    ),
  })),
  recording('maintenances', (id) => ({
    maintenances: many(100, (index) => ({
      id: `${id} ${index}`,
      title: 'Hostile',
      status: 'COMPLETED',
      startsAt: at,
      endsAt: at,
      services: [],
      updates: [],
    })),
  })),
  recording('repeating maintenances', (id) => ({
    series: many(50, (index) => ({
      ...{ id: `${id} ${index}`, title: 'Hostile', message: 'x', startsAt: at, durationMinutes: 1, services: [] },
      rule: 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31',
    })),
  })),
  recording('subscribers', (id) => ({
    subscribers: many(2000, (index) => ({ address: `a${id}x${index}@a.example` })),
  })),
  asMember('an import that was not prepared', [422], 'import/apply', form(`prepared=s1.${'A'.repeat(1_900_000)}`)),
]
