// @slow
import { describe, expect, test } from 'vitest'
import { Conflict, DomainError, Invalid } from '../../../src/core/errors.ts'
import { HOUR, MINUTE } from '../../../src/core/time.ts'
import { MaintenanceStatus } from '../../../src/generated/prisma/enums.ts'
import {
  advanceMaintenance,
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { dueAt, type Plan, transition } from '../../../src/status/maintenance/maintenance-schedule.ts'
import { MAX_UPDATES } from '../../../src/status/timeline/timeline-limits.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf, together } from '../setup.ts'
import { maintenanceTimelineInclude } from '../timelines.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const plan = { title: 'New disks', message: 'We change disks.', startsAt: at(HOUR), endsAt: at(2 * HOUR) }
const deriveState = (id: string) =>
  prisma.maintenance.findUniqueOrThrow({ where: { id }, include: maintenanceTimelineInclude })

/** A tenant with a service and its maintenance, planned from one to two o'clock. */
async function withMaintenance(more: object = {}) {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const { id } = await scheduleMaintenance(acme.ctx, { ...plan, serviceIds: [api], ...more })
  const update = (input: object, milliseconds = 0) => updateMaintenance(acme.later(milliseconds), { id, ...input })
  return { ...acme, organizationId: acme.id, api, id, update, news: async () => (await acme.news()).slice(1) }
}

describe('a maintenance', () => {
  test('is scheduled and due at its start', async () => {
    const { id, api, news } = await withMaintenance()
    const { message, ...fields } = plan
    expect(await deriveState(id)).toMatchObject({
      ...fields,
      status: 'SCHEDULED',
      dueAt: plan.startsAt,
      version: 1,
      services: [{ serviceId: api }],
      updates: [{ status: 'SCHEDULED', message, createdAt: noon }],
    })
    expect(await news()).toEqual(['MAINTENANCE_SCHEDULED New disks'])
  })

  test('starts at once if its start has passed', async () => {
    const { id, news } = await withMaintenance({ startsAt: at(-HOUR) })
    expect(await deriveState(id)).toMatchObject({
      status: 'IN_PROGRESS',
      startsAt: at(-HOUR),
      dueAt: plan.endsAt,
      updates: [{ status: 'IN_PROGRESS' }],
    })
    expect(await news()).toEqual(['MAINTENANCE_SCHEDULED New disks', 'MAINTENANCE_STARTED New disks'])
  })

  test.each([
    ['ends when it starts', { endsAt: plan.startsAt }, 'must be after the start'],
    ['ends before it starts', { endsAt: at(HOUR - 1) }, 'must be after the start'],
    ['has ended already', { startsAt: at(-HOUR), endsAt: noon }, 'must be in the future'],
  ])('that %s is rejected', async (_, times, message) => {
    const { ctx, news } = await tenant()
    await expect(scheduleMaintenance(ctx, { ...plan, ...times })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: ['endsAt'], message }],
    })
    expect(await news()).toEqual([])
  })

  test('is rejected with the path of each problem', async () => {
    const { ctx, services } = await tenant()
    const [api = ''] = await services('API')
    const wrong = { title: '', message: '', startsAt: 'soon', endsAt: new Date(Number.NaN), serviceIds: [7] }
    await expect(scheduleMaintenance(ctx, wrong)).rejects.toMatchObject({
      issues: [['title'], ['message'], ['startsAt'], ['endsAt'], ['serviceIds', '0']].map((path) => ({ path })),
    })
    await expect(scheduleMaintenance(ctx, { ...plan, serviceIds: [api, api] })).rejects.toMatchObject({
      issues: [{ path: ['serviceIds', '1'] }],
    })
  })
})

describe('manually, a maintenance', () => {
  test('can start early, be verified and end early, with its times adjusted', async () => {
    const { id, update, news } = await withMaintenance()
    expect(await update({ status: 'IN_PROGRESS', message: 'We begin.' }, MINUTE)).toMatchObject({
      status: 'IN_PROGRESS',
      startsAt: at(MINUTE),
      endsAt: plan.endsAt,
      dueAt: plan.endsAt,
    })
    expect(await update({ status: 'VERIFYING' }, 2 * MINUTE)).toMatchObject({ status: 'VERIFYING', dueAt: plan.endsAt })
    expect(await update({ status: 'COMPLETED' }, 3 * MINUTE)).toMatchObject({
      status: 'COMPLETED',
      endsAt: at(3 * MINUTE),
      dueAt: null,
    })
    expect((await deriveState(id)).updates.map(({ status, message }) => [status, message])).toEqual([
      ['COMPLETED', ''],
      ['VERIFYING', ''],
      ['IN_PROGRESS', 'We begin.'],
      ['SCHEDULED', 'We change disks.'],
    ])
    expect((await news()).slice(1)).toEqual([
      'MAINTENANCE_STARTED New disks',
      'MAINTENANCE_UPDATE_POSTED New disks',
      'MAINTENANCE_COMPLETED New disks',
    ])
  })

  test('can be rescheduled and is due at its new time', async () => {
    const { update, news } = await withMaintenance()
    expect(await update({ startsAt: at(3 * HOUR), endsAt: at(4 * HOUR) })).toMatchObject({ dueAt: at(3 * HOUR) })
    expect(await update({ endsAt: at(5 * HOUR) })).toMatchObject({ endsAt: at(5 * HOUR), dueAt: at(3 * HOUR) })
    expect(await update({ startsAt: noon })).toMatchObject({ status: 'IN_PROGRESS', dueAt: at(5 * HOUR) })
    expect(await update({ endsAt: at(6 * HOUR) })).toMatchObject({ dueAt: at(6 * HOUR) })
    expect((await news()).slice(1)).toEqual([
      'MAINTENANCE_RESCHEDULED New disks',
      'MAINTENANCE_RESCHEDULED New disks',
      'MAINTENANCE_STARTED New disks',
      'MAINTENANCE_RESCHEDULED New disks',
    ])
  })

  test('can start and get another end in one edit', async () => {
    const { update } = await withMaintenance()
    expect(await update({ status: 'IN_PROGRESS', endsAt: at(MINUTE) })).toMatchObject({
      startsAt: noon,
      endsAt: at(MINUTE),
      dueAt: at(MINUTE),
    })
  })

  test('can get other services, another title and an update without a new status', async () => {
    const { id, services, update } = await withMaintenance()
    const [site = ''] = await services('Site')
    await update({ title: 'Newer disks', serviceIds: [site], message: 'They are late.', version: 1 })
    expect(await deriveState(id)).toMatchObject({
      title: 'Newer disks',
      services: [{ serviceId: site }],
      updates: [{ status: 'SCHEDULED', message: 'They are late.' }, { message: plan.message }],
    })
  })

  test('rejects invalid transitions', async () => {
    const { update, news } = await withMaintenance()
    const refusals = [
      [{ endsAt: at(HOUR) }, 'endsAt'],
      [{ startsAt: at(2 * HOUR) }, 'endsAt'],
      [{ status: 'CANCELLED' }, 'status'],
      [{ status: 'SCHEDULED' }, 'status'],
      [{ status: 'IN_PROGRESS', startsAt: at(MINUTE) }, 'startsAt'],
      [{ message: 'x'.repeat(10_001) }, 'message'],
      [{ title: null }, 'title'],
    ] as const
    for (const [input, field] of refusals) {
      await expect(update(input)).rejects.toMatchObject({ constructor: Invalid, issues: [{ path: [field] }] })
    }
    await expect(update({ endsAt: at(HOUR + 1) }, HOUR + 2)).rejects.toMatchObject({
      issues: [{ path: ['endsAt'], message: 'must be in the future' }],
    })
    expect(await news()).toHaveLength(1)
  })

  test('can be cancelled once, before or during its run', async () => {
    const planned = await withMaintenance()
    const running = await withMaintenance({ startsAt: noon })
    const cancelled = await cancelMaintenance(planned.ctx, { id: planned.id, message: 'Not needed.' })
    expect(cancelled).toMatchObject({ status: 'CANCELLED', dueAt: null, startsAt: plan.startsAt, endsAt: plan.endsAt })
    expect(await cancelMaintenance(running.later(MINUTE), { id: running.id })).toMatchObject({ endsAt: at(MINUTE) })
    expect((await deriveState(planned.id)).updates[0]).toMatchObject({ status: 'CANCELLED', message: 'Not needed.' })
    await expect(cancelMaintenance(planned.ctx, { id: planned.id })).rejects.toThrow(Conflict)
    await expect(planned.update({ startsAt: at(3 * HOUR), endsAt: at(4 * HOUR) })).rejects.toThrow(Conflict)
    await planned.update({ title: 'Old disks', message: 'We were wrong.' })
    expect((await planned.news()).slice(1)).toEqual([
      'MAINTENANCE_CANCELLED New disks',
      'MAINTENANCE_UPDATE_POSTED Old disks',
    ])
  })
})

describe('the timeline of a maintenance', () => {
  /** A maintenance with a full timeline. */
  async function withFullTimeline(more: object = {}) {
    const planned = await withMaintenance(more)
    const { id, organizationId } = planned
    await prisma.maintenanceUpdate.createMany({
      data: Array.from({ length: MAX_UPDATES - 1 }, (_, index) => ({
        id: `mnu_${id.slice(-20)}${String(index).padStart(4, '0')}`,
        organizationId,
        maintenanceId: id,
        status: 'SCHEDULED' as const,
        message: 'News.',
        createdAt: noon,
      })),
    })
    const count = async () => (await deriveState(id)).updates.length
    return { ...planned, count }
  }
  const full = { constructor: Conflict, code: 'TIMELINE_FULL' }

  test('has a maximum number of updates, plus one that ends it', async () => {
    const { update, count, news } = await withFullTimeline({ startsAt: noon })
    const before = await news()
    await expect(update({ message: 'More news.' })).rejects.toMatchObject(full)
    await expect(update({ status: 'VERIFYING' })).rejects.toMatchObject(full)
    expect(await news()).toEqual(before)
    await update({ title: 'Newer disks' })
    await update({ status: 'COMPLETED', message: 'Done.' })
    await expect(update({ message: 'One thing more.' })).rejects.toMatchObject(full)
    expect(await count()).toBe(MAX_UPDATES + 1)
  })

  test('never prevents automatic transitions or cancelling, even when full', async () => {
    const left = await withFullTimeline()
    await advanceMaintenance(left.later(5 * HOUR), left.id)
    expect(await deriveState(left.id)).toMatchObject({ status: 'COMPLETED', updates: { length: MAX_UPDATES + 2 } })
    const other = await withFullTimeline()
    await cancelMaintenance(other.ctx, { id: other.id })
    expect(await other.count()).toBe(MAX_UPDATES + 1)
  })
})

describe('a past maintenance', () => {
  test.each(['COMPLETED', 'CANCELLED'] as const)(
    'and %s keeps the services for which uptime was computed',
    async (end) => {
      const { id, api, services, update, later } = await withMaintenance({ startsAt: noon })
      if (end === 'COMPLETED') await update({ status: end }, MINUTE)
      else await cancelMaintenance(later(MINUTE), { id })
      const [site = ''] = await services('Site')
      for (const serviceIds of [[], [site], [api, site]]) {
        await expect(update({ serviceIds, title: 'New' }, HOUR)).rejects.toThrow(
          new Conflict(`The maintenance is ${end}; its services can no longer be changed.`),
        )
      }
      expect(await update({ title: 'Newer disks', message: 'It took long.' }, HOUR)).toMatchObject({
        title: 'Newer disks',
      })
      expect((await deriveState(id)).services).toEqual([{ serviceId: api }])
    },
  )

  test('can get its final services with the edit that ends it', async () => {
    const { id, update } = await withMaintenance({ startsAt: noon })
    await update({ status: 'COMPLETED', serviceIds: [] }, MINUTE)
    expect((await deriveState(id)).services).toEqual([])
  })
})

describe('two writers at the same time', () => {
  test('that both start it: one succeeds, the other gets a conflict', async () => {
    for (let round = 0; round < 8; round++) {
      const { update, news } = await withMaintenance()
      const { refused } = await together([update({ status: 'IN_PROGRESS' }), update({ status: 'IN_PROGRESS' })])
      expect(refused).toMatchObject([{ constructor: Conflict }])
      expect(await news()).toHaveLength(2)
    }
  })

  test('of which one cancels and one edits the same version: one succeeds', async () => {
    const { id, ctx, update } = await withMaintenance()
    for (let version = 1; version <= 10; version++) {
      const { refused } = await together([
        update({ title: `One ${version}`, version }),
        update({ title: `Other ${version}`, version }),
      ])
      expect(refused).toMatchObject([{ constructor: Conflict }])
    }
    const { done } = await together(Array.from({ length: 5 }, () => cancelMaintenance(ctx, { id })))
    expect(done).toHaveLength(1)
  })
})

describe('the transitions of a plan', () => {
  const allowed = new Set([
    'SCHEDULED IN_PROGRESS',
    'SCHEDULED CANCELLED',
    'IN_PROGRESS VERIFYING',
    'IN_PROGRESS COMPLETED',
    'IN_PROGRESS CANCELLED',
    'VERIFYING IN_PROGRESS',
    'VERIFYING COMPLETED',
    'VERIFYING CANCELLED',
  ])
  const statuses = Object.values(MaintenanceStatus)
  const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const))

  test.each(pairs)('%s → %s', (from, to) => {
    const before: Plan = { status: from, startsAt: at(-HOUR), endsAt: at(HOUR) }
    const attempt = () => transition(before, to, noon)
    if (!allowed.has(`${from} ${to}`)) return expect(attempt).toThrow(DomainError)
    const after = attempt()
    expect(after.status).toBe(to)
    expect(dueAt(after)).toEqual(to === 'COMPLETED' || to === 'CANCELLED' ? null : after.endsAt)
  })
})

describe('the recorded run', () => {
  const ran = async (id: string) => {
    const { startedAt, endedAt } = await deriveState(id)
    return [startedAt, endedAt]
  }

  test('has no start before the maintenance starts and no end before it ends', async () => {
    const { id, update } = await withMaintenance()
    expect(await ran(id)).toEqual([null, null])
    await update({ title: 'Newer disks' }, MINUTE)
    expect(await ran(id)).toEqual([null, null])
    await update({ status: 'IN_PROGRESS' }, 2 * MINUTE)
    expect(await ran(id)).toEqual([at(2 * MINUTE), null])
    await update({ status: 'VERIFYING' }, 3 * MINUTE)
    expect(await ran(id)).toEqual([at(2 * MINUTE), null])
  })

  test('follows the plan for automatic transitions, however late they are made', async () => {
    const { id, later } = await withMaintenance()
    await advanceMaintenance(later(HOUR + MINUTE), id)
    expect(await ran(id)).toEqual([plan.startsAt, null])
    await advanceMaintenance(later(5 * HOUR), id)
    expect(await ran(id)).toEqual([plan.startsAt, plan.endsAt])
    const another = await withMaintenance()
    await advanceMaintenance(another.later(5 * HOUR), another.id)
    expect(await ran(another.id)).toEqual([plan.startsAt, plan.endsAt])
  })

  test('starts no earlier than the maintenance was scheduled', async () => {
    const { id } = await withMaintenance({ startsAt: at(-HOUR) })
    expect(await ran(id)).toEqual([noon, null])
  })

  test('starts and ends early with manual transitions', async () => {
    const { id, update } = await withMaintenance()
    await update({ status: 'IN_PROGRESS' }, MINUTE)
    await update({ status: 'COMPLETED' }, 2 * MINUTE)
    expect(await ran(id)).toEqual([at(MINUTE), at(2 * MINUTE)])
  })

  test('is empty when the maintenance was cancelled before its start', async () => {
    const { id, later } = await withMaintenance()
    await cancelMaintenance(later(MINUTE), { id })
    expect(await ran(id)).toEqual([null, null])
  })

  test('ends when the maintenance is cancelled during its run', async () => {
    const { id, later, update } = await withMaintenance()
    await update({ status: 'IN_PROGRESS' }, MINUTE)
    await cancelMaintenance(later(3 * MINUTE), { id })
    expect(await ran(id)).toEqual([at(MINUTE), at(3 * MINUTE)])
  })

  test('does not change when the plan is edited later', async () => {
    const { id, update, later } = await withMaintenance()
    await update({ status: 'IN_PROGRESS' }, MINUTE)
    await update({ startsAt: at(-5 * HOUR), endsAt: at(10 * MINUTE) }, 2 * MINUTE)
    expect(await ran(id)).toEqual([at(MINUTE), null])
    await advanceMaintenance(later(20 * MINUTE), id)
    expect(await ran(id)).toEqual([at(MINUTE), at(10 * MINUTE)])
  })

  test('starts now when the planned start is moved to the past', async () => {
    const { id, update } = await withMaintenance()
    await update({ startsAt: at(-HOUR) }, MINUTE)
    expect(await ran(id)).toEqual([at(MINUTE), null])
  })
})
