// @slow
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { Role } from '../../src/generated/prisma/enums.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'
import { consoleRoutes } from '../support/console-routes.ts'
import { tablesOf } from '../support/database.ts'
import { dispatched, filledOrganization, mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { rowsNaming } from '../support/rows.ts'

const { app, database, signIn } = await testConsole()
const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
const fill = async () => {
  const made = await filledOrganization(app.baseUrl, { startsAt: hours(8), endsAt: hours(10) }, null)
  const named = { name: 'Ops', address: { ntfy: { topic: 'ops' } } }
  const channel = await mutate(app.baseUrl, made.key, 'createAlertChannel', 'AlertChannel', named)
  await dispatched(database.prisma, made.id)
  const at = new Date()
  const about = { change: 'DOWN', state: 'DOWN', message: 'Refused.', since: at, openedAt: at } as const
  const of = { organizationId: made.id, subjectId: made.ids.Monitor, subjectName: 'Health' }
  const alert = await database.prisma.alert.create({ data: { id: newId('Alert'), ...of, ...about } })
  const service = { serviceId: made.ids.Service }
  const objective = await mutate(app.baseUrl, made.key, 'createObjective', 'Objective', { ...service, target: 99.9 })
  const wrong = { startsAt: hours(-2), endsAt: hours(-1), kind: 'GOOD', reason: 'Wrong.' }
  const correction = await mutate(app.baseUrl, made.key, 'correctUptime', 'UptimeCorrection', { ...service, ...wrong })
  await dispatched(database.prisma, made.id)
  const more = { Objective: objective.id, UptimeCorrection: correction.id }
  return { ...made, ids: { ...made.ids, AlertChannel: channel.id, Alert: alert.id, ...more } }
}
const mine = await fill()
const theirs = await fill()

/** Every address of the console; new ones are included without being listed here. */
const gets = consoleRoutes.filter(({ method }) => method === 'GET').map(({ path }) => path)
const posts = consoleRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path)

/** The ids of an organization's objects, by the console section that shows them. */
const idsIn = ({ ids, integrationId, templateId }: typeof mine): Record<string, string> => ({
  incidents: ids.Incident,
  maintenance: ids.Maintenance,
  services: ids.Service,
  monitors: ids.Monitor,
  subscribers: ids.Subscriber,
  deliveries: ids.Delivery,
  keys: ids.ApiKey,
  alerts: ids.Alert,
  integrations: integrationId,
  templates: templateId,
  pages: ids.StatusPage,
  reports: ids.StatusPage,
  objectives: ids.Objective,
  corrections: ids.UptimeCorrection,
  groups: ids.ServiceGroup,
  updates: ids.IncidentUpdate,
})

/** Fills in the parameters of a path with an organization's ids. */
function filled(path: string, of: typeof mine): string {
  const [section = ''] = path.split('/')
  return path
    .replace(/:updateId(\{[^}]*\})?/, section === 'maintenance' ? of.ids.MaintenanceUpdate : of.ids.IncidentUpdate)
    .replace(/:tokenId(\{[^}]*\})?/, of.pageTokenId)
    .replace(/:groupId(\{[^}]*\})?/, of.ids.ServiceGroup)
    .replace(/:(\w+)(\{[^}]*\})?/g, () =>
      path.includes('groups/')
        ? of.ids.ServiceGroup
        : path.includes('series/')
          ? of.ids.MaintenanceSeries
          : path.includes('channels/')
            ? of.ids.AlertChannel
            : idsIn(of)[section] || 'usr_000000000000000000000000',
    )
}

/** Values for the fields of forms: enough for each form to be valid. */
const fields = {
  name: 'Changed by the walk',
  title: 'Changed by the walk',
  message: 'Changed by the walk',
  target: 'https://changed.example.com/',
  email: 'changed@example.com',
  role: 'OWNER',
  scope: 'ADMIN',
  status: 'RESOLVED',
  impact: 'MINOR',
  slug: mine.slug,
  kind: 'HTTP',
  startsAt: '2999-01-01T02:00',
  durationMinutes: '60',
  repeat: 'DAILY',
  url: 'https://changed.example.com/',
}

const tables = (await tablesOf(database.pool)).filter(
  (table) => !/Session|UsageCounter|User|ProbeResult|Watch|Monitor/.test(table),
)

/** Every row that refers to an organization or one of its objects. */
const rowsOf = ({ id, ids }: typeof mine) => rowsNaming(database.pool, tables, [id, ...Object.values(ids)])

const at = (path: string, slug = mine.slug) => `/console/${slug}/${path}`
let stranger: Browser
let viewer: Browser
let untouched: object[]

beforeAll(async () => {
  stranger = await signIn(theirs, 'OWNER')
  viewer = await signIn(mine, 'VIEWER')
  await dispatched(database.prisma, mine.id)
  untouched = await rowsOf(mine)
})

test('every section is covered', () => {
  expect(filled('alerts/:id{[^/]+}/acknowledge', mine)).toBe(`alerts/${mine.ids.Alert}/acknowledge`)
  const sections = new Set(gets.map((path) => path.split('/')[0]))
  for (const section of ['now', 'people', 'keys', 'page', 'plan', 'log']) expect(sections).toContain(section)
  expect(posts.length).toBeGreaterThan(10)
})

describe.each(gets)('GET %s', (path) => {
  test('does not exist for strangers, and asks visitors to sign in', async () => {
    expect((await stranger.get(at(filled(path, mine)))).status).toBe(404)
    const visitor = await fetch(app.baseUrl + at(filled(path, mine)), { redirect: 'manual' })
    expect([visitor.status, visitor.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/sign-in\?to=%2Fconsole/),
    ])
  })

  test('shows nothing of another organization by its ids', async () => {
    if (!path.includes(':')) return
    const { status, html } = await stranger.get(at(filled(path, mine), theirs.slug))
    expect([303, 404]).toContain(status)
    for (const id of Object.values(mine.ids)) if (id !== '' && status !== 404) expect(html).not.toContain(id)
  })
})

describe.each(posts)('POST %s', (path) => {
  test('is refused to strangers, visitors and other sites', async () => {
    expect((await stranger.post(at(filled(path, mine)), fields)).status).toBe(404)
    const address = app.baseUrl + at(filled(path, mine))
    const body = () => new URLSearchParams(fields)
    const own = { 'sec-fetch-site': 'same-origin' }
    expect((await fetch(address, { method: 'POST', body: body(), headers: own, redirect: 'manual' })).status).toBe(401)
    const forged = { cookie: `allclear_session=${viewer.token}`, 'sec-fetch-site': 'cross-site' }
    expect((await fetch(address, { method: 'POST', body: body(), headers: forged, redirect: 'manual' })).status).toBe(
      403,
    )
  })

  test('changes nothing of another organization by its ids', async () => {
    if (!path.includes(':')) return
    const { status } = await stranger.post(at(filled(path, mine), theirs.slug), fields)
    expect([404, 422]).toContain(status)
  })

  test('is refused to a viewer', async () => {
    // Everyone may change their own settings.
    if (path.startsWith('account') || path === 'blacklists') return
    const { status } = await viewer.post(at(filled(path, mine)), fields)
    expect([403, 404, 422]).toContain(status)
  })
})

test('nothing has changed', async () => {
  expect(await rowsOf(mine)).toEqual(untouched)
})

/** The minimum role of each action, according to the contract. */
const least = {
  start: 'EDITOR',
  keys: 'ADMIN',
  page: 'ADMIN',
  'pages/new': 'ADMIN',
  people: 'OWNER',
  'plan/upgrade': 'OWNER',
  'page/delete': 'OWNER',
} as const satisfies Record<string, Role>
const rank = Object.values(Role)

describe.each(rank)('a person with the role %s', (role) => {
  test.each(Object.entries(least))('may use %s only if its role is at least %s', async (path, needed) => {
    const own = await newOrganization(app.baseUrl)
    const person = await signIn(own, role)
    const { status, html } = await person.post(at(path, own.slug), { ...fields, expiresAt: '', slug: 'not-the-slug' })
    const isRefused = status === 403 || /requires the role|Only an owner may/.test(html)
    expect(isRefused).toBe(rank.indexOf(role) < rank.indexOf(needed))
  })
})
