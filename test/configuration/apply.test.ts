// @slow
import { afterAll, describe, expect, test } from 'vitest'
import { unlockManagedObject } from '../../src/account/managed-object.ts'
import { applyConfiguration } from '../../src/configuration/apply.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { Conflict, Forbidden } from '../../src/core/errors.ts'
import { openOptions } from '../../src/monitoring/monitor/options.ts'
import { createService, deleteService, updateService } from '../../src/status/service/service.ts'
import { seal } from '../notification/setup.ts'
import { testDatabase } from '../support/database.ts'
import { statementsOf } from '../support/statements.ts'
import { configuredIn, refusal, short } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const configured = configuredIn(database)
afterAll(closeYamlProcess)

const file = `allclear: 1
groups:
  core: { name: Core }
services:
  api: { name: API, group: core }
  web: { name: Website, description: The shop. }
monitors:
  api:
    name: API health
    service: api
    dependsOn: [router]
    http:
      url: https://api.example.com/health
      headers: [{ name: Authorization, value: "Bearer \${TOKEN}" }]
  router:
    name: Router
    ping: { host: router.example.com }
pages:
  shop: { slug: SLUG-shop, name: Shop, services: [web] }
channels:
  team:
    name: Team
    ntfy: { topic: "\${TOPIC}" }
    monitors: [api]
    escalate: { channel: boss, afterMinutes: 10 }
  boss:
    name: Boss
    mail: { address: boss@example.com }
`
const variables = [
  { name: 'TOKEN', value: 'sesame-of-the-api' },
  { name: 'TOPIC', value: 'topic-of-the-team' },
]

async function withFile() {
  const tenant = await configured.tenant()
  const yaml = file.replace('SLUG', tenant.slug)
  return { tenant, yaml }
}

describe('a file', () => {
  test('refers to the monitors of a group by key, in any order', async () => {
    const tenant = await configured.tenant()
    const groups = `allclear: 1
monitors:
  all: { name: All, group: { monitors: [api, pool] } }
  pool: { name: Pool, group: { monitors: [web, api], require: AT_LEAST, count: 1 } }
  api: { name: API, http: { url: "https://api.example.com" } }
  web: { name: Web, http: { url: "https://www.example.com" } }
`
    await configured.apply(tenant, groups)
    expect(short(await configured.plan(tenant, groups))).toEqual([])
    const stored = await prisma.monitor.findMany({ where: { organizationId: tenant.id } })
    const idOf = (name: string) => stored.find((monitor) => monitor.name === name)?.id
    const optionsOf = (name: string) => stored.find((monitor) => monitor.name === name)?.options
    expect(optionsOf('All')).toEqual({ monitorIds: [idOf('API'), idOf('Pool')], require: 'ALL' })
    expect(optionsOf('Pool')).toEqual({ monitorIds: [idOf('Web'), idOf('API')], require: 'AT_LEAST', count: 1 })
    const exported = await configured.export(tenant)
    expect(exported).toContain('require: AT_LEAST')
    expect(short(await configured.plan(tenant, exported))).toEqual([])

    const turned = groups.replace('[api, pool]', '[api]').replace('[web, api]', '[web, all]')
    await configured.apply(tenant, turned)
    expect(short(await configured.plan(tenant, turned))).toEqual([])
    const other = await configured.tenant()
    for (const [from, to, problem] of [
      ['[web, api]', '[web, all]', '3 monitors.all.group.monitors: must not contain a group that contains this one'],
      ['[web, api]', '[web, none]', '4 monitors.pool.group.monitors.1: must be a key of monitors; there is no none'],
      ['count: 1', 'count: 3', '4 monitors.pool.group.count: must be at most 2'],
    ] as const)
      expect(await refusal(configured.plan(other, groups.replace(from, to)))).toContainEqual(problem)
  })

  test('creates its objects in one transaction, after which the plan is empty', async () => {
    const { tenant, yaml } = await withFile()
    const before = await tenant.news()
    const plan = await configured.plan(tenant, yaml, { variables })
    expect(short(plan)).toEqual([
      'CREATE groups.core',
      'CREATE services.api',
      'CREATE services.web',
      'CREATE monitors.api',
      'CREATE monitors.router',
      'CREATE pages.shop',
      'CREATE channels.team',
      'CREATE channels.boss',
    ])
    // A plan changes nothing.
    expect(await tenant.news()).toEqual(before)
    expect(await prisma.managedObject.count({ where: { organizationId: tenant.id } })).toBe(0)
    expect(JSON.stringify(plan)).not.toMatch(/sesame-of|topic-of/)

    await configured.apply(tenant, yaml, { variables })
    const monitor = await prisma.monitor.findFirstOrThrow({
      where: { organizationId: tenant.id, name: 'API health' },
      include: { service: true, dependencies: { include: { parent: true } } },
    })
    expect(monitor.service?.name).toBe('API')
    expect(monitor.dependencies.map(({ parent }) => parent.name)).toEqual(['Router'])
    expect(openOptions(seal, monitor).options).toMatchObject({ headers: [{ value: 'Bearer sesame-of-the-api' }] })
    const channel = await prisma.alertChannel.findFirstOrThrow({
      where: { organizationId: tenant.id, name: 'Team' },
      include: { escalateTo: true },
    })
    expect(channel).toMatchObject({ monitorIds: [monitor.id], escalateTo: { name: 'Boss' } })
    const rows = await prisma.managedObject.findMany({ where: { organizationId: tenant.id } })
    expect(rows).toHaveLength(8)
    expect(JSON.stringify(rows)).not.toMatch(/sesame-of|topic-of/)

    const again = await configured.plan(tenant, yaml, { variables })
    expect(again).toMatchObject({ changes: [], drift: [], takenOver: 0 })
  })

  test('changes secrets only if they differ, and never shows them', async () => {
    const { tenant, yaml } = await withFile()
    await configured.apply(tenant, yaml, { variables })
    const changed = [{ name: 'TOKEN', value: 'another-sesame-of-the-api' }, ...variables.slice(1)]
    const plan = await configured.plan(tenant, yaml, { variables: changed })
    expect(short(plan)).toEqual(['UPDATE monitors.api http.headers.0.value'])
    expect(JSON.stringify(plan)).not.toMatch(/sesame-of/)
    await configured.apply(tenant, yaml, { variables: changed })
    expect(short(await configured.plan(tenant, yaml, { variables: changed }))).toEqual([])
  })

  test('reports drift and who caused it', async () => {
    const { tenant, yaml } = await withFile()
    await configured.apply(tenant, yaml, { variables })
    const api = await prisma.service.findFirstOrThrow({ where: { organizationId: tenant.id, name: 'API' } })
    await unlockManagedObject(configured.ctx(tenant), api.id)
    await updateService(configured.ctx(tenant), { id: api.id, name: 'Interface' })
    const router = await prisma.monitor.findFirstOrThrow({ where: { organizationId: tenant.id, name: 'Router' } })
    // Members that the file does not set stay unchanged.
    await prisma.monitor.update({ where: { id: router.id }, data: { intervalSeconds: 120 } })
    const web = await prisma.service.findFirstOrThrow({ where: { organizationId: tenant.id, name: 'Website' } })
    await unlockManagedObject(configured.ctx(tenant), web.id)
    await deleteService(configured.ctx(tenant), web.id)
    const plan = await configured.plan(tenant, yaml, { variables })
    const key = await prisma.apiKey.findFirstOrThrow({ where: { organizationId: tenant.id } })
    const last = { by: `the key ${key.name}`, at: expect.any(Date) }
    expect(plan.drift).toEqual([
      { section: 'pages', key: 'shop', members: ['services'], last: null },
      { section: 'services', key: 'api', members: ['name'], last },
      { section: 'services', key: 'web', members: [], last },
    ])
    expect(short(plan)).toEqual(['UPDATE services.api name', 'CREATE services.web', 'UPDATE pages.shop services'])
    await configured.apply(tenant, yaml, { variables })
    expect(await configured.plan(tenant, yaml, { variables })).toMatchObject({ changes: [], drift: [] })
  })

  test('is refused and changes nothing if it no longer matches its plan', async () => {
    const tenant = await configured.tenant()
    const yaml = 'allclear: 1\nservices: { api: { name: API } }'
    const { hash } = await configured.plan(tenant, yaml)
    const { id } = await createService(configured.ctx(tenant), { name: 'Api' })
    const attempt = applyConfiguration(configured.ctx(tenant), { yaml, planHash: hash })
    await expect(attempt).rejects.toThrow(Conflict)
    expect(await prisma.service.findMany({ where: { organizationId: tenant.id } })).toMatchObject([{ id, name: 'Api' }])
    // The object has the same key, so the file takes it over.
    const [change] = (await configured.apply(tenant, yaml)).changes
    expect(change).toMatchObject({ action: 'UPDATE', takenOver: true, members: [{ name: 'name', from: '"Api"' }] })
    expect(await prisma.service.count({ where: { organizationId: tenant.id } })).toBe(1)
  })

  test('releases objects that it no longer names, and deletes them only on request, within a limit', async () => {
    const tenant = await configured.tenant()
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
    const yaml = `allclear: 1\nservices:\n${names.map((name) => `  ${name}: { name: ${name} }`).join('\n')}`
    await configured.apply(tenant, yaml)
    const [own] = await tenant.services('Own')
    const rest = 'allclear: 1\nservices: { s0: { name: s0 } }'
    const released = await configured.plan(tenant, rest)
    expect(released.changes.map(({ action }) => action)).toEqual(Array(11).fill('RELEASE'))
    await expect(configured.apply(tenant, rest, { delete: true })).rejects.toThrow('deletes 11 of the 12 objects')
    expect(await prisma.service.count({ where: { organizationId: tenant.id } })).toBe(13)
    const { hash } = await configured.plan(tenant, rest, { delete: true })
    const input = { yaml: rest, delete: true, planHash: hash, maxDeletions: 11 }
    await applyConfiguration(configured.ctx(tenant), input)
    const left = await prisma.service.findMany({ where: { organizationId: tenant.id }, orderBy: { name: 'asc' } })
    expect(left.map(({ name }) => name)).toEqual(['Own', 's0'])
    // Unmanaged objects are never changed.
    expect(left[0]?.id).toBe(own)
    await configured.apply(tenant, 'allclear: 1')
    expect(await prisma.service.count({ where: { organizationId: tenant.id } })).toBe(2)
    expect(await prisma.managedObject.count({ where: { organizationId: tenant.id } })).toBe(0)
  })

  test('refuses literal secrets with their name and line, except in imports', async () => {
    const tenant = await configured.tenant()
    const yaml = `allclear: 1
monitors:
  api:
    name: API
    http:
      url: https://api.example.com
      headers:
        - { name: Authorization, value: Bearer sesame }
        - { name: Accept, value: text/html }
`
    const refused = await refusal(configured.plan(tenant, yaml))
    expect(refused).toEqual([
      `8 monitors.api.http.headers.0.value: is a secret: replace it with \${API_AUTHORIZATION} and set API_AUTHORIZATION in the environment`,
    ])
    const attempt = applyConfiguration(configured.ctx(tenant), { yaml, planHash: '' })
    await expect(attempt).rejects.toThrow('is a secret')
    const imported = { allowLiteralSecrets: true }
    expect(short(await configured.apply(tenant, yaml, imported))).toEqual(['CREATE monitors.api'])
    // The same secret from the environment changes nothing.
    const outside = yaml.replace('Bearer sesame', `"\${TOKEN}"`)
    const variables = [{ name: 'TOKEN', value: 'Bearer sesame' }]
    expect(short(await configured.plan(tenant, outside, { variables }))).toEqual([])
  })

  test('lists each changed member, also within options and lists of objects', async () => {
    const { tenant, yaml } = await withFile()
    await configured.apply(tenant, yaml, { variables })
    const edited = yaml
      .replace('/health', '/ready')
      .replace('name: Router', 'name: Core router')
      .replace('services: [web]', 'services: [api, web]')
    const changed = [{ name: 'TOKEN', value: 'another' }, ...variables.slice(1)]
    const { changes } = await configured.plan(tenant, edited, { variables: changed })
    expect(changes.flatMap(({ key, members }) => members.map(({ name, from, to }) => [key, name, from, to]))).toEqual([
      ['api', 'http.url', '"https://api.example.com/health"', '"https://api.example.com/ready"'],
      ['api', 'http.headers.0.value', '"(secret)"', '"(new secret)"'],
      ['router', 'name', '"Router"', '"Core router"'],
      ['shop', 'services', '["web"]', '["api","web"]'],
    ])
  })

  test('needs permission to delete more than a fifth of its objects, or the last monitor', async () => {
    const tenant = await configured.tenant()
    const ping = (key: string, service: string) =>
      `  ${key}: { name: ${key}, service: ${service}, ping: { host: a.example } }`
    const fileOf = (services: readonly string[], monitors: readonly string[]) =>
      [
        'allclear: 1',
        'services:',
        ...services.map((key) => `  ${key}: { name: ${key} }`),
        'monitors:',
        ...monitors,
      ].join('\n')
    const services = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const monitors = [ping('a1', 'a'), ping('a2', 'a'), ping('b1', 'b')]
    await configured.apply(tenant, fileOf(services, monitors))
    const plan = (yaml: string) => configured.plan(tenant, yaml, { delete: true })
    const apply = async (yaml: string, more: object = {}) => {
      const { hash } = await plan(yaml)
      return applyConfiguration(configured.ctx(tenant), { yaml, delete: true, planHash: hash, ...more })
    }
    // Three of eleven.
    const less = fileOf(services.slice(0, 5), monitors)
    expect(await plan(less)).toMatchObject({ deletionWarning: 'It deletes 3 of the 11 objects that the file manages.' })
    await expect(apply(less)).rejects.toThrow('To allow this, set maxDeletions: 3.')
    await expect(apply(less, { maxDeletions: 2 })).rejects.toThrow('but maxDeletions is 2')
    // Deleting the last monitor of a remaining service needs permission; one of two, or together with the service, does not.
    expect((await plan(fileOf(services, monitors.slice(0, 2)))).deletionWarning).toBe(
      'It deletes the last monitor of b.',
    )
    expect((await plan(fileOf(services, monitors.slice(1)))).deletionWarning).toBeNull()
    expect(
      (
        await plan(
          fileOf(
            services.filter((key) => key !== 'b'),
            monitors.slice(0, 2),
          ),
        )
      ).deletionWarning,
    ).toBeNull()
    expect((await plan(fileOf(services, ['  {}']))).deletionWarning).toBe('It deletes the last monitor.')
    expect(await prisma.service.count({ where: { organizationId: tenant.id } })).toBe(8)
    expect((await apply(less, { maxDeletions: 3 })).changes).toHaveLength(3)
    // Without deletion, no permission is needed.
    expect(await configured.plan(tenant, 'allclear: 1')).toMatchObject({ deletionWarning: null })
  })

  test('keeps managing objects that one import does not name, so that the next import finds them', async () => {
    const tenant = await configured.tenant()
    const file = { file: 'import from x', keepAbsent: true }
    const service = (name: string) => `${name.toLowerCase()}: { name: ${name} }`
    const both = `allclear: 1\nservices: { ${service('A')}, ${service('B')} }\nmonitors: { b: { name: B, service: b, ping: { host: b.example } } }`
    const paused = { pausedMonitors: ['b', 'other'] }
    const { hash: planHash } = await configured.plan(tenant, both, file)
    await applyConfiguration(configured.ctx(tenant), { yaml: both, ...file, planHash, ...paused })
    const services = () => prisma.service.findMany({ where: { organizationId: tenant.id }, orderBy: { name: 'asc' } })
    const before = await services()
    // The monitor is paused before its first probe.
    expect(await prisma.monitor.findFirst({ where: { organizationId: tenant.id } })).toMatchObject({
      state: 'PAUSED',
      pausedBy: 'OWNER',
    })
    const one = `allclear: 1\nservices: { ${service('A')} }`
    expect(short(await configured.plan(tenant, one, { file: 'import from x' }))).toEqual([
      'RELEASE monitors.b',
      'RELEASE services.b',
    ])
    expect(short(await configured.apply(tenant, one, file))).toEqual([])
    expect((await configured.plan(tenant, both, file)).changes).toEqual([])
    expect((await configured.apply(tenant, both, file)).drift).toEqual([])
    expect(await services()).toEqual(before)
    // Deleting an object that the file does not name is not drift.
    await prisma.service.deleteMany({ where: { organizationId: tenant.id, name: 'B' } })
    expect((await configured.plan(tenant, one, file)).drift).toEqual([])
    await expect(configured.plan(tenant, one, { ...file, delete: true })).rejects.toThrow('keepAbsent')
  })

  test('renames keys, and does not change objects that another file manages', async () => {
    const tenant = await configured.tenant()
    await configured.apply(tenant, 'allclear: 1\nservices: { api: { name: API } }', { file: 'a.yaml' })
    const { id } = await prisma.service.findFirstOrThrow({ where: { organizationId: tenant.id } })
    const moved = 'allclear: 1\nservices: { v2: { name: V2 } }\nmoved: [{ from: services.api, to: services.v2 }]'
    expect(await refusal(configured.plan(tenant, 'allclear: 1\nservices:\n  api: { name: X }'))).toEqual([
      '3 services.api: is managed by a.yaml',
    ])
    expect(short(await configured.plan(tenant, 'allclear: 1'))).toEqual([])
    const plan = await configured.apply(tenant, moved, { file: 'a.yaml' })
    expect(short(plan)).toEqual(['UPDATE services.v2 name'])
    expect(plan.moved).toEqual([{ section: 'services', from: 'api', to: 'v2' }])
    expect(await prisma.service.findMany({ where: { organizationId: tenant.id } })).toMatchObject([{ id, name: 'V2' }])
    // After the move, the plan is empty.
    expect(await configured.plan(tenant, moved, { file: 'a.yaml' })).toMatchObject({ changes: [], moved: [] })
    // Moves to taken keys, or of objects of another file, have no effect.
    const taken = 'allclear: 1\nservices: { v2: { name: V2 } }\nmoved: [{ from: services.v1, to: services.v2 }]'
    expect(await configured.plan(tenant, taken, { file: 'a.yaml' })).toMatchObject({ changes: [], moved: [] })
    // A renamed key counts as a change, so the hash differs.
    const only = 'allclear: 1\nservices: { v3: { name: V2 } }\nmoved: [{ from: services.v2, to: services.v3 }]'
    const renamed = await configured.apply(tenant, only, { file: 'a.yaml' })
    expect(renamed).toMatchObject({ changes: [], moved: [{ from: 'v2', to: 'v3' }] })
    expect((await configured.plan(tenant, only, { file: 'a.yaml' })).hash).not.toBe(renamed.hash)
    expect(await prisma.service.findMany({ where: { organizationId: tenant.id } })).toMatchObject([{ id, name: 'V2' }])
  })

  test('sets the members of templates and objectives, and replaces their lists', async () => {
    const tenant = await configured.tenant()
    const yaml = `allclear: 1
services: { api: { name: API }, web: { name: Web } }
templates:
  slow:
    kind: INCIDENT
    name: Slow
    message: "{{service}} is slow."
    translations: [{ language: DE, message: Langsam. }, { language: FR, message: Lent. }]
    services: [{ service: api, status: DEGRADED_PERFORMANCE }]
  work: { kind: MAINTENANCE, name: Work, message: Soon., services: [web] }
objectives:
  api: { service: api, target: 99.9, windowDays: 30 }
`
    const created = short(await configured.apply(tenant, yaml)).slice(2)
    expect(created).toEqual(['CREATE templates.slow', 'CREATE templates.work', 'CREATE objectives.api'])
    expect(short(await configured.plan(tenant, yaml))).toEqual([])
    const edited = yaml
      .replace(', { language: FR, message: Lent. }', '')
      .replace('service: api, status: DEGRADED_PERFORMANCE', 'service: web, status: MAJOR_OUTAGE')
      .replace('99.9, windowDays: 30', '99.5, windowDays: null')
    const members = ['UPDATE templates.slow translations services', 'UPDATE objectives.api target windowDays']
    expect(short(await configured.apply(tenant, edited))).toEqual(members)
    expect(short(await configured.plan(tenant, edited))).toEqual([])
    const where = { organizationId: tenant.id }
    const template = await prisma.template.findFirstOrThrow({
      where: { ...where, name: 'Slow' },
      include: { services: true },
    })
    expect(template).toMatchObject({
      translations: { DE: { message: 'Langsam.' } },
      services: [{ status: 'MAJOR_OUTAGE' }],
    })
    expect(Object.keys(template.translations as object)).toEqual(['DE'])
    expect(await prisma.objective.findMany({ where })).toMatchObject([{ target: 99_500, windowDays: null }])
    const other = edited
      .replace('kind: INCIDENT', 'kind: UPDATE')
      .replace('status: MAJOR_OUTAGE', 'status: UNDER_MAINTENANCE')
      .replace('{ service: api, target', '{ service: web, target')
    expect(await refusal(configured.plan(tenant, other))).toEqual([
      '5 templates.slow.kind: must stay INCIDENT. Use another key for another object',
      '12 objectives.api.service: must stay API. Use another key for another object',
    ])
    expect(await refusal(configured.plan(tenant, edited.replace('MAJOR_OUTAGE', 'UNDER_MAINTENANCE')))).toEqual([
      expect.stringMatching(/^9 templates\.slow\.services\.0\.status: must be/),
    ])
    const gone = 'allclear: 1\nservices: { web: { name: Web } }'
    expect(short(await configured.apply(tenant, gone, { delete: true, maxDeletions: 4 }))).toEqual([
      'DELETE objectives.api',
      'DELETE templates.slow',
      'DELETE templates.work',
      'DELETE services.api',
    ])
  })

  test('updates many objects with a few statements, with the same result as one by one', async () => {
    const tenant = await configured.tenant()
    const count = 30
    const fileOf = (suffix: string, interval: number, timeout: string) => {
      const all = Array.from({ length: count }, (_, index) => index)
      const services = all.map((index) => `  s${index}: { name: S${index}, description: ${suffix} }`)
      const monitors = all.map(
        (index) =>
          `  m${index}: { name: M${index} ${suffix}, service: s${index}, intervalSeconds: ${interval}, timeoutMs: ${timeout}, http: { url: "https://example.com/${index}" } }`,
      )
      return ['allclear: 1', 'services:', ...services, 'monitors:', ...monitors].join('\n')
    }
    await configured.apply(tenant, fileOf('one', 300, '10000'))
    const next = fileOf('two', 600, '9000')
    const { hash } = await configured.plan(tenant, next)
    const before = await tenant.news()
    const statements = await statementsOf(() =>
      applyConfiguration(configured.ctx(tenant), { yaml: next, planHash: hash }),
    )
    expect(statements.length).toBeLessThan(60)
    const where = { organizationId: tenant.id }
    const changed = { intervalSeconds: 600, timeoutMs: 9000, failureThreshold: 2, version: 2 }
    const monitors = await prisma.monitor.findMany({ where, include: { watches: true }, orderBy: { name: 'asc' } })
    expect(monitors.filter((each) => each.name.endsWith(' two'))).toHaveLength(count)
    for (const monitor of monitors) expect(monitor).toMatchObject(changed)
    for (const service of await prisma.service.findMany({ where }))
      expect(service).toMatchObject({ description: 'two', groupId: null, statusOverride: null, version: 2 })
    const news = (await tenant.news()).slice(before.length).map((line) => line.split(' ')[0])
    expect([...new Set(news)]).toEqual(['SERVICE_UPDATED', 'MONITOR_UPDATED'])
    expect(news).toHaveLength(2 * count)
    // If one object is refused, no object changes, and all problems are reported.
    const bad = fileOf('three', 600, '9000').replace(/(m[37]:.*timeoutMs: )9000/g, '$1700000')
    expect((await refusal(configured.plan(tenant, bad))).map((line) => line.split(':')[0])).toEqual([
      '37 monitors.m3.timeoutMs',
      '41 monitors.m7.timeoutMs',
    ])
    // Monitors with other settings start over as pending.
    const elsewhere = next.replace('https://example.com/5"', 'https://example.org/5"')
    expect(short(await configured.apply(tenant, elsewhere))).toEqual(['UPDATE monitors.m5 http.url'])
  })

  test('reports every problem with its line, and changes nothing', async () => {
    const tenant = await configured.tenant()
    const yaml = `allclear: 1
services:
  api: { name: "", group: nowhere }
  web: { name: " " }
monitors:
  one:
    name: One
    intervalSeconds: 1
    http:
      url: ftp://example.com
  two:
    name: Two
    service: web
    http: { url: https://example.com, headers: [{ name: X, value: null }] }
pages:
  shop: { slug: A, name: Shop }
`
    expect(await refusal(configured.plan(tenant, yaml))).toEqual([
      '3 services.api.group: must be a key of groups; there is no nowhere',
      '4 services.web.name: must not be blank',
      '10 monitors.one.http.url: must be an http:// or https:// URL',
      '14 monitors.two.http.headers.0.value: is required',
      '16 pages.shop.slug: must have at least 2 characters',
      '16 pages.shop.slug: must be lowercase letters and digits, separated by single hyphens',
    ])
    expect(await prisma.service.count({ where: { organizationId: tenant.id } })).toBe(0)
  })

  test('requires a key with scope ADMIN', async () => {
    const tenant = await configured.tenant()
    const ctx = { ...configured.ctx(tenant), actor: tenant.as('WRITE').actor }
    await expect(applyConfiguration(ctx, { yaml: 'allclear: 1', planHash: '' })).rejects.toThrow(Forbidden)
  })
})
