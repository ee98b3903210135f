// @slow
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import type { PrismaClient } from '../../../src/generated/prisma/client.ts'
import { correctUptime, deleteUptimeCorrection } from '../../../src/monitoring/objective/correction.ts'
import {
  createObjective,
  deleteObjective,
  targetPercent,
  updateObjective,
} from '../../../src/monitoring/objective/objective.ts'
import { runDueObjectives } from '../../../src/monitoring/objective/objective-job.ts'
import { readStandings } from '../../../src/monitoring/objective/standing.ts'
import { enterState } from '../../../src/monitoring/uptime/state-intervals.ts'
import { createService, deleteService } from '../../../src/status/service/service.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const system = (milliseconds = 0) => testContext(prisma, { now: () => at(milliseconds) })

/** Creates a service that was up for ninety days except for one outage. */
async function watched(outage: readonly [from: number, to: number] = [-20 * DAY, -20 * DAY + HOUR]) {
  const made = await tenant('TEAM')
  const { ctx } = made
  const service = await createService(ctx, { name: 'API', status: 'OPERATIONAL' })
  const states = [
    ['UP', at(-90 * DAY)],
    ['DOWN', at(outage[0])],
    ['UP', at(outage[1])],
  ] as const
  const monitorId = await writeMonitor(prisma, {
    organizationId: made.id,
    serviceId: service.id,
    states,
    lastKnownAt: at(0),
  })
  const settings = await prisma.organization.findUniqueOrThrow({ where: { id: made.id } })
  const standingOf = async (objective: Parameters<typeof readStandings>[2][number], db: PrismaClient = prisma) =>
    (await readStandings(db, settings, [objective], noon)).get(objective.id)
  return { ctx, made, service, monitorId, standingOf }
}

describe('an objective', () => {
  test('shows outages, corrections with author and reason, and the remaining budget', async () => {
    const { ctx, service, standingOf } = await watched()
    const objective = await createObjective(ctx, { serviceId: service.id, target: 99.9, windowDays: 30 })
    expect(targetPercent(objective.target)).toBe(99.9)
    const overspent = await standingOf(objective)
    expect(overspent).toMatchObject({
      source: 'MONITORS_AND_INCIDENTS',
      isFull: true,
      verdict: 'EXHAUSTED',
      percent: 99.861,
    })
    expect(overspent?.remainingMs).toBe(43 * MINUTE + 12 * SECOND - HOUR)

    const half = { startsAt: at(-20 * DAY), endsAt: at(-20 * DAY + HOUR / 2) }
    const about = { serviceId: service.id, kind: 'GOOD', reason: 'The probe’s own network was down.' }
    const correction = await correctUptime(ctx, { ...about, ...half })
    expect(correction.author).toMatch(/./)
    const corrected = await standingOf(objective)
    expect(corrected?.remainingMs).toBe(13 * MINUTE + 12 * SECOND)
    expect(corrected?.tally).toMatchObject({ bad: HOUR / 2, corrected: HOUR / 2 })
    await deleteUptimeCorrection(ctx, correction.id)
    expect((await standingOf(objective))?.remainingMs).toBe(overspent?.remainingMs)
  })

  test('covers a calendar month in its time zone, including the rest of the month', async () => {
    const { ctx, service, standingOf } = await watched([-2 * DAY, -2 * DAY + HOUR])
    const objective = await createObjective(ctx, { serviceId: service.id, target: 99, timeZone: 'Europe/Berlin' })
    const standing = await standingOf(objective)
    expect(standing?.from).toEqual(new Date('2026-10-31T23:00:00Z'))
    expect(standing).toMatchObject({ budgetMs: 30 * DAY * 0.01, remainingMs: 30 * DAY * 0.01 - HOUR })
  })

  test('needs as many statements for many objectives as for one', async () => {
    const { ctx, service } = await watched()
    for (let count = 0; count < 5; count++) await createObjective(ctx, { serviceId: service.id, target: 90 + count })
    const all = await prisma.objective.findMany({ where: { serviceId: service.id } })
    const settings = await prisma.organization.findUniqueOrThrow({ where: { id: service.organizationId } })
    const statements = async (objectives: typeof all) => {
      let count = 0
      const counted = prisma.$extends({
        query: {
          $allOperations({ args, query }) {
            count += 1
            return query(args)
          },
        },
      })
      await readStandings(counted as unknown as PrismaClient, settings, objectives, noon)
      return count
    }
    expect(await statements(all)).toBe(await statements(all.slice(0, 1)))
  })

  test('is refused with a target or window that is out of range, and for a service of another organization', async () => {
    const { ctx, service } = await watched()
    const refuse = (input: object, message: RegExp) =>
      expect(createObjective(ctx, { serviceId: service.id, target: 99, ...input })).rejects.toThrow(message)
    await refuse({ target: 100 }, /target: must be at most 99\.999/)
    await refuse({ target: 99.9999 }, /at most/)
    await refuse({ target: 99.1234 }, /three decimals/)
    await refuse({ windowDays: 367 }, /at most 366/)
    await refuse({ windowDays: 0 }, /at least 1/)
    await refuse({ timeZone: 'Europe/Nowhere' }, /timeZone/)
    const other = await watched()
    await refuse({ serviceId: other.service.id }, /Service not found/)
    const foreign = await createObjective(other.ctx, { serviceId: other.service.id, target: 99 })
    await expect(updateObjective(ctx, { id: foreign.id, target: 98 })).rejects.toThrow('Objective not found.')
    await expect(deleteObjective(ctx, foreign.id)).rejects.toThrow('Objective not found.')
    await prisma.organization.update({
      where: { id: service.organizationId },
      data: { tier: 'FREE' },
    })
    await refuse({ windowDays: 90 }, /at most 30, the history of the FREE tier/)
  })

  test('can be changed with its current version, and is deleted with its service', async () => {
    const { ctx, service } = await watched()
    const made = await createObjective(ctx, { serviceId: service.id, target: 99, windowDays: 7 })
    const changed = await updateObjective(ctx, { id: made.id, windowDays: null, version: 1 })
    expect(changed).toMatchObject({ windowDays: null, target: 99_000, version: 2 })
    await expect(updateObjective(ctx, { id: made.id, target: 98, version: 1 })).rejects.toThrow('was changed')
    await deleteService(ctx, service.id)
    expect(await prisma.objective.count({ where: { id: made.id } })).toBe(0)
  })
})

describe('a correction', () => {
  test('requires a reason, an end after its start, and a service of the organization', async () => {
    const { ctx, service } = await watched()
    const fine = { serviceId: service.id, startsAt: at(-HOUR), endsAt: at(0), kind: 'EXCLUDED', reason: 'Test.' }
    await expect(correctUptime(ctx, { ...fine, reason: ' ' })).rejects.toThrow('reason: must not be blank')
    await expect(correctUptime(ctx, { ...fine, endsAt: at(-HOUR) })).rejects.toThrow('endsAt: must be after the start')
    await expect(correctUptime(ctx, { ...fine, startsAt: at(-400 * DAY) })).rejects.toThrow('at most 366 days')
    const other = await watched()
    await expect(correctUptime(other.ctx, fine)).rejects.toThrow('Service not found.')
    const made = await correctUptime(ctx, fine)
    await expect(deleteUptimeCorrection(other.ctx, made.id)).rejects.toThrow('Uptime correction not found.')
  })
})

test('a high burn rate is logged once when it starts, when it gets worse, and when it ends', async () => {
  const { ctx, made, service, monitorId } = await watched([-80 * DAY, -80 * DAY + 1])
  const objective = await createObjective(ctx, { serviceId: service.id, target: 99.9, windowDays: 30 })
  const monitor = { id: monitorId, serviceId: service.id }
  const events = async () => {
    const found = await prisma.event.findMany({
      where: { organizationId: made.id, kind: { in: ['OBJECTIVE_BURNING', 'OBJECTIVE_RECOVERED'] } },
      orderBy: { seq: 'asc' },
    })
    return found.map(({ kind, at: when }) => [kind, (when.getTime() - noon.getTime()) / MINUTE])
  }
  /** The worker evaluates every minute. */
  const run = async (from: number, to: number) => {
    for (let minute = from; minute <= to; minute++) {
      await prisma.watch.updateMany({ where: { monitorId }, data: { lastKnownAt: at(minute * MINUTE) } })
      await runDueObjectives(system(minute * MINUTE))
    }
  }
  await run(0, 3)
  expect(await events()).toEqual([])
  await enterState(system(3 * MINUTE), monitor, 'DOWN', at(3 * MINUTE))
  await run(4, 4)
  await enterState(system(5 * MINUTE), monitor, 'UP', at(5 * MINUTE))
  await run(5, 30)
  const once = [
    ['OBJECTIVE_BURNING', 4],
    ['OBJECTIVE_RECOVERED', 10],
  ]
  expect(await events()).toEqual(once)
  await prisma.objective.updateMany({ where: { id: objective.id }, data: { burnSpeed: 'STEADY', burningSince: at(0) } })
  await enterState(system(31 * MINUTE), monitor, 'DOWN', at(31 * MINUTE))
  await run(32, 34)
  expect(await events()).toEqual([...once, ['OBJECTIVE_BURNING', 32]])
  expect(await prisma.objective.findUniqueOrThrow({ where: { id: objective.id } })).toMatchObject({
    burnSpeed: 'FAST',
    burningSince: at(32 * MINUTE),
  })
})
