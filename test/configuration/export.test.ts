// @slow
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files contain such placeholders.
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createAlertChannel } from '../../src/alerting/channel.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { createMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { createObjective } from '../../src/monitoring/objective/objective.ts'
import { createPage } from '../../src/status/page/page.ts'
import { createService } from '../../src/status/service/service.ts'
import { createServiceGroup } from '../../src/status/service/service-group.ts'
import { createTemplate } from '../../src/status/template/template.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { configuredIn } from './setup.ts'

const database = await testDatabase()
const configured = configuredIn(database)
afterAll(closeYamlProcess)

/** Names that clash, are not valid keys, or have another meaning in YAML. */
const name = fc.constantFrom(
  'API',
  'Api',
  'api-2',
  'Öffentlich',
  '状態',
  'true',
  'null',
  '0x1f',
  '- a: b',
  '# no',
  '${NAME}',
  '$$',
  '1e3',
  '<<',
)
const prose = fc.constantFrom('', 'One line.', 'Two\nlines: {a}', '"quoted" ${X} $${Y} \\', '  ', '| x')
const index = fc.nat({ max: 20 })

const options = fc.oneof(
  fc.record({
    http: fc.record(
      {
        url: fc.constantFrom('https://example.com', 'HTTP://Example.com/a?b#c', 'https://example.com:8443/'),
        method: fc.constantFrom('POST', 'PUT'),
        body: prose,
        headers: fc.array(
          fc.record({ name: fc.constantFrom('X-A', 'x-a', 'Cookie'), value: fc.constantFrom('', 'a', '${B}') }),
          { maxLength: 3 },
        ),
        expectedStatus: fc.constantFrom(['2xx'], ['200', '300-399']),
        keyword: fc.record({ text: fc.constant('ok'), absent: fc.boolean() }),
        json: fc.record({ path: fc.constant('$.a'), equals: fc.constantFrom('1', 1, true) }),
        maxRedirects: fc.constantFrom(0, 5),
        certificateDays: fc.constantFrom(0, 14),
        verifyCertificate: fc.boolean(),
      },
      { requiredKeys: ['url', 'method'] },
    ),
  }),
  fc.record({
    tcp: fc.record(
      {
        host: fc.constant('example.com'),
        port: fc.constantFrom(443, 5432),
        send: fc.constantFrom('PING\\r\\n', '${X}'),
      },
      { requiredKeys: ['host', 'port'] },
    ),
  }),
  fc.record({
    dns: fc.record(
      {
        name: fc.constant('example.com'),
        recordType: fc.constant('MX'),
        expected: fc.constantFrom([], ['10 mail.example.com.']),
      },
      { requiredKeys: ['name', 'recordType'] },
    ),
  }),
  fc.constant({ ping: { host: 'example.com', count: 5 } }),
  fc.record({ heartbeat: fc.record({ graceSeconds: fc.constantFrom(0, 300) }) }),
  fc.constant({ blacklist: { target: '203.0.113.7' } }),
)
const organization = fc.record({
  groups: fc.array(fc.record({ name, description: prose }), { maxLength: 3 }),
  services: fc.array(fc.record({ name, description: prose, group: index }), { maxLength: 4 }),
  monitors: fc.array(
    fc.record({
      name,
      options,
      service: index,
      parent: index,
      failureThreshold: fc.constantFrom(1, 2, 5),
      agreement: fc.constantFrom(null, 2),
    }),
    { maxLength: 5 },
  ),
  pools: fc.array(
    fc.record({
      name,
      service: fc.option(index),
      members: fc.uniqueArray(index, { minLength: 1, maxLength: 3 }),
      rule: fc.constantFrom<object[]>({ require: 'ALL' }, { require: 'ANY' }, { require: 'AT_LEAST', count: 1 }, {}),
    }),
    { maxLength: 3 },
  ),
  pages: fc.array(
    fc.record({
      name,
      description: fc.option(prose),
      service: fc.option(index),
      accentColor: fc.constantFrom(null, '#AABBCC'),
    }),
    { maxLength: 2 },
  ),
  channels: fc.array(
    fc.record({
      name,
      address: fc.constantFrom(
        { ntfy: { topic: 'ops' } },
        { webhook: { url: 'https://hooks.example.com/x' } },
        { mail: { address: 'ops@example.com' } },
      ),
      when: fc.constantFrom(undefined, ['DOWN']),
      monitor: index,
      boss: index,
      quiet: fc.constantFrom<object[]>(
        { quietTimes: null },
        { quietTimes: { windows: [{ days: ['SATURDAY', 'SUNDAY'], from: '00:00', to: '24:00' }] } },
      ),
    }),
    { maxLength: 3 },
  ),
  templates: fc.uniqueArray(
    fc.record({
      kind: fc.constantFrom('INCIDENT' as const, 'UPDATE' as const, 'MAINTENANCE' as const),
      name,
      title: fc.constantFrom('', 'Slow: {{service}}', '${X}'),
      message: fc.constantFrom('One line.', 'Two\nlines: {a}', '${X} $${Y}'),
      translations: fc.constantFrom(
        [],
        [{ language: 'DE', title: 'Langsam', message: 'Ja.' }],
        [
          { language: 'FR', message: 'Oui.' },
          { language: 'DE', title: 'Langsam' },
        ],
      ),
      service: fc.option(index),
      status: fc.constantFrom('DEGRADED_PERFORMANCE' as const, 'MAJOR_OUTAGE' as const),
      choice: fc.constantFrom(null, 'MONITORING' as const),
      notifySubscribers: fc.boolean(),
    }),
    { maxLength: 3, selector: ({ kind, name: text }) => `${kind} ${text}` },
  ),
  objectives: fc.array(
    fc.record({
      service: index,
      target: fc.constantFrom(50, 99.9, 99.95, 99.999),
      windowDays: fc.constantFrom(null, 7, 30),
      timeZone: fc.constantFrom(undefined, 'Asia/Tokyo'),
    }),
    { maxLength: 3 },
  ),
})

type Given = typeof organization extends fc.Arbitrary<infer T> ? T : never

/** Returns a list of the id at an index, empty if there are no ids. */
const listed = (ids: readonly string[], at: number) => ids.slice(at % Math.max(1, ids.length)).slice(0, 1)

/** Creates group monitors, which may contain earlier ones. Returns their ids. */
async function addPools(
  ctx: ReturnType<typeof configured.ctx>,
  pools: Given['pools'],
  known: { readonly services: readonly string[]; readonly monitors: readonly string[] },
): Promise<string[]> {
  const made: string[] = []
  for (const { service, members, rule, ...pool } of pools) {
    const ids = [...known.monitors, ...made]
    const monitorIds = [...new Set(members.flatMap((member) => listed(ids, member)))]
    const serviceId = service === null ? null : listed(known.services, service)[0]
    if (monitorIds.length > 0)
      made.push((await createMonitor(ctx, { ...pool, serviceId, group: { monitorIds, ...rule } })).id)
  }
  return made
}

async function fill(tenant: Tenant, given: Given) {
  const ctx = configured.ctx(tenant)
  const groups: string[] = []
  const services: string[] = []
  const monitors: string[] = []
  const channels: string[] = []
  for (const group of given.groups) groups.push((await createServiceGroup(ctx, group)).id)
  for (const { group, ...service } of given.services)
    services.push((await createService(ctx, { ...service, groupId: listed(groups, group)[0] })).id)
  for (const { service, parent, options: own, ...monitor } of given.monitors) {
    const more = { serviceId: listed(services, service)[0], dependsOnIds: listed(monitors, parent) }
    monitors.push((await createMonitor(ctx, { ...monitor, ...own, ...more })).id)
  }
  monitors.push(...(await addPools(ctx, given.pools, { services, monitors })))
  for (const [number, { service, ...page }] of given.pages.entries()) {
    const serviceIds = service === null ? null : listed(services, service)
    await createPage(ctx, { ...page, slug: `${tenant.slug}-p${number}`, serviceIds })
  }
  for (const { address, monitor, boss, quiet, ...channel } of given.channels) {
    const [escalate = null] = listed(channels, boss).map((channelId) => ({ channelId, afterMinutes: 5 }))
    const more = { monitorIds: listed(monitors, monitor), escalate }
    channels.push((await createAlertChannel(ctx, { ...channel, ...address, ...quiet, ...more })).id)
  }
  for (const { service, status, choice, ...template } of given.templates) {
    const serviceIds = service === null ? [] : listed(services, service)
    const isMaintenance = template.kind === 'MAINTENANCE'
    const chosen = isMaintenance
      ? { serviceIds }
      : { services: serviceIds.map((serviceId) => ({ serviceId, status })), status: choice }
    await createTemplate(ctx, { ...template, ...chosen })
  }
  for (const { service, ...objective } of given.objectives) {
    for (const serviceId of listed(services, service)) await createObjective(ctx, { ...objective, serviceId })
  }
}

describe('an export', () => {
  test('of any organization has an empty plan, and stays the same after it is applied', async () => {
    await fc.assert(
      fc.asyncProperty(organization, async (given) => {
        const tenant = await configured.tenant()
        await fill(tenant, given)
        const before = await tenant.news()
        const yaml = await configured.export(tenant)
        const plan = await configured.plan(tenant, yaml)
        expect(plan).toMatchObject({ changes: [], drift: [] })
        await configured.apply(tenant, yaml)
        expect(await tenant.news()).toEqual(before)
        expect(await configured.export(tenant)).toBe(yaml)
        expect(await configured.plan(tenant, yaml)).toMatchObject({ changes: [], drift: [], takenOver: 0 })
      }),
      runs(5, 15),
    )
  })
})
