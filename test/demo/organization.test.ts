// @slow
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { authenticate } from '../../src/account/api-key/authenticate.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { type Demo, prepareDemo } from '../../src/demo/organization.ts'
import { signInByPassword } from '../../src/people/sign-in/sign-in.ts'
import { deleteIncident } from '../../src/status/incident/incident-edits.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { readPageState } from '../../src/status/page/page-state.ts'
import { joinHistories, readMeasured } from '../../src/status-page/service-history.ts'
import { readServiceRange } from '../../src/status-page/service-range.ts'
import { peopleContext } from '../people/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const prepare = (now = noon, settings: NodeJS.ProcessEnv = {}) =>
  prepareDemo(testContext(prisma, { now: () => now, settings }))
const bySlug = { where: { slug: 'northwind-mail' } }

/** Returns the public content of the demo, without ids. */
async function content(slug: string, now: Date) {
  const { organization, cursor: _, ...page } = await readPageState(prisma, slug, now)
  const of = { where: { organizationId: organization.id } }
  const inOrder = { select: { message: true, status: true }, orderBy: { createdAt: 'asc' } } as const
  const incidentFields = {
    title: true,
    status: true,
    impact: true,
    updates: inOrder,
  }
  const incidents = await prisma.incident.findMany({ ...of, select: incidentFields, orderBy: { startedAt: 'asc' } })
  const maintenanceFields = { title: true, status: true, updates: inOrder }
  const maintenances = await prisma.maintenance.findMany({
    ...of,
    select: maintenanceFields,
    orderBy: { startsAt: 'asc' },
  })
  const { id: _id, slug: _slug, pageId: _pageId, ...settings } = organization
  const services = page.services.map(({ name, description, status }) => ({ name, description, status }))
  const groups = page.groups.map(({ name, description }) => ({ name, description }))
  return { settings, status: page.status, groups, services, incidents, maintenances }
}

function eventsOf(organizationId: string) {
  return prisma.event.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })
}

const begin = () => prisma.organization.deleteMany()

describe('prepareDemo', () => {
  let demo: Demo
  beforeAll(async () => {
    await begin()
    demo = await prepare()
  })

  test('has a person who signs in with the password of the last run', async () => {
    const again = await prepare()
    const signIn = ({ person }: Demo) =>
      signInByPassword(peopleContext(prisma, { clientAddress: '198.51.100.1' }), person, 'a browser')
    expect(await signIn(again)).toMatchObject({ kind: 'signedIn' })
    expect(await signIn(demo)).toBeNull()
    const { memberships } = await prisma.user.findUniqueOrThrow({
      where: { email: again.person.email },
      include: { memberships: { include: { organization: true } } },
    })
    expect(memberships).toMatchObject([{ role: 'OWNER', organization: { slug: again.slug } }])
    demo = again
  })

  test('has a group of monitors, whose history is the worst of its members’', async () => {
    const { id: organizationId } = await prisma.organization.findUniqueOrThrow(bySlug)
    const [group, ...others] = await prisma.monitor.findMany({
      where: { organizationId, kind: 'GROUP' },
      include: { intervals: { orderBy: { startedAt: 'asc' } } },
    })
    if (group === undefined) throw new Error('There is a group.')
    expect(others).toEqual([])
    const { monitorIds } = group.options as { readonly monitorIds: string[] }
    const members = await prisma.monitor.findMany({
      where: { organizationId, id: { in: monitorIds } },
      include: { intervals: true },
    })
    expect(members).toHaveLength(3)
    const order = ['UP', 'DEGRADED', 'DOWN', 'PENDING']
    const stateAt = (at: Date, intervals: readonly { startedAt: Date; endedAt: Date | null; state: string }[]) =>
      intervals.find(({ startedAt, endedAt }) => startedAt <= at && (endedAt === null || at < endedAt))?.state ?? ''
    for (const { startedAt, state, endedAt } of group.intervals) {
      const worst = Math.max(...members.map(({ intervals }) => order.indexOf(stateAt(startedAt, intervals))))
      expect(state).toBe(order[worst])
      const next = endedAt && group.intervals.find((each) => each.startedAt.getTime() === endedAt.getTime())
      expect(endedAt === null || next !== undefined).toBe(true)
    }
    expect(new Set(group.intervals.map(({ state }) => state)).size).toBeGreaterThan(2)
    expect(group.state).toBe(order[Math.max(...members.map(({ state }) => order.indexOf(state)))])
  })

  test('has 90 days of history, an open incident and planned maintenance', async () => {
    const { slug, incidentId } = demo
    const page = await readPageState(prisma, slug, noon)
    expect(page.status.indicator).toBe('MAJOR')
    expect(page.groups.length).toBeGreaterThan(2)
    expect(page.services.every(({ groupId }) => groupId !== null)).toBe(true)
    expect(new Set(page.services.map(({ status }) => status))).toEqual(
      new Set(['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE']),
    )
    const [open] = page.incidents
    expect(page.incidents.map(({ id }) => id)).toEqual([incidentId])
    expect(open?.startedAt).toEqual(later(-52 * MINUTE))
    expect(await prisma.incidentUpdate.count({ where: { incidentId } })).toBe(3)
    expect(page.maintenances.map(({ status, startsAt }) => [status, startsAt > noon])).toEqual([
      ['SCHEDULED', true],
      ['SCHEDULED', true],
    ])
    expect(page.recentIncidents.length).toBeGreaterThan(1)

    const incidents = await prisma.incident.findMany({ where: { status: 'RESOLVED' }, orderBy: { startedAt: 'asc' } })
    expect(incidents[0]?.startedAt.getTime()).toBeLessThan(later(-88 * DAY).getTime())
    for (const { startedAt, resolvedAt } of incidents) {
      expect(resolvedAt?.getTime()).toBeGreaterThan(startedAt.getTime())
      expect(resolvedAt?.getTime()).toBeLessThan(noon.getTime())
    }
    const over = await prisma.maintenance.groupBy({ by: ['status'], where: { dueAt: null }, _count: true })
    expect(over.map(({ status }) => status).sort()).toEqual(['CANCELLED', 'COMPLETED'])
  })

  test('has monitored services with a history that matches its incidents and maintenance', async () => {
    const { id } = await prisma.organization.findUniqueOrThrow(bySlug)
    const state = await readPageState(prisma, id, noon)
    const measured = await readMeasured(prisma, state, state.services, noon)
    const { histories: pasts } = await joinHistories(prisma, state, state.services, measured)
    expect([...pasts.values()].filter(({ source }) => source === 'MONITORS_AND_INCIDENTS')).toHaveLength(9)
    expect(pasts.size).toBe(12)
    const webmail = await prisma.service.findFirstOrThrow({ where: { organizationId: id, name: 'Webmail' } })
    const { days = [], incidents = [] } = pasts.get(webmail.id) ?? {}
    expect(days).toHaveLength(90)
    const dayOf = (daysAgo: number) => days.at(-1 - daysAgo)?.tally
    expect(dayOf(19)?.down).toBe(41 * MINUTE)
    expect(dayOf(52)?.unknown).toBe(5 * HOUR)
    // The maintenance ended early and spans two days in Amsterdam.
    expect(Number(dayOf(6)?.maintenance) + Number(dayOf(5)?.maintenance)).toBe(75 * MINUTE)
    expect(dayOf(0)).toMatchObject({ down: 0, degraded: 0, unknown: 0 })
    expect(incidents.map(({ title }) => title)).toContain('Webmail and mail programs cannot connect')
    const service = state.services.find((each) => each.id === webmail.id)
    if (service === undefined) throw new Error('There is no such service.')
    const { latencies } = await readServiceRange(prisma, state, service, '24h', noon)
    expect(latencies).toHaveLength(24)
    // The current hour has just begun and has no counts yet.
    expect(latencies.slice(0, 23).every(({ p50, p95 }) => Number(p50) > 50 && Number(p95) > Number(p50))).toBe(true)
  })

  test('has a gapless event log in order of time that ends now', async () => {
    const { id, lastSeq } = await prisma.organization.findUniqueOrThrow(bySlug)
    const events = await eventsOf(id)
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, index) => index + 1))
    const times = events.map(({ at }) => at.getTime())
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(times.at(-1)).toBe(noon.getTime())
    expect(events.length).toBeGreaterThan(60)
  })
})

describe('prepareDemo after an earlier demo', () => {
  beforeAll(async () => {
    await begin()
    await prepare(noon, { PORT: '5000', HOST: '192.0.2.1' })
    await prisma.organization.updateMany({ data: { slug: 'an-earlier-demo' } })
    await prepare(noon, { PORT: '5001' })
  })

  test.each([
    [{}, 'http://127.0.0.1:4000/healthz'],
    [{ PORT: '4711' }, 'http://127.0.0.1:4711/healthz'],
    [{ PORT: '4711', HOST: '::1' }, 'http://[::1]:4711/healthz'],
  ])('probes its current address with %j, after any earlier address', async (settings, url) => {
    await prepare(noon, settings)
    const monitors = await prisma.monitor.findMany({ where: { kind: 'HTTP' } })
    expect(monitors).toHaveLength(18)
    expect(monitors.filter(({ options }) => (options as { url: string }).url !== url)).toEqual([])
  })
})

describe('prepareDemo again', () => {
  let first: Demo
  let before: Awaited<ReturnType<typeof content>>
  beforeAll(async () => {
    await begin()
    first = await prepare()
    before = await content(first.slug, noon)
  })

  test('adds only a key and a password when started again before the end of the next day', async () => {
    const { id, lastSeq } = await prisma.organization.findUniqueOrThrow(bySlug)
    const again = await prepare(later(35 * HOUR))
    expect(again).toEqual({ ...first, secret: again.secret, person: again.person })
    expect(await content(again.slug, noon)).toEqual(before)
    expect((await eventsOf(id)).slice(lastSeq).map(({ kind }) => kind)).toEqual(['API_KEY_CREATED'])
  })

  test('seeds a new organization after that, and archives the old one with its changes', async () => {
    const now = later(36 * HOUR)
    const again = await prepare(now)
    expect(again.incidentId).not.toBe(first.incidentId)
    expect(await content(again.slug, now)).toEqual(before)
    expect(again.archivedSlug).toBe('northwind-mail-20261122000000')
    expect(await content(String(again.archivedSlug), noon)).toEqual(before)
  })
})

describe('prepareDemo on an empty database', () => {
  beforeEach(begin)

  test.each([
    ['just after midnight', '2026-11-20T00:00:01.000Z'],
    ['just before midnight', '2026-11-20T23:59:59.000Z'],
    ['on a leap day', '2028-02-29T06:30:00.000Z'],
  ])('has events in order %s', async (_, at) => {
    const now = new Date(at)
    const { slug } = await prepare(now)
    const page = await readPageState(prisma, slug, now)
    expect(page.incidents).toHaveLength(1)
    expect(page.maintenances).toHaveLength(2)
    const { id } = await prisma.organization.findUniqueOrThrow(bySlug)
    const times = (await eventsOf(id)).map((event) => event.at.getTime())
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(times.at(-1)).toBe(now.getTime())
  })

  test('creates an ADMIN key that is valid for a week', async () => {
    const { secret, incidentId } = await prepare()
    const actor = await authenticate(testContext(prisma), secret)
    expect(actor).toMatchObject({ kind: 'apiKey', scope: 'ADMIN' })
    const ctx = testContext(prisma, { actor })
    await postIncidentUpdate(ctx, { incidentId, status: 'RESOLVED', message: 'All is well.' })
    expect((await readPageState(prisma, 'northwind-mail', noon)).status.indicator).toBe('NONE')
    expect((await prepare()).incidentId).toBe(incidentId)
    await expect(authenticate(testContext(prisma, { now: () => later(7 * DAY) }), secret)).rejects.toThrow('expired')
  })

  test('is seeded again whenever all its incidents were deleted', async () => {
    for (const seconds of [0, 1, 2]) {
      const { secret, archivedSlug } = await prepare(later(seconds * 1000))
      expect(archivedSlug === null).toBe(seconds === 0)
      const ctx = testContext(prisma, { actor: await authenticate(testContext(prisma), secret) })
      const { id: organizationId } = await prisma.organization.findUniqueOrThrow(bySlug)
      for (const { id } of await prisma.incident.findMany({ where: { organizationId } })) await deleteIncident(ctx, id)
    }
  })

  test('leaves nothing when it is interrupted after the seed', async () => {
    let calls = 0
    const now = () => {
      if (++calls > 1) throw new Error('interrupted')
      return noon
    }
    await expect(prepareDemo(testContext(prisma, { now }))).rejects.toThrow('interrupted')
    expect(await prisma.organization.count()).toBe(0)
    expect((await prepare()).archivedSlug).toBeNull()
  })
})
