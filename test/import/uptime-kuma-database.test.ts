import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { withPrivateCopy } from '../../src/import/private-copy.ts'
import { translateDatabase as translateNamed } from '../../src/import/sources.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import {
  uptimeKuma1 as schema,
  uptimeKumaPast,
  uptimeKuma2 as version2,
  writeDatabase,
} from '../support/uptime-kuma.ts'
import { plainOf } from './setup.ts'

const home = await temporaryDirectory()
afterAll(home.remove)
let files = 0
const translateDatabase = (path: string) => translateNamed({ source: 'uptime-kuma', name: '' }, path)

const monitors = `
  INSERT INTO monitor (id, name, type, interval) VALUES (1, 'Core', 'group', 60);
  INSERT INTO monitor (id, name, type, url, interval, timeout, maxretries, parent, accepted_statuscodes_json)
    VALUES (2, 'API', 'http', 'https://a.example', 60, 48, 2, 1, '["200-299","404"]');
  INSERT INTO monitor (id, name, type, hostname, port, interval) VALUES (3, 'Database', 'port', 'db.example.com', 5432, 60);`

async function databaseOf(...statements: string[]): Promise<string> {
  const path = join(home.path, `kuma-${++files}.db`)
  writeDatabase(path, statements)
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

  test('of version 2 keeps JSON queries with their operator', async () => {
    const insert = (id: number, operator: string) =>
      `INSERT INTO monitor (id, name, type, url, json_path, expected_value, json_path_operator, invert_keyword)
       VALUES (${id}, 'Q${id}', 'json-query', 'https://a.example', 'a.b', '1', '${operator}', 0);`
    const { monitors: made, notes } = await translated(schema, version2, insert(1, '=='), insert(2, 'near'))
    expect(made?.['uptime-kuma-1']).toMatchObject({ http: { json: { path: '$.a.b', equals: 1 } } })
    expect(notes).toEqual(['PARTLY monitors Q2: It is probed without its JSON query a.b near 1.'])
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
    expect(notes).toEqual(['SKIPPED channels Idle: None of the imported monitors uses it.'])
  })

  test('has public status pages with their services and groups, but no private ones', async () => {
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
      'PARTLY pages Our status: Set up its domain here.',
      'PARTLY pages Our status: Its own style is not imported.',
      'SKIPPED pages Staff: It has a password. Create the page here and set its access.',
      'SKIPPED pages Draft: It is not published.',
      'SKIPPED pages None: None of its monitors is imported.',
      'SKIPPED maintenance Upgrade: None of its monitors is imported.',
      'SKIPPED maintenance Old: None of its monitors is imported.',
      'PARTLY groups group.name: Its services are in other groups already, or its page is not imported. In Front.',
    ])
  })

  test('has maintenance, once or repeating, and the incidents of its pages', async () => {
    const zoned = `${uptimeKumaPast}
      INSERT INTO setting (key, value) VALUES ('serverTimezone', '"Europe/Berlin"');
      INSERT INTO status_page (id, slug, title) VALUES (1, 'main', 'Main');
      INSERT INTO "group" (id, name, status_page_id) VALUES (1, 'G', 1);
      INSERT INTO monitor_group (monitor_id, group_id) VALUES (2, 1), (3, 1);
      INSERT INTO maintenance (id, title, description, active, strategy, start_date, end_date, start_time, end_time, weekdays, days_of_month,
        interval_day, cron, timezone, duration) VALUES
        (1, 'Once', 'All of it', 1, 'single', '2026-12-01 02:00:00', '2026-12-01 04:00:00', NULL, NULL, '[]', '[]', NULL, NULL, 'America/New_York', NULL),
        (2, 'Nights', '', 1, 'recurring-weekday', '2026-01-01 00:00:00', '2027-01-01 00:00:00', '23:30', '01:00', '[1,0]', '[]', NULL, NULL, 'SAME_AS_SERVER', 5400),
        (3, 'Days', '', 1, 'recurring-day-of-month', NULL, NULL, '02:00', '03:00', '[]', '[1,"lastDay1"]', NULL, NULL, 'UTC', 3600),
        (4, 'Each third', '', 1, 'recurring-interval', '2026-01-05 00:00:00', NULL, '02:00', '03:00', '[]', '[]', 3, NULL, 'UTC', 3600),
        (5, 'Cron', '', 1, 'cron', NULL, NULL, NULL, NULL, '[]', '[]', NULL, '30 3 * * 1-5', 'UTC', 1800),
        (6, 'Odd', '', 1, 'cron', NULL, NULL, NULL, NULL, '[]', '[]', NULL, '*/5 * * * *', 'UTC', 60),
        (7, 'By hand', '', 1, 'manual', NULL, NULL, NULL, NULL, '[]', '[]', NULL, NULL, 'UTC', NULL),
        (8, 'Off', '', 0, 'single', '2026-12-01 02:00:00', '2026-12-01 04:00:00', NULL, NULL, '[]', '[]', NULL, NULL, 'UTC', NULL);
      INSERT INTO monitor_maintenance (monitor_id, maintenance_id) SELECT 2, id FROM maintenance WHERE id <> 1;
      INSERT INTO maintenance_status_page (status_page_id, maintenance_id) VALUES (1, 1), (1, 2);
      INSERT INTO incident VALUES (1, 'Slow', 'We **look**.', 'danger', '2026-11-01 10:00:00', NULL, 1, 1, 1),
        (2, 'Over', 'Was', 'info', '2026-10-01 10:00:00', '2026-10-02 10:00:00', 0, 1, 1), (3, 'Elsewhere', '', 'info', '2026-10-01 10:00:00', NULL, 1, 1, 9);`
    const { records, notes } = await withPrivateCopy(await databaseOf(schema, monitors, zoned), translateDatabase)
    const parsed = (all: readonly { readonly json: string }[]) => all.map(({ json }) => JSON.parse(json))
    const both = ['uptime-kuma-2', 'uptime-kuma-3']
    expect(parsed(records.maintenances)).toMatchObject([
      { title: 'Once', startsAt: '2026-12-01T07:00:00.000Z', endsAt: '2026-12-01T09:00:00.000Z', services: both },
    ])
    expect(parsed(records.series)).toMatchObject([
      {
        ...{ title: 'Nights', timeZone: 'Europe/Berlin', startsAt: '2026-01-01T22:30:00.000Z', durationMinutes: 90 },
        ...{ rule: 'FREQ=WEEKLY;BYDAY=MO,SU;UNTIL=20261231T230000Z', services: ['uptime-kuma-2'] },
      },
      {
        title: 'Days',
        rule: 'FREQ=MONTHLY;BYMONTHDAY=1,-1',
        durationMinutes: 60,
        startsAt: '2024-01-07T02:00:00.000Z',
      },
      { title: 'Each third', rule: 'FREQ=DAILY;INTERVAL=3', startsAt: '2026-01-05T02:00:00.000Z' },
      { title: 'Cron', rule: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', durationMinutes: 30 },
    ])
    expect(parsed(records.incidents)).toMatchObject([
      { title: 'Over', impact: 'NONE', resolvedAt: '2026-10-02T10:00:00.000Z' },
      {
        ...{ title: 'Slow', impact: 'MAJOR', startedAt: '2026-11-01T10:00:00.000Z', resolvedAt: null },
        updates: [{ message: 'We **look**.', services: both.map((key) => ({ key, status: 'OPERATIONAL' })) }],
      },
    ])
    expect(notes.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      'Odd: Its schedule is not supported: */5 * * * *.',
      'By hand: It is started and ended manually. Schedule it here.',
      'Off: It is not active.',
      'Elsewhere: Its status page is not imported.',
    ])
  })

  const historiesOf = async (...statements: string[]) => {
    const { records } = await withPrivateCopy(await databaseOf(...statements), translateDatabase)
    return records.histories.map(({ key, days }) => [key, JSON.parse(days)])
  }

  test('has daily counts: stored ones of version 2, counted from heartbeats of version 1', async () => {
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

  test('is read together with its write-ahead log, and not changed', async () => {
    const path = await databaseOf('PRAGMA journal_mode=DELETE', schema, monitors)
    const before = await readFile(path)
    // The file of a running service: its header says that there is a write-ahead log.
    const used = Buffer.from(before)
    used.fill(2, 18, 20)
    await writeFile(path, used)
    await writeFile(`${path}-wal`, '')
    expect(plainOf(await withPrivateCopy(path, translateDatabase)).monitors).toHaveProperty('uptime-kuma-2')
    expect(await readFile(path)).toEqual(used)
  })

  test('has a note on each unknown column, table and setting, without values', async () => {
    const tables = ['monitor', 'notification', 'status_page', 'maintenance', 'incident', 'monitor_group']
    const { notes } = await translated(
      ...[schema, version2, uptimeKumaPast, monitors],
      `INSERT INTO notification (id, name, active, config) VALUES (1, 'Ops', 1, '{"type":"slack","slackwebhookURL":"https://a.example","zzInner":"zz-secret"}');
       INSERT INTO monitor_notification (monitor_id, notification_id) VALUES (2, 1);
       INSERT INTO status_page (id, slug, title) VALUES (1, 'main', 'Main');
       INSERT INTO "group" (id, name, status_page_id) VALUES (1, 'Storage', 1);
       INSERT INTO monitor_group (monitor_id, group_id) VALUES (3, 1);
       INSERT INTO maintenance (id, title, active, strategy, start_date, end_date) VALUES (1, 'Up', 1, 'single', '2026-12-01 10:00:00', '2026-12-01 11:00:00');
       INSERT INTO monitor_maintenance (monitor_id, maintenance_id) VALUES (3, 1);
       INSERT INTO incident (id, title, content, style, created_date, pin, active, status_page_id) VALUES (1, 'Slow', '', 'danger', '2026-11-01 10:00:00', 1, 1, 1);
       INSERT INTO setting (id, key, value) VALUES (1, 'steamAPIKey', '"zz-secret"'), (2, 'serverTimezone', '"UTC"');
       CREATE TABLE tag (id INTEGER, name TEXT); INSERT INTO tag VALUES (1, 'zz-secret');
       CREATE TABLE zz_table (a TEXT); INSERT INTO zz_table VALUES ('zz-secret'); CREATE TABLE zz_empty (a TEXT);`,
      ...tables.map(
        (table) => `ALTER TABLE ${table} ADD COLUMN zz_column TEXT; UPDATE ${table} SET zz_column = 'zz-secret';`,
      ),
    )
    const names = notes.map((note) => /^\w+ \w+ ([^:]+): /.exec(note)?.[1])
    expect(names).toEqual(
      expect.arrayContaining([
        ...['monitor.zzColumn', ...tables.slice(1).map((table) => `${table}.zz_column`)],
        ...['notification.config.zzInner', 'setting.steamAPIKey', 'table tag', 'table zz_table'],
      ]),
    )
    expect(names).not.toContain('table zz_empty')
    expect(names).not.toContain('setting.serverTimezone')
    expect(notes.join('\n')).not.toContain('zz-secret')
  })

  test('is refused when it is not a database, or is too expensive to read', async () => {
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
