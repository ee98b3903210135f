// @slow
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { closeImportProcess } from '../../src/import/import-process.ts'
import type { Row } from '../../src/import/rows.ts'
import { applyImport, planImport } from '../../src/import/run-import.ts'
import { type Source, sources } from '../../src/import/source-names.ts'
import { alertedIn } from '../alerting/setup.ts'
import { outbound } from '../notification/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { uptimeKuma1, uptimeKuma2, uptimeKumaPast, writeDatabase } from '../support/uptime-kuma.ts'

const database = await testDatabase()
const { prisma } = database
const alerted = alertedIn(database, { outbound, mailer: null })
const home = await temporaryDirectory()
afterAll(async () => {
  await closeYamlProcess()
  await closeImportProcess()
  await home.remove()
})

/** Times before and after the tests’ noon. */
const at = (days: number, hours = 0) => new Date(noon.getTime() + (days * 24 + hours) * 3_600_000).toISOString()
const sqlTime = (days: number, hours = 0) => at(days, hours).slice(0, 19).replace('T', ' ')

const kinds = [
  ...['groups', 'services', 'monitors', 'pages', 'channels'],
  ...['history', 'incidents', 'maintenance', 'subscribers'],
] as const
type Kind = (typeof kinds)[number]
/** The number of objects of each kind in a file of a source. */
type Counts = Partial<Record<Kind, number>>

const kumaMonitors = `INSERT INTO monitor (id, name, type) VALUES (1, 'Core', 'group');
  INSERT INTO monitor (id, name, type, url, interval, parent) VALUES (2, 'API', 'http', 'https://a.example', 60, 1);
  INSERT INTO monitor (id, name, type, hostname, port, interval) VALUES (3, 'Database', 'port', 'db.example.com', 5432, 60);`
const kumaConfig = { type: 'ntfy', ntfyserverurl: 'https://ntfy.sh', ntfytopic: 'ops' }
const kumaRest = (
  slug: string,
) => `INSERT INTO notification (id, name, active, config) VALUES (1, 'Ops', 1, '${JSON.stringify(kumaConfig)}');
  INSERT INTO monitor_notification (monitor_id, notification_id) VALUES (2, 1);
  INSERT INTO status_page (id, slug, title) VALUES (1, '${slug}', 'Main');
  INSERT INTO "group" (id, name, status_page_id) VALUES (1, 'Storage', 1);
  INSERT INTO monitor_group (monitor_id, group_id) VALUES (2, 1), (3, 1);
  INSERT INTO maintenance (id, title, description, active, strategy, start_date, end_date, timezone) VALUES
    (1, 'Upgrade', 'All of it', 1, 'single', '${sqlTime(5)}', '${sqlTime(5, 2)}', 'UTC');
  INSERT INTO maintenance (id, title, description, active, strategy, start_time, end_time, weekdays, timezone, duration) VALUES
    (2, 'Nights', '', 1, 'recurring-weekday', '02:00', '03:00', '[1]', 'UTC', 3600);
  INSERT INTO monitor_maintenance (monitor_id, maintenance_id) VALUES (2, 1), (2, 2);
  INSERT INTO incident VALUES (1, 'Slow', 'We look.', 'danger', '${sqlTime(-2)}', NULL, 1, 1, 1);`
const kumaBeats = `INSERT INTO heartbeat (monitor_id, status, time) VALUES (2, 1, '${sqlTime(-2)}'), (2, 0, '${sqlTime(-1)}');`
const kumaDays = `INSERT INTO stat_daily (monitor_id, timestamp, up, down) VALUES
  (2, ${Math.floor(Date.parse(at(-2).slice(0, 10)) / 1000)}, 1430, 10), (3, ${Math.floor(Date.parse(at(-2).slice(0, 10)) / 1000)}, 1440, 0);`

let files = 0
async function kuma(...statements: string[]): Promise<Buffer> {
  const path = join(home.path, `kuma-${++files}.db`)
  writeDatabase(path, statements)
  return readFile(path)
}

const statuspageUpdates = [
  { status: 'resolved', body: 'Fixed', display_at: at(-3, 1) },
  { status: 'investigating', body: 'We look', display_at: at(-3) },
]
const statuspage = {
  page: { id: 'p1', name: 'SLUG' },
  components: [
    { id: 'g', name: 'Core', group: true, components: ['a'] },
    { id: 'a', name: 'API', group: false, group_id: 'g' },
    { id: 'b', name: 'Site', group: false },
  ],
  incidents: [
    {
      ...{ id: 'i1', name: 'Slow', impact: 'major', status: 'resolved', components: [{ id: 'a' }] },
      ...{ created_at: at(-3), resolved_at: at(-3, 1), incident_updates: statuspageUpdates },
    },
  ],
  scheduled_maintenances: [
    {
      ...{ id: 'm1', name: 'Upgrade', impact: 'maintenance', status: 'scheduled', components: [{ id: 'a' }] },
      ...{ scheduled_for: at(5), scheduled_until: at(5, 1) },
      incident_updates: [{ status: 'scheduled', body: 'Soon', display_at: at(-1) }],
    },
  ],
}

const cachet2 = {
  components: { data: [{ id: 1, name: 'API', status: 1, group_id: 2, enabled: true }] },
  groups: { data: [{ id: 2, name: 'Core', visible: 1 }] },
  incidents: {
    data: [
      {
        ...{ id: 10, component_id: 1, component_status: 3, name: 'Slow', message: 'We look.', status: 4, visible: 1 },
        ...{ occurred_at: sqlTime(-3), created_at: sqlTime(-3), updated_at: sqlTime(-3, 1) },
      },
    ],
  },
  updates: [{ id: 1, incident_id: 10, status: 4, message: 'Fixed', created_at: sqlTime(-3, 1) }],
  schedules: {
    data: [
      {
        id: 20,
        name: 'Upgrade',
        message: 'Soon',
        status: 0,
        scheduled_at: sqlTime(5),
        components: [{ component_id: 1 }],
      },
    ],
  },
  subscribers: { data: [{ id: 1, email: 'ana@a.example', verified_at: sqlTime(-90), global: true }] },
}
const jsonApi = (id: number, type: string, attributes: object, relationships: object = {}) => ({
  ...{ id: String(id), type, attributes, relationships },
})
const cachet3 = {
  version: 3,
  components: [
    jsonApi(1, 'components', { name: 'API', status: { value: 1 }, enabled: true }, { group: { data: { id: '2' } } }),
  ],
  included: [jsonApi(2, 'componentGroups', { name: 'Core', visible: { value: 1 } })],
  incidents: [
    jsonApi(
      10,
      'incidents',
      {
        ...{ name: 'Slow', message: 'We look.', status: { value: 4 }, visible: { value: 1 } },
        ...{ occurred: { string: sqlTime(-3) }, created: { string: sqlTime(-3) }, updated: { string: sqlTime(-3, 1) } },
      },
      { components: { data: [{ id: '1' }] } },
    ),
  ],
  schedules: [
    jsonApi(
      20,
      'schedules',
      { name: 'Upgrade', message: 'Soon', status: { value: 0 }, scheduled: { string: sqlTime(5) } },
      { components: { data: [{ id: '1' }] } },
    ),
  ],
  subscribers: [jsonApi(1, 'subscribers', { email: 'ana@a.example', verified_at: sqlTime(-90), global: true })],
}
const cachetDump = `INSERT INTO component_groups (id, name, visible) VALUES (2, 'Core', 1);
INSERT INTO components (id, name, status, group_id, enabled) VALUES (1, 'API', 1, 2, 1);
INSERT INTO incidents (id, component_id, name, status, visible, message, occurred_at) VALUES (10, 1, 'Slow', 4, 1, 'We look.', '${sqlTime(-3)}');
INSERT INTO incident_updates (id, incident_id, status, message, created_at) VALUES (1, 10, 4, 'Fixed', '${sqlTime(-3, 1)}');
INSERT INTO schedules (id, name, message, status, scheduled_at) VALUES (20, 'Upgrade', 'Soon', 0, '${sqlTime(5)}');
INSERT INTO schedule_components (id, schedule_id, component_id, component_status) VALUES (1, 20, 1, 5);
INSERT INTO subscribers (id, email, verified_at, global) VALUES (1, 'ana@a.example', '${sqlTime(-90)}', 1);`

const robotMonitor = { id: 1, friendly_name: 'API', url: 'https://a.example/', type: 1, status: 2, interval: 300 }
const uptimeRobot2 = {
  monitors: [{ ...robotMonitor, mwindows: [{ id: 5 }, { id: 6 }], alert_contacts: [{ id: '8' }] }],
  psps: [{ id: 3, friendly_name: 'SLUG', monitors: 0 }],
  mwindows: [
    { id: 5, type: 1, friendly_name: 'Once', start_time: Date.parse(at(5)) / 1000, duration: 30, status: 1 },
    { id: 6, type: 3, friendly_name: 'Weekly', value: '1', start_time: '02:30', duration: 60, status: 1 },
  ],
  alert_contacts: [{ id: '8', type: 5, friendly_name: 'Hook', value: 'https://hooks.example.com/x' }],
}
const uptimeRobot3 = {
  data: [{ id: 1, friendlyName: 'API', url: 'https://a.example/', type: 'HTTP', status: 'UP', interval: 300 }],
  psps: { data: [{ id: 3, friendlyName: 'SLUG', monitorIds: [1] }] },
  maintenance_windows: {
    data: [
      {
        id: 6,
        name: 'Once',
        interval: 'once',
        date: at(5).slice(0, 10),
        time: '04:00:00',
        duration: 15,
        monitorIds: [1],
      },
    ],
  },
}

const item = (id: number, attributes: object) => ({ id: String(id), attributes })
const affected = (status: string) => ({ affected_resources: [{ status_page_resource_id: '30', status }] })
const betterStack = {
  data: [item(1, { url: 'https://a.example', pronounceable_name: 'API', monitor_type: 'status' })],
  status_pages: [item(10, { company_name: 'Acme', subdomain: 'SLUG' })],
  sections: [item(20, { name: 'Core', position: 0, status_page_id: 10 })],
  resources: [item(30, { status_page_section_id: 20, resource_id: 1, resource_type: 'Monitor', public_name: 'API' })],
  status_reports: [
    item(40, { title: 'Slow', report_type: 'manual', starts_at: at(-3), ends_at: at(-3, 1), ...affected('degraded') }),
    item(41, {
      title: 'Upgrade',
      report_type: 'maintenance',
      starts_at: at(5),
      ends_at: at(5, 1),
      ...affected('maintenance'),
    }),
  ],
  status_updates: [
    item(50, { message: 'We look', published_at: at(-3), status_report_id: 40, ...affected('degraded') }),
  ],
  subscribers: [item(60, { email: 'ana@a.example', confirmed_at: at(-90) })],
}

const instatus = {
  page_id: 'p1',
  pages: [{ id: 'p1', name: 'Acme', subdomain: 'SLUG' }],
  components: [
    { id: 'c0', name: 'Core', isParent: true },
    { id: 'c1', name: 'API', group: { id: 'c0', name: 'Core' } },
  ],
  incidents: [
    {
      ...{ id: 'i1', name: 'Slow', status: 'RESOLVED', impact: 'PARTIALOUTAGE', components: [{ id: 'c1' }] },
      ...{
        started: at(-3),
        resolved: at(-3, 1),
        updates: [{ status: 'RESOLVED', message: 'Fixed', started: at(-3, 1) }],
      },
    },
  ],
  maintenances: [
    { id: 'm1', name: 'Upgrade', status: 'NOTSTARTEDYET', start: at(5), duration: 30, components: ['c1'] },
  ],
  subscribers: [{ id: 's1', email: 'ana@a.example', confirmed: true, all: true }],
}

const gatus = {
  alerting: { ntfy: { topic: 'ops', token: 'tk_abc', url: 'https://ntfy.sh' } },
  endpoints: [
    {
      name: 'api',
      group: 'core',
      url: 'https://a.example',
      conditions: ['[STATUS] == 200'],
      alerts: [{ type: 'ntfy' }],
    },
  ],
}

const upptime = {
  ...{ owner: 'acme', repo: 'upptime' },
  sites: [
    { name: 'Website', url: 'https://a.example' },
    { name: 'Mail', url: 'mail.a.example', check: 'tcp-ping', port: 25 },
  ],
  'status-website': { name: 'SLUG' },
}

const blackboxExporter = {
  modules: { web: { prober: 'http' }, mail: { prober: 'tcp' } },
  scrape_configs: [
    {
      ...{ job_name: 'sites', metrics_path: '/probe', params: { module: ['web'] } },
      static_configs: [
        { targets: ['https://a.example', 'https://b.example'] },
        { targets: ['mail.a.example:25'], labels: { module: 'mail' } },
      ],
    },
  ],
}

const kumaBackup = {
  version: '1.23.16',
  notificationList: [{ id: 1, name: 'Ops', active: true, config: JSON.stringify(kumaConfig) }],
  monitorList: [
    { id: 1, name: 'Core', type: 'group', active: true, interval: 60 },
    {
      id: 2,
      name: 'API',
      type: 'http',
      url: 'https://a.example',
      active: true,
      interval: 60,
      parent: 1,
      notificationIDList: { 1: true },
    },
  ],
}

/** The kinds of objects that each source contains, by way of import. */
const carried: readonly (readonly [name: string, source: Source, file: () => unknown, counts: Counts])[] = [
  ['Uptime Kuma, backup of 1', 'uptime-kuma', () => kumaBackup, { groups: 1, services: 1, monitors: 2, channels: 1 }],
  [
    ...(['Uptime Kuma 1, database', 'uptime-kuma'] as const),
    () => kuma(uptimeKuma1, uptimeKumaPast, kumaMonitors, kumaRest('kinds-of-kuma-1'), kumaBeats),
    { groups: 2, services: 2, monitors: 3, pages: 1, channels: 1, history: 1, incidents: 1, maintenance: 2 },
  ],
  [
    ...(['Uptime Kuma 2, database', 'uptime-kuma'] as const),
    () => kuma(uptimeKuma1, uptimeKuma2, uptimeKumaPast, kumaMonitors, kumaRest('kinds-of-kuma-2'), kumaDays),
    { groups: 2, services: 2, monitors: 3, pages: 1, channels: 1, history: 2, incidents: 1, maintenance: 2 },
  ],
  [
    ...(['Statuspage, public page', 'statuspage', () => statuspage] as const),
    { groups: 1, services: 2, pages: 1, incidents: 1, maintenance: 1 },
  ],
  [
    ...(['Statuspage, with a key', 'statuspage'] as const),
    () => ({
      ...{ page: statuspage.page, components: statuspage.components },
      incidents: [...statuspage.incidents, ...statuspage.scheduled_maintenances],
      subscribers: [{ id: 's1', mode: 'email', email: 'ana@a.example', quarantined_at: null }],
    }),
    { groups: 1, services: 2, pages: 1, incidents: 1, maintenance: 1, subscribers: 1 },
  ],
  [
    'Statuspage, subscribers',
    'statuspage',
    () => 'type,email\nemail,ana@a.example\nemail,bob@a.example\n',
    { subscribers: 2 },
  ],
  ['Gatus', 'gatus', () => stringify(gatus), { groups: 1, services: 1, monitors: 1, channels: 1 }],
  [
    ...(['OpenStatus', 'openstatus'] as const),
    () =>
      stringify({
        api: {
          name: 'API',
          frequency: '1m',
          active: true,
          public: true,
          kind: 'http',
          request: { url: 'https://a.example' },
        },
      }),
    { services: 1, monitors: 1 },
  ],
  ...(
    [
      ['Cachet 2, API', () => cachet2],
      ['Cachet 3, API', () => cachet3],
      ['Cachet, dump of its database', () => cachetDump],
    ] as const
  ).map(([name, file]) => {
    const counts = { groups: 1, services: 1, incidents: 1, maintenance: 1, subscribers: 1 }
    return [name, 'cachet', file, counts] as const
  }),
  [
    ...(['UptimeRobot, version 2', 'uptimerobot', () => uptimeRobot2] as const),
    { services: 1, monitors: 1, pages: 1, channels: 1, maintenance: 2 },
  ],
  [
    ...(['UptimeRobot, version 3', 'uptimerobot', () => uptimeRobot3] as const),
    { services: 1, monitors: 1, pages: 1, maintenance: 1 },
  ],
  [
    ...(['Better Stack', 'betterstack', () => betterStack] as const),
    { groups: 1, services: 1, monitors: 1, pages: 1, incidents: 1, maintenance: 1, subscribers: 1 },
  ],
  [
    ...(['Instatus', 'instatus', () => instatus] as const),
    { groups: 1, services: 1, pages: 1, incidents: 1, maintenance: 1, subscribers: 1 },
  ],
  [
    ...(['HetrixTools', 'hetrixtools'] as const),
    () => ({ monitors: [{ id: 'a1', name: 'Mail', type: 'ipv4', target: '203.0.113.7' }] }),
    { monitors: 1 },
  ],
  ['Upptime', 'upptime', () => stringify(upptime), { services: 2, monitors: 2, pages: 1 }],
  [
    ...(['Prometheus blackbox exporter', 'blackbox-exporter', () => stringify(blackboxExporter)] as const),
    { groups: 1, services: 3, monitors: 3 },
  ],
]

/** Returns how many of each kind a table creates. */
function created(rows: readonly Row[]): Counts {
  const counts: Counts = {}
  for (const { outcome, section, name } of rows) {
    if (outcome !== 'CREATED') continue
    const kind = section as Kind
    // Subscribers have one row, with their count.
    counts[kind] = (counts[kind] ?? 0) + (kind === 'subscribers' ? Number(name) : 1)
  }
  return counts
}

async function stored(organizationId: string): Promise<Counts> {
  const where = { organizationId }
  const counts: Record<Kind, number> = {
    groups: await prisma.serviceGroup.count({ where }),
    services: await prisma.service.count({ where }),
    monitors: await prisma.monitor.count({ where }),
    pages: (await prisma.page.count({ where })) - 1,
    channels: await prisma.alertChannel.count({ where }),
    history: await prisma.importedHistory.count({ where }),
    incidents: await prisma.incident.count({ where }),
    maintenance:
      (await prisma.maintenance.count({ where: { ...where, seriesId: null } })) +
      (await prisma.maintenanceSeries.count({ where })),
    subscribers: (await prisma.subscriber.count({ where })) - 1,
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}

describe('the kinds that each source imports', () => {
  test.each(carried)(
    '%s: shown by a dry run, imported without a message, and found again',
    async (_, source, file, counts) => {
      const tenant = await alerted.tenant('TEAM')
      const ctx = alerted.own(tenant)
      await alerted.subscriber(tenant, { email: 'reader@a.example' })
      const given = await file()
      const text = typeof given === 'string' || Buffer.isBuffer(given) ? given : JSON.stringify(given)
      const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text.replaceAll('SLUG', `${tenant.slug}-own`))
      const plan = () => planImport(ctx, { source, name: '', file: bytes, variables: [] })
      const dry = await plan()
      const before = await stored(tenant.id)
      expect([created(dry.rows), before]).toEqual([counts, {}])
      const made = await applyImport(ctx, dry.sealed)
      expect([created(made.rows), made.changeCount]).toEqual([counts, dry.changeCount])
      expect(await stored(tenant.id)).toEqual(counts)
      await alerted.run(tenant)
      const where = { organizationId: tenant.id }
      expect([await prisma.delivery.count({ where }), await prisma.alertDelivery.count({ where })]).toEqual([0, 0])
      const again = await plan()
      expect([again.changeCount, created(again.rows)]).toEqual([0, {}])
      expect((await applyImport(ctx, again.sealed)).changeCount).toBe(0)
      expect(await stored(tenant.id)).toEqual(counts)
    },
  )

  test('cover all sources', () => {
    expect([...new Set(carried.map(([, source]) => source))].toSorted()).toEqual([...sources].toSorted())
  })

  test('cover all kinds', () => {
    const all = new Set(carried.flatMap(([, , , counts]) => Object.keys(counts)))
    expect([...all].toSorted()).toEqual([...kinds].toSorted())
  })
})
