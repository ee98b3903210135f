import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { withPrivateCopy } from '../../src/import/private-copy.ts'
import { translateDatabase } from '../../src/import/sources.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { plainOf } from './setup.ts'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')
const home = await temporaryDirectory()
afterAll(home.remove)
let files = 0

/** The columns of version 1, of those that matter. */
const schema = `
  CREATE TABLE monitor (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL,
    user_id INTEGER, interval INTEGER DEFAULT 20 NOT NULL, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000,
    hostname VARCHAR(255), port INTEGER, created_date DATETIME, keyword VARCHAR(255), maxretries INTEGER NOT NULL DEFAULT 0,
    ignore_tls BOOLEAN DEFAULT 0 NOT NULL, upside_down BOOLEAN DEFAULT 0 NOT NULL, maxredirects INTEGER DEFAULT 10 NOT NULL,
    accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL, dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255),
    retry_interval INTEGER DEFAULT 0, push_token VARCHAR(20), method TEXT DEFAULT 'GET' NOT NULL, body TEXT, headers TEXT,
    basic_auth_user TEXT, basic_auth_pass TEXT, proxy_id INTEGER, auth_method VARCHAR(250), http_body_encoding VARCHAR(25),
    description TEXT, parent INTEGER, invert_keyword BOOLEAN DEFAULT 0 NOT NULL, json_path TEXT, expected_value VARCHAR(255),
    timeout DOUBLE DEFAULT 0 NOT NULL);
  CREATE TABLE notification (id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN, is_default BOOLEAN, config TEXT);
  CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY, monitor_id INTEGER, notification_id INTEGER);
  CREATE TABLE status_page (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, description TEXT, published BOOLEAN DEFAULT 1,
    password TEXT, custom_css TEXT);
  CREATE TABLE status_page_cname (id INTEGER PRIMARY KEY, status_page_id INTEGER, domain TEXT);
  CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT, public BOOLEAN, active BOOLEAN, weight INTEGER, status_page_id INTEGER);
  CREATE TABLE monitor_group (id INTEGER PRIMARY KEY, monitor_id INTEGER, group_id INTEGER, weight INTEGER, send_url BOOLEAN);
  CREATE TABLE maintenance (id INTEGER PRIMARY KEY, title TEXT, description TEXT, active BOOLEAN, strategy TEXT);
  CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, important BOOLEAN, monitor_id INTEGER, status SMALLINT, time DATETIME);`
/** What version 2 adds. */
const version2 = `
  ALTER TABLE monitor ADD COLUMN json_path_operator VARCHAR(255);
  CREATE TABLE stat_daily (id INTEGER PRIMARY KEY, monitor_id INTEGER, timestamp INTEGER, ping FLOAT, up SMALLINT, down SMALLINT,
    extras TEXT);`
const monitors = `
  INSERT INTO monitor (id, name, type, interval) VALUES (1, 'Core', 'group', 60);
  INSERT INTO monitor (id, name, type, url, interval, timeout, maxretries, parent, accepted_statuscodes_json)
    VALUES (2, 'API', 'http', 'https://a.example', 60, 48, 2, 1, '["200-299","404"]');
  INSERT INTO monitor (id, name, type, hostname, port, interval) VALUES (3, 'Database', 'port', 'db.example.com', 5432, 60);`

async function databaseOf(...statements: string[]): Promise<string> {
  const path = join(home.path, `kuma-${++files}.db`)
  const database = new Database(path)
  for (const each of statements) database.exec(each)
  database.close()
  return path
}

const translated = async (...statements: string[]) =>
  plainOf(await withPrivateCopy(await databaseOf(...statements), translateDatabase))

describe('the database of Uptime Kuma', () => {
  test.each([
    ['version 1', ''],
    ['version 2', version2],
  ])('of %s becomes groups, services and monitors with the keys of a backup', async (_, more) => {
    const { groups, services, monitors: made, notes } = await translated(schema, more, monitors)
    expect(notes).toEqual([])
    expect(groups).toEqual({ 'uptime-kuma-1': { name: 'Core' } })
    expect(services).toEqual({
      'uptime-kuma-2': { name: 'API', group: 'uptime-kuma-1' },
      'uptime-kuma-3': { name: 'Database' },
    })
    expect(made?.['uptime-kuma-2']).toEqual({
      ...{ name: 'API', service: 'uptime-kuma-2', intervalSeconds: 60, timeoutMs: 30_000, failureThreshold: 3 },
      http: { url: 'https://a.example', expectedStatus: ['200-299', '404'], maxRedirects: 10 },
    })
    expect(made?.['uptime-kuma-3']).toMatchObject({ tcp: { host: 'db.example.com', port: 5432 } })
  })

  test('of version 2 keeps queries of JSON by their operator', async () => {
    const insert = (id: number, operator: string) =>
      `INSERT INTO monitor (id, name, type, url, json_path, expected_value, json_path_operator, invert_keyword)
       VALUES (${id}, 'Q${id}', 'json-query', 'https://a.example', 'a.b', '1', '${operator}', 0);`
    const { monitors: made, notes } = await translated(schema, version2, insert(1, '=='), insert(2, 'near'))
    expect(made?.['uptime-kuma-1']).toMatchObject({ http: { json: { path: '$.a.b', equals: 1 } } })
    expect(notes).toEqual(['PARTLY monitors Q2: It is checked without its JSON query a.b near 1.'])
  })

  test('has notifications as channels of the monitors that use them', async () => {
    const config = JSON.stringify({ type: 'ntfy', ntfyserverurl: 'https://ntfy.sh', ntfytopic: 'ops' })
    const insert = `INSERT INTO notification (id, name, active, config) VALUES (1, 'Ops', 1, '${config}'), (2, 'Idle', 1, '{}');
      INSERT INTO monitor_notification (monitor_id, notification_id) VALUES (2, 1);`
    const { channels, notes } = await translated(schema, monitors, insert)
    const ntfy = { server: 'https://ntfy.sh', topic: 'ops' }
    expect(channels).toEqual({
      'uptime-kuma-1': { name: 'Ops', monitors: ['uptime-kuma-2'], when: ['DOWN', 'UP'], ntfy },
    })
    expect(notes).toEqual(['SKIPPED channels Idle: None of the monitors that come along uses it.'])
  })

  test('has status pages with their services and groups, but none that only some may read', async () => {
    const insert = `INSERT INTO status_page (id, slug, title, description, published, password, custom_css) VALUES
        (1, 'main', 'Our status', 'All of it', 1, NULL, 'body {}'), (2, 'staff', 'Staff', '', 1, 'hash', ''),
        (3, 'draft', 'Draft', '', 0, NULL, ''), (4, 'none', 'None', '', 1, NULL, '');
      INSERT INTO status_page_cname (status_page_id, domain) VALUES (1, 'status.example.com');
      INSERT INTO "group" (id, name, weight, status_page_id) VALUES (1, 'Storage', 2, 1), (2, 'Front', 1, 1);
      INSERT INTO monitor_group (monitor_id, group_id, weight) VALUES (3, 1, 1), (2, 2, 1), (99, 2, 2);
      INSERT INTO maintenance (title, active) VALUES ('Upgrade', 1), ('Old', 0);
      INSERT INTO heartbeat (monitor_id, status, time) VALUES (2, 1, '2026-01-01 00:00:00.000');`
    const { pages, services, groups, notes } = await translated(schema, monitors, insert)
    expect(Object.values(pages ?? {})).toEqual([
      { slug: 'main', name: 'Our status', description: 'All of it', services: ['uptime-kuma-2', 'uptime-kuma-3'] },
    ])
    const ofPage = services?.['uptime-kuma-3']?.['group']
    expect(groups?.[String(ofPage)]).toEqual({ name: 'Storage' })
    expect(services?.['uptime-kuma-2']?.['group']).toBe('uptime-kuma-1')
    expect(notes).toEqual([
      'PARTLY pages Our status: Its domain is to be set up here.',
      'PARTLY pages Our status: It comes without its own style.',
      'SKIPPED pages Staff: It has a password. Create it here, and choose who may read it.',
      'SKIPPED pages Draft: It is not published.',
      'SKIPPED pages None: None of its monitors comes along.',
      'SKIPPED maintenance Upgrade: Plan it here again.',
    ])
  })

  const historiesOf = async (...statements: string[]) => {
    const { records } = await withPrivateCopy(await databaseOf(...statements), translateDatabase)
    return records.histories.map(({ key, days }) => [key, JSON.parse(days)])
  }

  test('has what was counted by day: of version 2 as it is, of version 1 by heartbeats', async () => {
    const at = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000
    const daily = `INSERT INTO stat_daily (monitor_id, timestamp, up, down, extras) VALUES
      (2, ${at('2026-11-20')}, 1430, 10, '{"maintenance":30}'), (2, ${at('2026-11-22')}, 700, 0, 'no JSON'),
      (2, ${at('2024-01-01')}, 5, 5, NULL), (1, ${at('2026-11-20')}, 1, 1, NULL), (99, ${at('2026-11-20')}, 1, 1, NULL),
      (3, 'x', 1, 1, NULL), (3, ${at('2026-11-21')}, -4, 'many', NULL);`
    const beats = `INSERT INTO heartbeat (monitor_id, status, time) VALUES (2, 1, '2026-11-20 23:59:59.999'),
      (2, 0, '2026-11-21 00:00:00.000'), (2, 2, '2026-11-21 00:01:00.000'), (2, 3, '2026-11-21 00:02:00.000'),
      (3, 1, 'yesterday'), (3, 1, NULL), (3, 1, '2020-01-01 00:00:00.000');`
    expect(await historiesOf(schema, version2, monitors, daily, beats)).toEqual([
      ['uptime-kuma-2', { since: '2026-11-20', up: [1430, 0, 700], down: [10, 0, 0], maintenance: [30, 0, 0] }],
    ])
    expect(await historiesOf(schema, monitors, beats)).toEqual([
      ['uptime-kuma-2', { since: '2026-11-20', up: [1, 0], down: [0, 1], maintenance: [0, 1] }],
    ])
  })

  test('is read with its write-ahead log, and not changed', async () => {
    const path = await databaseOf('PRAGMA journal_mode=DELETE', schema, monitors)
    const before = await readFile(path)
    // As a service in use leaves it: the format of the header says that there is a log.
    const used = Buffer.from(before)
    used.fill(2, 18, 20)
    await writeFile(path, used)
    await writeFile(`${path}-wal`, '')
    expect(plainOf(await withPrivateCopy(path, translateDatabase)).monitors).toHaveProperty('uptime-kuma-2')
    expect(await readFile(path)).toEqual(used)
  })

  test('is refused when it is none, or makes work of reading', async () => {
    const wrong = join(home.path, 'wrong.db')
    await writeFile(wrong, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5000, 0xff)]))
    const cut = join(home.path, 'cut.db')
    await copyFile(await databaseOf(schema, monitors), cut)
    await writeFile(cut, (await readFile(cut)).subarray(0, 6000))
    const endless = `CREATE VIEW monitor AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`
    const paths = [wrong, cut, await databaseOf('CREATE TABLE a (b)'), await databaseOf(endless)]
    for (const path of paths) await expect(withPrivateCopy(path, translateDatabase)).rejects.toThrow(Unreadable)
    const large = `CREATE TABLE monitor (id INTEGER, name TEXT, type TEXT, url TEXT AS (zeroblob(900000000)));
      INSERT INTO monitor VALUES (1, 'A', 'group');`
    expect((await translated(large)).groups).toEqual({ 'uptime-kuma-1': { name: 'A' } })
  })
})
