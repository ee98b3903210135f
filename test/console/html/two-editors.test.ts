// @slow
import { beforeAll, expect, test } from 'vitest'
import type { Role } from '../../../src/generated/prisma/enums.ts'
import type { Browser } from '../../support/console.ts'
import { testConsole } from '../../support/console.ts'
import { dispatched, filledOrganization, mutate } from '../../support/filled-organization.ts'
import { formIn } from '../../support/form-in.ts'

const { app, database, signIn } = await testConsole()
const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
const made = await filledOrganization(app.baseUrl, { startsAt: hours(8), endsAt: hours(10) })
const create = (field: string, type: string, input: Record<string, unknown>) =>
  mutate(app.baseUrl, made.key, field, type, input)
const channel = await create('createAlertChannel', 'AlertChannel', { name: 'Ops', address: { ntfy: { topic: 'ops' } } })
const page = await create('createPage', 'StatusPage', { name: 'Staff', slug: `${made.slug}-staff` })
const series = await create('createMaintenanceSeries', 'MaintenanceSeries', {
  ...{ title: 'Weekly', message: 'We restart.', rule: 'FREQ=WEEKLY', durationMinutes: 30, startsAt: hours(100) },
})
const organization = { id: made.id, slug: made.slug }
const { ids } = made

let ana: Browser
let ben: Browser
let member: Browser
beforeAll(async () => {
  const about = { isOperator: true }
  ana = await signIn(organization, 'OWNER', about)
  ben = await signIn(organization, 'OWNER', about)
  member = await signIn(organization, 'VIEWER' as Role)
  await dispatched(database.prisma, made.id)
})

/** A form that two people have open at the same time. */
interface Edited {
  /** The screen that contains it. */
  readonly screen: string
  /** A part of its opening tag. */
  readonly form: string
  /** Where it is sent; absent: to its screen. */
  readonly path?: string
  /** The input of the first and the second person. */
  readonly theirs: Record<string, string>
  readonly mine: Record<string, string>
  /** How the screen shows the change of the first person. */
  readonly now: string
  /** How it keeps the input of the second person; absent: as the value of a field. */
  readonly typed?: string
  /** An input that is refused for another reason; absent: nothing is. */
  readonly wrong?: Record<string, string>
}

const operator = `/console/operator/organizations/${made.id}`
const titled = { theirs: { title: 'Theirs' }, mine: { title: 'Mine' }, now: 'Now: Theirs<', wrong: { title: '' } }
const named = { theirs: { name: 'Theirs' }, mine: { name: 'Mine' }, now: 'Now: Theirs<', wrong: { name: '' } }
const written = {
  ...{ theirs: { message: 'Theirs.' }, mine: { message: 'Mine.' }, now: 'Now: Theirs.<', typed: 'Mine.</textarea>' },
  wrong: { message: '' },
}

const quietFrom = (from: string) => ({ 'quietTimes.windows.0.from': from, 'quietTimes.windows.0.to': '07:00' })
const forms: Readonly<Record<string, Edited>> = {
  'an update of an incident': {
    ...{ screen: `incidents/${ids.Incident}`, form: 'id="update"', path: `incidents/${ids.Incident}/updates` },
    theirs: { status: 'IDENTIFIED', message: 'Theirs.' },
    mine: { status: 'MONITORING', message: 'Mine.' },
    ...{ now: 'Now: Identified<', typed: 'Mine.</textarea>', wrong: { message: '' } },
  },
  'an incident': { screen: `incidents/${ids.Incident}/edit`, form: 'id="edit"', ...titled },
  'an incident’s update': {
    ...{ screen: `incidents/${ids.Incident}/updates/${ids.IncidentUpdate}`, form: 'id="edit"', ...written },
  },
  'an update of maintenance': {
    ...{
      screen: `maintenance/${ids.Maintenance}`,
      form: 'id="update"',
      path: `maintenance/${ids.Maintenance}/updates`,
    },
    theirs: { status: 'IN_PROGRESS', message: 'Theirs.' },
    mine: { status: 'VERIFYING', message: 'Mine.' },
    ...{ now: 'Now: In progress<', typed: 'Mine.</textarea>' },
  },
  maintenance: { screen: `maintenance/${ids.Maintenance}/edit`, form: 'id="edit"', ...titled },
  'an update of maintenance, edited': {
    ...{ screen: `maintenance/${ids.Maintenance}/updates/${ids.MaintenanceUpdate}`, form: 'id="edit"', ...written },
  },
  'a repeating maintenance': { screen: `maintenance/series/${series.id}/edit`, form: 'id="series"', ...titled },
  'the schedule of a repeating maintenance': {
    ...{ screen: `maintenance/series/${series.id}/edit`, form: 'id="series"' },
    theirs: { timeZone: 'Asia/Tokyo', rule: 'FREQ=WEEKLY;INTERVAL=2', message: 'Theirs.' },
    mine: { timeZone: 'Europe/Rome', rule: 'FREQ=WEEKLY;INTERVAL=3' },
    ...{ now: 'Now: Asia/Tokyo<', typed: 'value="FREQ=WEEKLY;INTERVAL=3"', wrong: { timeZone: 'Mars/Base' } },
  },
  'a service': { screen: `services/${ids.Service}`, form: 'id="edit"', ...named },
  'a group': { screen: `services/groups/${ids.ServiceGroup}`, form: 'id="edit"', ...named },
  'a monitor': { screen: `monitors/${ids.Monitor}/edit`, form: 'id="monitor-form"', ...named },
  'the first page': { screen: 'page', form: 'id="settings"', ...named },
  'the organization': {
    ...{ screen: 'page', form: 'id="settings"', wrong: { timeZone: 'Mars/Base' } },
    theirs: { timeZone: 'Asia/Tokyo', contactEmail: 'theirs@example.com' },
    ...{ mine: { timeZone: 'Europe/Rome' }, now: 'Now: Asia/Tokyo<' },
  },
  'another page': { screen: `pages/${page.id}`, form: 'id="settings"', ...named },
  'the look of another page': {
    ...{ screen: `pages/${page.id}`, form: 'id="settings"', wrong: { accentColor: 'red' } },
    ...{ theirs: { accentColor: '#111111' }, mine: { accentColor: '#222222' }, now: 'Now: #111111<' },
  },
  'the sites of a status line': {
    ...{ screen: `pages/${page.id}/embed`, form: 'id="embed"', typed: 'https://mine.example</textarea>' },
    ...{ theirs: { origins: 'https://theirs.example' }, mine: { origins: 'https://mine.example' } },
    ...{ now: 'Now: https://theirs.example<', wrong: { origins: 'ftp://x' } },
  },
  'the access to a page': {
    ...{ screen: `pages/${page.id}/access`, form: 'id="access"', typed: '198.51.100.0/24</textarea>' },
    theirs: { 'access.kind': 'ADDRESSES', 'access.ranges': '192.0.2.0/24' },
    mine: { 'access.kind': 'ADDRESSES', 'access.ranges': '198.51.100.0/24' },
    ...{ now: 'Now: 192.0.2.0/24<', wrong: { 'access.ranges': 'everywhere' } },
  },
  'an alert channel': { screen: `alerts/channels/${channel.id}`, form: 'id="channel-form"', ...named },
  'the quiet times of an alert channel': {
    ...{ screen: `alerts/channels/${channel.id}`, form: 'id="channel-form"', wrong: { remindAfterMinutes: '1' } },
    theirs: { remindAfterMinutes: '15', ...quietFrom('22:00') },
    mine: { remindAfterMinutes: '45', ...quietFrom('23:00') },
    now: 'Now: 22:00<',
  },
  'the tier of an organization': {
    ...{ screen: operator, form: '/tier"', path: `${operator}/tier`, now: 'Now: PRO<' },
    ...{ theirs: { tier: 'PRO' }, mine: { tier: 'TEAM' }, typed: '<option value="TEAM" selected="">' },
  },
  'the check plan of an organization': {
    ...{ screen: operator, form: '/plan"', path: `${operator}/plan`, now: 'Now: 2031-01-01<' },
    theirs: { plan: 'PRO', until: '2031-01-01' },
    mine: { plan: 'PRO', until: '2032-02-02' },
  },
}

const versionIn = (html: string, form: string) => new Map(formIn(html, form)).get('version')

test.each(Object.entries(forms))('two people who edit %s see both versions, and lose nothing', async (_, edited) => {
  const { screen, form, path = screen, theirs, mine, now, wrong, typed } = edited
  const opened = formIn((await ben.get(screen)).html, form)
  const filled = (changes: Record<string, string>) => {
    const kept = opened.filter(([name]) => !(name in changes))
    const fields: Record<string, string[]> = {}
    for (const [name, value] of [...kept, ...Object.entries(changes)]) fields[name] = [...(fields[name] ?? []), value]
    return fields
  }
  const saved = await ana.post(path, filled(theirs))
  expect([saved.status, saved.html]).toEqual([303, expect.anything()])

  if (wrong !== undefined) {
    // After a refusal for another reason, the other person's change must still count as unseen.
    const refused = await ben.post(path, filled({ ...mine, ...wrong }))
    expect(refused.status).toBe(422)
    const isShown = refused.html.includes('Another person has changed this')
    if (!isShown) expect(versionIn(refused.html, form)).toBe(new Map(opened).get('version'))
  }

  const { status, html } = await ben.post(path, filled(mine))
  expect(status).toBe(422)
  expect(html).toContain('Another person has changed this in the meantime.')
  expect(html).toContain(now)
  for (const value of typed === undefined ? Object.values(mine) : [typed]) {
    expect(html).toContain(typed === undefined ? `value="${value}"` : value)
  }
  const shown = new Map(formIn(html, form))
  for (const [name, value] of Object.entries(mine)) expect([name, shown.get(name)]).toEqual([name, value])

  const again = { ...filled(mine), version: versionIn(html, form) ?? '' }
  expect((await ben.post(path, again)).status).toBe(303)
  expect(new Map(formIn((await ana.get(screen)).html, form)).get('version')).not.toBe(again.version)
})

test('two people who resolve an incident concurrently lose nothing', async () => {
  const { location } = await ana.post('incidents/new', {
    ...{ title: 'Short', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' },
  })
  const screen = location ?? ''
  const opened = Object.fromEntries(formIn((await ben.get(screen)).html, 'id="resolve"'))
  const update = Object.fromEntries(formIn((await ben.get(screen)).html, 'id="update"'))
  await ana.post(`${screen}/updates`, { ...update, status: 'MONITORING', message: 'Theirs.' })
  const outdated = await ben.post(`${screen}/updates`, { ...opened, message: 'Mine.' })
  expect([outdated.status, outdated.html.includes('Now: Monitoring<')]).toEqual([422, true])
  await ana.post(`${screen}/updates`, Object.fromEntries(formIn((await ana.get(screen)).html, 'id="resolve"')))
  const late = await ben.post(`${screen}/updates`, { ...opened, message: 'Mine.' })
  expect(late.status).toBe(422)
  expect(late.html).toContain('Another person has changed this in the meantime.')
  const shown = Object.fromEntries(formIn(late.html, 'id="update"'))
  expect(shown).toMatchObject({ status: 'RESOLVED', message: 'Mine.' })
  expect((await ben.post(`${screen}/updates`, shown)).status).toBe(303)
})

test('two people who change a member’s role see both', async () => {
  const path = `people/${member.userId}/role`
  const form = `/people/${member.userId}/role`
  const opened = Object.fromEntries(formIn((await ben.get('people')).html, form))
  expect((await ana.post(path, { ...opened, role: 'ADMIN' })).status).toBe(303)
  const { status, html } = await ben.post(path, { ...opened, role: 'EDITOR' })
  expect(status).toBe(422)
  expect(html).toContain('Now: Admin<')
  const again = Object.fromEntries(formIn(html, form))
  expect(again).toMatchObject({ role: 'EDITOR', previousRole: 'ADMIN' })
  expect((await ben.post(path, again)).status).toBe(303)
})

test('two people who set the domain of a page see both', async () => {
  const screen = `pages/${page.id}`
  const form = 'id="domain-form"'
  const opened = Object.fromEntries(formIn((await ben.get(screen)).html, form))
  const theirs = { id: 'dom_theirs', name: 'theirs.example.com', token: 'the-token', state: 'PENDING' } as const
  await database.prisma.customDomain.create({
    data: { ...theirs, pageId: page.id, organizationId: made.id, requestedAt: new Date() },
  })
  await database.prisma.page.update({ where: { id: page.id }, data: { version: { increment: 1 } } })
  const { status, html } = await ben.post(`${screen}/domain`, { ...opened, domain: 'mine.example.com' })
  expect(status).toBe(422)
  expect(html).toContain('Another person has changed this in the meantime.')
  expect(html).toContain('Now: theirs.example.com<')
  expect(new Map(formIn(html, form)).get('domain')).toBe('mine.example.com')
})

test('a key that another person has revoked is reported as revoked', async () => {
  await ana.post('keys', { name: 'Deployments', scope: 'READ', expiresAt: '' })
  const key = await database.prisma.apiKey.findFirstOrThrow({ where: { name: 'Deployments' } })
  expect((await ana.post(`keys/${key.id}/revoke`, {})).status).toBe(303)
  expect((await ben.get(`keys/${key.id}/revoke`)).html).toContain('It was revoked')
})
