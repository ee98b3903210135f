import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { translateCachet } from '../../src/import/cachet.ts'
import { translateCachetDatabase } from '../../src/import/cachet-database.ts'
import { type Drafted, Unreadable } from '../../src/import/translation.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { plainOf } from './setup.ts'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')
const home = await temporaryDirectory()
afterAll(home.remove)

/** Expects the same translation, regardless of how the data is read. */
function expectSame({ objects, records, notes }: Drafted) {
  expect(Object.fromEntries(objects.services)).toEqual({
    'cachet-1': { name: 'API', group: 'cachet-2', description: 'It’s for apps; (all)', status: 'PARTIAL_OUTAGE' },
    'cachet-3': { name: 'Site', status: 'OPERATIONAL' },
  })
  expect(records.incidents).toEqual([
    {
      ...{ id: '10', title: 'Slow', impact: 'MAJOR', startedAt: '2026-11-01T10:00:00.000Z' },
      ...{ resolvedAt: '2026-11-01T11:00:00.000Z', postmortem: null },
      updates: [
        {
          ...{ at: '2026-11-01T10:00:00.000Z', status: 'INVESTIGATING', message: 'We **look**.' },
          services: [{ key: 'cachet-1', status: 'PARTIAL_OUTAGE' }],
        },
        { at: '2026-11-01T10:30:00.000Z', status: 'MONITORING', message: "It's better", services: [] },
        { at: '2026-11-01T11:00:00.000Z', status: 'RESOLVED', message: 'Fixed', services: [] },
      ],
    },
  ])
  expect(records.maintenances).toMatchObject([
    {
      ...{ id: '20', title: 'Upgrade', status: 'COMPLETED', services: ['cachet-3'] },
      ...{ startsAt: '2026-11-02T01:00:00.000Z', endsAt: '2026-11-02T02:00:00.000Z' },
    },
    { id: '21', title: 'Planned', status: 'SCHEDULED', endsAt: '2026-12-02T02:00:00.000Z' },
  ])
  expect(records.subscribers).toEqual([
    { address: 'ana@a.example', services: [] },
    { address: 'bob@a.example', services: ['cachet-1'] },
  ])
  expect(plainOf({ objects, notes }).notes.toSorted()).toEqual([
    'PARTLY maintenance Planned: It has no end there, so it lasts 60 minutes here.',
    'SKIPPED incidents Secret: It is not public.',
    'SKIPPED services Internal: Its group is not public.',
    'SKIPPED services Old: It is not enabled.',
    'SKIPPED subscribers eve@a.example: It has not confirmed its subscription there.',
  ])
}

/** The tables of version 2.4 that the import reads, with the columns of its migrations, in each database's dialect. */
const tables = (quote: string) => {
  const table = (name: string, columns: string) =>
    `CREATE TABLE ${quote}chq_${name}${quote} (\n${columns
      .split(', ')
      .map((column) => `  ${quote}${column.split(' ')[0]}${quote} ${column.split(' ').slice(1).join(' ')}`)
      .join(',\n')}\n);`
  return [
    table('component_groups', 'id int, name varchar(255), created_at timestamp, order int, collapsed int, visible int'),
    table(
      'components',
      'id int, name varchar(255), description text, link text, status int, order int, group_id int, enabled int, deleted_at timestamp',
    ),
    table(
      'incidents',
      'id int, component_id int, name varchar(255), status int, visible int, stickied int, message longtext, occurred_at timestamp, created_at timestamp, deleted_at timestamp',
    ),
    table('incident_components', 'id int, incident_id int, component_id int, status_id int'),
    table(
      'incident_updates',
      'id int, incident_id int, status int, message longtext, user_id int, created_at timestamp',
    ),
    table(
      'schedules',
      'id int, name varchar(255), message longtext, status int, scheduled_at timestamp, completed_at timestamp',
    ),
    table('schedule_components', 'id int, schedule_id int, component_id int, component_status int'),
    table('subscribers', 'id int, email varchar(255), verify_code varchar(255), verified_at timestamp, global int'),
    table('subscriptions', 'id int, subscriber_id int, component_id int'),
    table('sessions', 'id varchar(255), payload text'),
  ].join('\n')
}

/** Rows by table; `'` in texts is doubled. */
const rows: Readonly<Record<string, string>> = {
  component_groups: `(2, 'Core', NULL, 0, 0, 1), (5, 'Inside', NULL, 0, 0, 0)`,
  components: `(1, 'API', 'It’s for apps; (all)', '', 3, 0, 2, 1, NULL), (3, 'Site', '', '', 1, 0, 0, 1, NULL), (4, 'Old', '', '', 1, 0, 0, 0, NULL),
    (6, 'Internal', '', '', 1, 0, 5, 1, NULL), (7, 'Gone', '', '', 1, 0, 0, 1, '2026-01-01 00:00:00')`,
  incidents: `(10, 0, 'Slow', 4, 1, 0, 'We **look**.', '2026-11-01 10:00:00', '2026-11-01 09:00:00', NULL),
    (11, 0, 'Secret', 1, 0, 0, '', '2026-11-01 10:00:00', NULL, NULL), (12, 0, 'Gone', 1, 1, 0, '', '2026-11-01 10:00:00', NULL, '2026-11-02 00:00:00')`,
  incident_components: `(1, 10, 1, 3)`,
  incident_updates: `(1, 10, 3, 'It''s better', 1, '2026-11-01 10:30:00'), (2, 10, 4, 'Fixed', 1, '2026-11-01 11:00:00')`,
  schedules: `(20, 'Upgrade', 'Soon', 2, '2026-11-02 01:00:00', '2026-11-02 02:00:00'), (21, 'Planned', '', 0, '2026-12-02 01:00:00', NULL)`,
  schedule_components: `(1, 20, 3, 5)`,
  subscribers: `(1, 'ana@a.example', 'x', '2026-01-01 00:00:00', 1), (2, 'bob@a.example', 'x', '2026-01-01 00:00:00', 0), (3, 'eve@a.example', 'x', NULL, 1)`,
  subscriptions: `(1, 2, 1)`,
  sessions: `('a', 'INSERT INTO \`chq_components\` VALUES (9,''Evil'');')`,
}
const inserts = (quote: string, escaped: (text: string) => string) =>
  Object.entries(rows)
    .map(([name, values]) => `INSERT INTO ${quote}chq_${name}${quote} VALUES ${escaped(values)};`)
    .join('\n')

/** Quotes in texts as MySQL writes them; empty texts stay. */
const escaped = (text: string) => text.replace(/(?<=[\w(,])''(?=\w|\))/g, "\\'")

const dump = () =>
  [
    "-- MySQL dump 10.13, it's a comment; with 'quotes",
    '/*!40101 SET NAMES utf8 */;',
    tables('`'),
    'LOCK TABLES `chq_components` WRITE;',
    inserts('`', escaped),
    'UNLOCK TABLES;',
  ].join('\n')

describe('Cachet', () => {
  test('is read from its SQLite database', () => {
    const path = join(home.path, 'cachet.sqlite')
    const database = new Database(path)
    database.exec(tables('"'))
    database.exec(inserts('"', (text) => text))
    database.close()
    expectSame(translateCachetDatabase(path))
  })

  test('is read from a dump of its MySQL database', () => {
    expectSame(translateCachet(dump()))
    // With column names, in another order, and with values of other types.
    const other = translateCachet(
      "INSERT INTO components (name, id, x, y) VALUES ('A', 1, _binary 'b', 0xff),('B\\\\\\n', '2', now(), -1.5e3);insert into x values ((1));",
    )
    expect(Object.fromEntries(other.objects.services)).toEqual({
      'cachet-1': { name: 'A' },
      'cachet-2': { name: 'B\\' },
    })
  })

  test('is read from the API of version 2, and of version 3', () => {
    const component = (id: number, name: string, more: object = {}) => ({
      id,
      name,
      description: '',
      status: 1,
      group_id: 0,
      enabled: true,
      ...more,
    })
    const version2 = {
      components: {
        data: [
          component(1, 'API', { description: 'It’s for apps; (all)', group_id: 2, status: 3 }),
          component(3, 'Site'),
          component(4, 'Old', { enabled: false }),
          component(6, 'Internal', { group_id: 5 }),
        ],
      },
      groups: [
        { id: 2, name: 'Core', visible: 1 },
        { id: 5, name: 'Inside', visible: 0 },
      ],
      incidents: [
        {
          ...{
            id: 10,
            component_id: 1,
            component_status: 3,
            name: 'Slow',
            message: 'We **look**.',
            status: 4,
            visible: 1,
          },
          ...{ occurred_at: '2026-11-01 10:00:00', created_at: '2026-11-01 09:00:00' },
        },
        { id: 11, name: 'Secret', status: 1, visible: 0, occurred_at: '2026-11-01 10:00:00' },
      ],
      updates: [
        { id: 1, incident_id: 10, status: 3, message: "It's better", created_at: '2026-11-01 10:30:00' },
        { id: 2, incident_id: 10, status: 4, message: 'Fixed', created_at: '2026-11-01 11:00:00' },
      ],
      schedules: [
        {
          id: 20,
          name: 'Upgrade',
          message: 'Soon',
          status: 2,
          scheduled_at: '2026-11-02 01:00:00',
          completed_at: '2026-11-02 02:00:00',
          components: [{ component_id: 3 }],
        },
        { id: 21, name: 'Planned', message: '', status: 0, scheduled_at: '2026-12-02 01:00:00', completed_at: null },
      ],
      subscribers: [
        { id: 1, email: 'ana@a.example', verified_at: '2026-01-01 00:00:00', global: true },
        { id: 2, email: 'bob@a.example', verified_at: '2026-01-01 00:00:00', global: false, components: [{ id: 1 }] },
        { id: 3, email: 'eve@a.example', verified_at: null, global: true },
      ],
    }
    expectSame(translateCachet(JSON.stringify(version2)))
    const item = (type: string, id: string, attributes: object, related: object = {}) => ({
      type,
      id,
      attributes,
      relationships: related,
    })
    const to = (...ids: string[]) => ({ data: ids.map((id) => ({ id })) })
    const time = (string: string) => ({ human: 'ago', string })
    const version3 = {
      components: [
        item(
          'components',
          '1',
          { name: 'API', description: 'It’s for apps; (all)', status: { value: 3 }, enabled: true },
          { group: { data: { id: '2' } } },
        ),
        item('components', '3', { name: 'Site', status: { value: 1 }, enabled: true }),
        item('components', '4', { name: 'Old', enabled: false }),
        item('components', '6', { name: 'Internal', enabled: true }, { group: { data: { id: '5' } } }),
      ],
      included: [
        item('componentGroups', '2', { name: 'Core', visible: { value: 1 } }),
        item('componentGroups', '5', { name: 'Inside', visible: { value: 0 } }),
        item('updates', '1', { status: { value: 3 }, message: "It's better", created: time('2026-11-01 10:30:00') }),
        item('updates', '2', { status: { value: 4 }, message: 'Fixed', created: time('2026-11-01 11:00:00') }),
      ],
      incidents: [
        item(
          ...(['incidents', '10'] as const),
          {
            name: 'Slow',
            message: 'We **look**.',
            status: { value: 1 },
            latest_status: { value: 4 },
            visible: 1,
            occurred: time('2026-11-01 10:00:00'),
            components: [{ id: 1, pivot: { component_status: 3 } }],
          },
          { updates: to('1', '2') },
        ),
        item('incidents', '11', {
          name: 'Secret',
          status: { value: 1 },
          visible: 0,
          occurred: time('2026-11-01 10:00:00'),
        }),
      ],
      schedules: [
        item(
          'schedules',
          '20',
          {
            name: 'Upgrade',
            message: 'Soon',
            scheduled: time('2026-11-02 01:00:00'),
            completed: time('2026-11-02 02:00:00'),
          },
          { components: to('3') },
        ),
        item('schedules', '21', { name: 'Planned', scheduled: time('2026-12-02 01:00:00'), status: { value: 0 } }),
      ],
      subscribers: [
        item('subscribers', '1', { email: 'ana@a.example', verified_at: '2026-01-01 00:00:00', global: true }),
        item(
          'subscribers',
          '2',
          { email: 'bob@a.example', verified_at: '2026-01-01 00:00:00', global: false },
          { components: to('1') },
        ),
        item('subscribers', '3', { email: 'eve@a.example', global: true }),
      ],
    }
    expectSame(translateCachet(JSON.stringify(version3)))
  })

  test.each([
    'SELECT 1',
    "INSERT INTO x VALUES ('",
    'CREATE TABLE components (',
    '`',
    "'",
    '--',
    '/*',
    'INSERT INTO components VALUES',
  ])('refuses the dump %j', (text) => {
    expect(() => translateCachet(text)).toThrow(Unreadable)
  })

  test('takes time in proportion to the size of a dump, regardless of its content', () => {
    const quotes = `INSERT INTO components VALUES ${"('\\'".repeat(500_000)}`
    for (const text of [
      quotes,
      "'".repeat(2_000_001),
      `INSERT INTO components VALUES ${'('.repeat(2_000_000)}`,
      `INSERT INTO ${'a'.repeat(2_000_000)}`,
    ])
      expect(() => translateCachet(text)).toThrow(Unreadable)
    const long = `INSERT INTO components (id, name, description) VALUES (1, 'A', '${'x'.repeat(5_000_000)}');`
    expect(Object.fromEntries(translateCachet(long).objects.services)).toEqual({ 'cachet-1': { name: 'A' } })
  })
})
