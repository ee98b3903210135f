import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/core/context.ts'
import { renderMarkdown } from '../../../src/core/markdown/markdown.ts'
import { HTML_VERSION } from '../../../src/core/markdown/markdown-rendering.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import { joinIncident, type LeaveReason, leaveIncident } from '../../../src/monitoring/state/incident.ts'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { createService } from '../../../src/status/service/service.ts'
import { MAX_UPDATES } from '../../../src/status/timeline/timeline-limits.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)

/** Creates a tenant with one service, and functions that let its monitors fail and recover at given minutes. */
async function withService(name = 'Shop') {
  const acme = await tenant('TEAM')
  const { id: serviceId } = await createService(acme.ctx, { name })
  const at = (minute: number) => new Date(noon.getTime() + minute * MINUTE)
  const system = (minute: number) => testContext(prisma, { now: () => at(minute) })
  const within = (minute: number, work: (tx: Context) => ReturnType<typeof joinIncident>) =>
    change(system(minute), acme.id, async (tx) => [undefined, ...(await work(tx))])
  const incidents = () =>
    prisma.incident.findMany({
      where: { organizationId: acme.id },
      include: { services: true, updates: { orderBy: { createdAt: 'asc' } }, monitors: true },
      orderBy: { createdAt: 'asc' },
    })
  return {
    ...acme,
    serviceId,
    person: (minute: number) => acme.later(minute * MINUTE),
    monitor: (monitorName: string, of: string | null = serviceId) =>
      watching.monitor(acme.id, { name: monitorName, serviceId: of }),
    async fails(minute: number, { id }: { id: string }, cause = 'Connection refused.') {
      const monitor = await prisma.monitor.update({ where: { id }, data: { state: 'DOWN', stateSince: at(minute) } })
      await within(minute + 1, (tx) => joinIncident(tx, monitor, { since: at(minute), cause }))
    },
    async recovers(minute: number, { id }: { id: string }, why: LeaveReason = 'RECOVERED') {
      const monitor = await prisma.monitor.findUniqueOrThrow({ where: { id } })
      await within(minute, (tx) => leaveIncident(tx, monitor, why))
    },
    incidents,
    /** Returns a summary of each incident's timeline. */
    async reported() {
      return (await incidents()).map(({ title, updates }) => [
        title,
        ...updates.map((each) => `${each.status} ${each.message}`),
      ])
    },
  }
}

describe('a monitor that goes down', () => {
  test('opens an incident on its service, and resolves it when it recovers', async () => {
    const { monitor, fails, recovers, incidents, reported, serviceId, news } = await withService()
    const website = await monitor('Website')
    await fails(1, website)
    expect(await incidents()).toMatchObject([
      {
        status: 'INVESTIGATING',
        impact: 'MAJOR',
        automatic: true,
        startedAt: new Date(noon.getTime() + MINUTE),
        resolvedAt: null,
        services: [{ serviceId, status: 'MAJOR_OUTAGE' }],
        monitors: [{ monitorId: website.id, leftAt: null }],
      },
    ])
    await recovers(13, website)
    expect(await reported()).toEqual([
      [
        'Shop: Website is down',
        'INVESTIGATING **Website** went down at 12:01:00 UTC: Connection refused.',
        'RESOLVED **Website** recovered after 12 minutes.',
      ],
    ])
    expect(await incidents()).toMatchObject([
      { status: 'RESOLVED', resolvedAt: new Date(noon.getTime() + 13 * MINUTE), services: [{ status: 'OPERATIONAL' }] },
    ])
    expect((await news()).slice(1)).toEqual([
      'INCIDENT_CREATED Shop: Website is down',
      'INCIDENT_UPDATE_POSTED Shop: Website is down',
    ])
  })

  test('is named once if its service has the same name, and very long names are shortened', async () => {
    const { monitor, fails, reported } = await withService('Website')
    await fails(1, await monitor('Website'))
    expect((await reported())[0]?.[0]).toBe('Website is down')
    const long = await withService('s'.repeat(100))
    await long.fails(1, await long.monitor('m'.repeat(100)))
    expect((await long.reported())[0]?.[0]).toHaveLength(200)
  })

  test('opens no incident without a service, and never a second one', async () => {
    const { monitor, fails, reported } = await withService()
    await fails(1, await monitor('Lonely', null))
    expect(await reported()).toEqual([])
    const website = await monitor('Website')
    await fails(1, website)
    await fails(2, website)
    expect(await reported()).toHaveLength(1)
    expect((await reported())[0]).toHaveLength(2)
  })

  test('joins an incident that another monitor opened, which is resolved when no monitor is down anymore', async () => {
    const { monitor, fails, recovers, incidents, reported } = await withService()
    const [website, api] = [await monitor('Website'), await monitor('API')]
    await fails(1, website)
    await fails(3, api, 'Timed out.')
    await recovers(6, website)
    expect(await incidents()).toMatchObject([{ status: 'INVESTIGATING', services: [{ status: 'MAJOR_OUTAGE' }] }])
    await recovers(68, api)
    expect(await reported()).toEqual([
      [
        'Shop: Website is down',
        'INVESTIGATING **Website** went down at 12:01:00 UTC: Connection refused.',
        'INVESTIGATING **API** went down at 12:03:00 UTC: Timed out.',
        'INVESTIGATING **Website** recovered after 5 minutes; still down: **API**.',
        'RESOLVED **API** recovered after 1 hour 5 minutes.',
      ],
    ])
  })

  test('joins an incident that a person opened, without posting updates', async () => {
    const { monitor, fails, recovers, incidents, reported, serviceId, person } = await withService()
    const services = [{ serviceId, status: 'DEGRADED_PERFORMANCE' }]
    const mine = { title: 'Slow', status: 'IDENTIFIED', impact: 'MINOR', message: 'We know.', services }
    await createIncident(person(0), mine)
    const website = await monitor('Website')
    await fails(1, website)
    await recovers(5, website)
    expect(await reported()).toEqual([['Slow', 'IDENTIFIED We know.']])
    expect(await incidents()).toMatchObject([{ status: 'IDENTIFIED', monitors: [{ leftAt: expect.any(Date) }] }])
  })

  test('reopens its incident if it recovered less than half an hour ago', async () => {
    const { monitor, fails, recovers, incidents, reported } = await withService()
    const website = await monitor('Website')
    await fails(0, website)
    await recovers(10, website)
    await fails(38, website)
    expect(await incidents()).toMatchObject([
      {
        status: 'INVESTIGATING',
        resolvedAt: null,
        services: [{ status: 'MAJOR_OUTAGE' }],
        monitors: [{ leftAt: null }],
      },
    ])
    await recovers(40, website)
    await fails(69, website)
    expect((await reported()).map((each) => each.length)).toEqual([5, 2])
  })
})

describe('an incident whose timeline is full', () => {
  /** Fills the timeline of an incident that has one update. */
  const fill = async (incidentId: string, organizationId: string) => {
    await prisma.incidentUpdate.createMany({
      data: Array.from({ length: MAX_UPDATES - 1 }, (_, index) => ({
        id: `inu_${incidentId.slice(-20)}${String(index).padStart(4, '0')}`,
        organizationId,
        incidentId,
        status: 'INVESTIGATING' as const,
        message: 'Again.',
        createdAt: noon,
      })),
    })
  }

  test('can be resolved, but not reopened: the next outage opens a new incident', async () => {
    const { id, monitor, fails, recovers, incidents } = await withService()
    const website = await monitor('Website')
    await fails(0, website)
    await fill((await incidents())[0]?.id ?? '', id)
    await recovers(10, website)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED', updates: { length: MAX_UPDATES + 1 } }])
    await fails(12, website)
    expect(await incidents()).toMatchObject([
      { status: 'RESOLVED' },
      { status: 'INVESTIGATING', updates: { length: 1 } },
    ])
  })

  test('gets no update when other monitors join or leave', async () => {
    const { id, monitor, fails, recovers, incidents } = await withService()
    const [website, api] = [await monitor('Website'), await monitor('API')]
    await fails(0, website)
    await fill((await incidents())[0]?.id ?? '', id)
    await fails(1, api)
    await recovers(2, website)
    expect(await incidents()).toMatchObject([{ status: 'INVESTIGATING', updates: { length: MAX_UPDATES } }])
    await recovers(3, api)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED', updates: { length: MAX_UPDATES + 1 } }])
  })
})

describe('an incident that a person has updated', () => {
  const writes: Record<string, (ctx: Context, id: string, updateId: string) => Promise<unknown>> = {
    'by an update': (ctx, incidentId) =>
      postIncidentUpdate(ctx, { incidentId, status: 'IDENTIFIED', message: 'Ours.' }),
    'by editing it': (ctx, id) => updateIncident(ctx, { id, title: 'Ours' }),
    'by correcting its message': (ctx, _, id) => editIncidentUpdate(ctx, { id, message: 'Ours.' }),
  }

  test.each(Object.entries(writes))('is never resolved or reopened by a monitor: %s', async (_, write) => {
    const { monitor, fails, recovers, incidents, reported, person } = await withService()
    const website = await monitor('Website')
    await fails(0, website)
    const [opened] = await incidents()
    await write(person(2), opened?.id ?? '', opened?.updates[0]?.id ?? '')
    const [before] = await reported()
    await recovers(3, website)
    expect(await incidents()).toMatchObject([
      { automatic: false, resolvedAt: null, monitors: [{ leftAt: expect.any(Date) }] },
    ])
    expect(await reported()).toEqual([before])
    await postIncidentUpdate(person(4), { incidentId: opened?.id, status: 'RESOLVED', message: 'Done.' })
    await fails(8, website)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED' }, { status: 'INVESTIGATING', automatic: true }])
  })

  test('is not reopened by a monitor that was down when it was resolved', async () => {
    const { monitor, fails, incidents, reported, person } = await withService()
    const website = await monitor('Website')
    await fails(0, website)
    const [opened] = await incidents()
    await postIncidentUpdate(person(4), { incidentId: opened?.id, status: 'RESOLVED', message: 'Ignore it.' })
    await fails(5, website)
    expect(await reported()).toHaveLength(1)
  })
})

test.each<[LeaveReason, string]>([
  ['PAUSED', 'was paused'],
  ['MOVED', 'no longer monitors this service'],
  ['CHANGED', 'was changed'],
  ['DELETED', 'was deleted'],
])('an incident whose only monitor is %s is resolved, and the update explains why', async (why, words) => {
  const { monitor, fails, recovers, reported } = await withService()
  const website = await monitor('Website')
  await fails(0, website)
  await recovers(5, website, why)
  expect((await reported())[0]?.at(-1)).toMatch(new RegExp(`^RESOLVED \\*\\*Website\\*\\* ${words}.*\\.$`))
})

test('the messages of monitors are stored as HTML, too', async () => {
  const { monitor, fails, recovers } = await withService()
  const website = await monitor('*Web* <b> & _site_')
  await fails(0, website)
  await recovers(5, website)
  const updates = await prisma.incidentUpdate.findMany({ where: { message: { contains: '<b>' } } })
  expect(updates).toHaveLength(2)
  for (const { message, html, htmlVersion } of updates) {
    expect(html).toBe(renderMarkdown(message))
    expect(htmlVersion).toBe(HTML_VERSION)
  }
})
