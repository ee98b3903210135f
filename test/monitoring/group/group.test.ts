// @slow
import { beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../../src/core/id.ts'
import { MINUTE, SECOND } from '../../../src/core/time.ts'
import type { MonitorState, ProbeOutcome } from '../../../src/generated/prisma/enums.ts'
import type { GroupOptions } from '../../../src/monitoring/group/group.ts'
import { createMonitor, deleteMonitor, updateMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { createMonitors } from '../../../src/monitoring/monitor/new-monitor.ts'
import { pauseMonitor, resumeMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { testMonitor, testOptions } from '../../../src/monitoring/monitor/test-run.ts'
import { reconcileStaleness } from '../../../src/monitoring/state/staleness-job.ts'
import { closeDays } from '../../../src/monitoring/uptime/uptime-days.ts'
import { readUptimes } from '../../../src/monitoring/uptime/uptime-history.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startTools } from '../probe/run.ts'
import { seal } from '../setup.ts'
import { watchingIn } from '../workers.ts'

/** Settings with which a monitor goes down at the first failure. */
const probed = { failureThreshold: 1, intervalSeconds: 10, options: { host: 'example.com', port: 80 } }

type Rule = Pick<GroupOptions, 'require' | 'count'>

describe('a group', async () => {
  const database = await testDatabase()
  const { prisma } = database
  const tenant = tenantsOf(prisma)
  const watching = watchingIn(database)
  const { finds, now, at } = watching
  const system = testContext(prisma, { now })

  beforeEach(async () => {
    await prisma.monitor.deleteMany()
    await prisma.probeResult.deleteMany()
    finds.clear()
    watching.time = 0
  })

  async function tallyOf(id: string) {
    const [uptime] = await readUptimes(prisma, [{ id, from: at(0), to: now() }], now())
    return uptime?.tally
  }

  /** Creates a team with a worker and monitors A, B and so on, which go down at their first failure. */
  async function team(count: number, given: Parameters<typeof watching.monitor>[1] = {}) {
    const acme = await tenant('TEAM')
    const worker = watching.worker()
    await worker.scheduler.poll()
    const ids: string[] = []
    for (let index = 0; index < count; index++) {
      const name = String.fromCharCode(65 + index)
      ids.push((await watching.monitor(acme.id, { ...probed, name, ...given })).id)
    }
    const ctx = () => ({ ...acme.ctx, now, seal })
    return {
      ...{ id: acme.id, ids, ctx, events: acme.events, services: acme.services },
      /** Advances the clock, and lets every worker probe. */
      async pass(seconds: number) {
        const end = watching.time + seconds
        while (watching.time < end) {
          await watching.pass(Math.min(5, end - watching.time), [worker], 5)
          await reconcileStaleness(system)
        }
      },
      group: (monitorIds: readonly string[], rule: Partial<Rule> = {}, more: object = {}) =>
        createMonitor(ctx(), { name: 'All', group: { monitorIds, ...rule }, ...more }),
      read: (id: string) => prisma.monitor.findUniqueOrThrow({ where: { id } }),
      eventsOf: async (subjectId: string) =>
        (await acme.events()).flatMap((event) => (event.subjectId === subjectId ? [event.kind] : [])),
    }
  }

  test('follows its members at once, and opens and resolves an incident', async () => {
    const { id, ids, group, pass, services, read, eventsOf } = await team(3)
    const [serviceId = ''] = await services('Shop')
    const { id: groupId, state } = await group(ids, { require: 'AT_LEAST', count: 2 }, { serviceId })
    expect(state).toBe('PENDING')
    expect(await prisma.watch.count({ where: { monitorId: groupId } })).toBe(0)
    await pass(20)
    expect(await read(groupId)).toMatchObject({ state: 'UP', unknownSince: null, failureThreshold: 1 })
    const [a = '', b = ''] = ids
    finds.set(a, 'DOWN')
    await pass(20)
    expect(await read(groupId)).toMatchObject({ state: 'UP' })
    finds.set(b, 'DOWN')
    await pass(20)
    const down = await read(b)
    expect(await read(groupId)).toMatchObject({ state: 'DOWN', stateSince: down.stateSince })
    const page = await readPageState(prisma, id, now())
    expect(page.services[0]?.shown).toBe('MAJOR_OUTAGE')
    const incident = await prisma.incident.findFirstOrThrow({
      where: { organizationId: id },
      include: { updates: true },
    })
    expect(incident).toMatchObject({ title: 'Shop: All is down', status: 'INVESTIGATING', startedAt: down.stateSince })
    expect(incident.updates[0]?.message).toContain('1 of 3 monitors is up, 2 are needed: A and B are down.')
    finds.clear()
    await pass(20)
    const up = await read(groupId)
    expect(up.state).toBe('UP')
    expect(await prisma.incident.findFirstOrThrow({ where: { organizationId: id } })).toMatchObject({
      status: 'RESOLVED',
    })
    expect(await eventsOf(groupId)).toEqual([
      'MONITOR_CREATED',
      ...['MONITOR_STATE_CHANGED', 'MONITOR_STATE_CHANGED', 'MONITOR_STATE_CHANGED'],
    ])
    expect((await tallyOf(groupId))?.down).toBe(Number(up.stateSince) - Number(down.stateSince))
  })

  test('of groups follows them in the same change', async () => {
    const { ids, group, pass, read, events } = await team(3)
    const [a = '', b = '', c = ''] = ids
    const inner = await group([a, b], { require: 'ANY' })
    const outer = await group([inner.id, c])
    await pass(20)
    expect((await read(outer.id)).state).toBe('UP')
    finds.set(a, 'DOWN').set(b, 'DOWN')
    await pass(20)
    expect(await read(inner.id)).toMatchObject({ state: 'DOWN' })
    expect(await read(outer.id)).toMatchObject({ state: 'DOWN', stateSince: (await read(inner.id)).stateSince })
    const changed = (await events()).flatMap(({ kind, subjectId }) =>
      kind === 'MONITOR_STATE_CHANGED' && (subjectId === inner.id || subjectId === outer.id) ? [subjectId] : [],
    )
    expect(changed.slice(-2)).toEqual([inner.id, outer.id])
  })

  test('is unknown while a deciding member is unknown, and counts that time as unknown', async () => {
    const { ids, group, pass, read, eventsOf } = await team(2)
    const [a = '', b = ''] = ids
    const both = await group(ids)
    const any = await group(ids, { require: 'ANY' })
    await pass(30)
    finds.set(a, 'UNKNOWN')
    await pass(150)
    const unknown = await read(a)
    expect(unknown.unknownSince).not.toBeNull()
    expect(await read(both.id)).toMatchObject({ state: 'UP', unknownSince: unknown.unknownSince })
    expect(await read(any.id)).toMatchObject({ state: 'UP', unknownSince: null })
    finds.delete(a)
    await pass(20)
    expect(await read(both.id)).toMatchObject({ state: 'UP', unknownSince: null })
    expect((await tallyOf(both.id))?.unknown).toBe((await tallyOf(a))?.unknown)
    expect(await eventsOf(both.id)).toEqual(expect.arrayContaining(['MONITOR_UNKNOWN', 'MONITOR_KNOWN']))
    finds.set(b, 'DOWN').set(a, 'UNKNOWN')
    await pass(150)
    // The group is down, regardless of the other member.
    expect(await read(both.id)).toMatchObject({ state: 'DOWN', unknownSince: null })
  })

  test('ignores paused members, and is pending while all are paused', async () => {
    const { ctx, ids, group, pass, read } = await team(2)
    const [a = '', b = ''] = ids
    const { id } = await group(ids)
    await pass(20)
    finds.set(a, 'DOWN')
    await pass(20)
    expect((await read(id)).state).toBe('DOWN')
    await pauseMonitor(ctx(), a)
    expect(await read(id)).toMatchObject({ state: 'UP', stateSince: now() })
    await pauseMonitor(ctx(), b)
    expect(await read(id)).toMatchObject({ state: 'PENDING', stateSince: now(), unknownSince: null })
    await pass(60)
    expect(await read(id)).toMatchObject({ state: 'PENDING', unknownSince: null })
    await resumeMonitor(ctx(), b)
    await pass(20)
    expect((await read(id)).state).toBe('UP')
  })

  test('does not follow its members while it is paused, but follows them as soon as it is resumed', async () => {
    const { ctx, ids, group, pass, read } = await team(1)
    const [a = ''] = ids
    const { id } = await group(ids)
    await pass(20)
    await pauseMonitor(ctx(), id)
    finds.set(a, 'DOWN')
    await pass(20)
    expect((await read(id)).state).toBe('PAUSED')
    expect(await resumeMonitor(ctx(), id)).toMatchObject({ state: 'DOWN', stateSince: now() })
    expect((await tallyOf(id))?.down).toBe(0)
  })

  test('loses deleted members', async () => {
    const { ctx, ids, group, pass, read, eventsOf } = await team(2)
    const [a = '', b = ''] = ids
    const { id } = await group(ids)
    await pass(20)
    finds.set(a, 'DOWN')
    await pass(20)
    await deleteMonitor(ctx(), a)
    expect(await read(id)).toMatchObject({ state: 'UP', stateSince: now(), options: { monitorIds: [b] }, version: 2 })
    expect((await eventsOf(id)).slice(-2)).toEqual(['MONITOR_UPDATED', 'MONITOR_STATE_CHANGED'])
    await deleteMonitor(ctx(), b)
    expect(await read(id)).toMatchObject({ state: 'PENDING', stateSince: now(), options: { monitorIds: [] } })
    await pass(60)
    expect(await updateMonitor(ctx(), { id, name: 'Empty' })).toMatchObject({ name: 'Empty', state: 'PENDING' })
  })

  test('has the state of its new members after they are replaced', async () => {
    const { ctx, ids, group, pass, read } = await team(2)
    const [a = '', b = ''] = ids
    const { id } = await group([a])
    finds.set(b, 'DOWN')
    await pass(60)
    const edited = await updateMonitor(ctx(), { id, group: { monitorIds: [a, b] } })
    expect(edited).toMatchObject({ state: 'DOWN', stateSince: now(), version: 2 })
    expect((await tallyOf(id))?.down).toBe(0)
    await pass(10)
    expect(await updateMonitor(ctx(), { id, group: { monitorIds: [a, b], require: 'ANY' } })).toMatchObject({
      state: 'UP',
      stateSince: now(),
    })
    expect((await read(id)).version).toBe(3)
  })

  test('can depend on other monitors, and other monitors can depend on it', async () => {
    const { ids, ctx, group, pass, read } = await team(3)
    const [a = '', b = '', router = ''] = ids
    const { id } = await group([a, b], { require: 'ANY' }, { dependsOnIds: [router] })
    await pass(20)
    finds.set(router, 'DOWN')
    await pass(20)
    expect(await read(id)).toMatchObject({
      state: 'UP',
      blockedSince: expect.any(Date),
      unknownSince: expect.any(Date),
    })
    finds.delete(router)
    await pass(20)
    expect(await read(id)).toMatchObject({ state: 'UP', blockedSince: null, unknownSince: null })
    expect((await tallyOf(id))?.unknown).toBeGreaterThan(10 * SECOND)

    await updateMonitor(ctx(), { id: router, dependsOnIds: [] })
    await updateMonitor(ctx(), { id, dependsOnIds: [] })
    await updateMonitor(ctx(), { id: router, dependsOnIds: [id] })
    await prisma.monitor.update({ where: { id: a }, data: { intervalSeconds: 3600 } })
    await prisma.watch.updateMany({ where: { monitorId: a }, data: { dueAt: at(watching.time + 3000) } })
    // The member that failed first has not been probed yet, so the dependent monitor waits.
    finds.set(router, 'DOWN').set(a, 'DOWN').set(b, 'DOWN')
    await pass(60)
    expect(await read(id)).toMatchObject({ state: 'DOWN' })
    expect(await read(router)).toMatchObject({ state: 'UP', blockedSince: expect.any(Date) })
  })

  test('opens no incident during maintenance of its service, like other monitors', async () => {
    const { id, ids, group, pass, services, read } = await team(1)
    const [serviceId = ''] = await services('Shop')
    const { id: groupId } = await group(ids, {}, { serviceId })
    await pass(20)
    await prisma.maintenance.create({
      data: {
        ...{ id: newId('Maintenance'), organizationId: id, title: 'Work', status: 'IN_PROGRESS' },
        ...{ startsAt: now(), endsAt: at(3600), startedAt: now(), createdAt: now() },
        services: { create: { serviceId } },
      },
    })
    finds.set(ids[0] ?? '', 'DOWN')
    await pass(20)
    expect((await read(groupId)).state).toBe('DOWN')
    expect(await prisma.incident.count({ where: { organizationId: id } })).toBe(0)
    expect((await tallyOf(groupId))?.down).toBe(0)
  })

  test('closes days, and reopens days whose state changes later', async () => {
    const { ids, group, pass } = await team(1)
    const { id } = await group(ids)
    await pass(20)
    watching.time = 2 * 86_400
    await closeDays(system)
    expect(await prisma.uptimeDay.count({ where: { subjectId: id } })).toBe(2)
    await reconcileStaleness(system)
    // No worker has probed for two days, so the state is unknown for that time.
    const [day] = await prisma.uptimeDay.findMany({ where: { subjectId: id }, orderBy: { day: 'asc' } })
    expect(day).toBeUndefined()
    await closeDays(system)
    const days = await prisma.uptimeDay.findMany({ where: { subjectId: id }, orderBy: { day: 'asc' } })
    expect(days.map(({ unknown }) => unknown > 11 * 60 * MINUTE)).toEqual([true, true])
  })

  test('has no probe, so it cannot be tested', async () => {
    const { ctx, ids, group } = await team(1)
    const { id } = await group(ids)
    const { tools } = await startTools()
    const message = 'is a group, which has no probe'
    await expect(testMonitor({ ...ctx(), tools }, id)).rejects.toMatchObject({ issues: [{ path: ['id'], message }] })
    await expect(testOptions({ ...ctx(), tools }, { group: { monitorIds: ids } })).rejects.toMatchObject({
      issues: [{ path: ['group'], message }],
    })
  })

  test('contains up to 100 monitors of its organization, but never itself', async () => {
    const { ctx, ids, group, id: organizationId } = await team(1)
    const [a = ''] = ids
    const own = ctx()
    const inner = await group([a])
    const outer = await group([inner.id])
    const other = await watching.monitor((await tenant('FREE')).id)
    const issue = (path: readonly string[]) => ({ issues: [{ path, message: 'must not depend on this monitor' }] })
    for (const monitorIds of [[inner.id], [outer.id]] as const) {
      await expect(updateMonitor(own, { id: inner.id, group: { monitorIds } })).rejects.toMatchObject(
        issue(['group', 'monitorIds', '0']),
      )
    }
    await expect(updateMonitor(own, { id: a, dependsOnIds: [outer.id] })).rejects.toMatchObject(
      issue(['dependsOnIds', '0']),
    )
    // A group may depend on one of its members.
    await updateMonitor(own, { id: outer.id, dependsOnIds: [a] })
    await expect(group([a, a])).rejects.toMatchObject({ issues: [{ path: ['group', 'monitorIds', '1'] }] })
    for (const strange of [other.id, 'mon_none', organizationId])
      await expect(group([strange])).rejects.toThrow('Monitor not found.')
    await expect(updateMonitor(own, { id: inner.id, group: { monitorIds: [other.id] } })).rejects.toThrow(
      'Monitor not found.',
    )
  })

  test('is one of at most 100 groups, which are reconciled in one change', async () => {
    const { ctx, ids, group, pass, read } = await team(1)
    const inputs = Array.from({ length: 98 }, (_, n) => ({ name: `G${n}`, group: { monitorIds: ids } }))
    await createMonitors(ctx(), inputs)
    const inner = await group(ids)
    const outer = await group([inner.id])
    await expect(group(ids)).rejects.toMatchObject({
      issues: [{ message: 'is one too many: an organization can have at most 100 groups' }],
    })
    await pass(15)
    finds.set(ids[0] ?? '', 'DOWN')
    await pass(15)
    expect((await read(outer.id)).state).toBe('DOWN')
    expect(await prisma.monitor.count({ where: { kind: 'GROUP', state: 'DOWN' } })).toBe(100)
  })

  describe('over a random history', () => {
    const ways: readonly Rule[] = [{ require: 'ALL' }, { require: 'ANY' }, { require: 'AT_LEAST', count: 2 }]

    /** Computes a group's state by sorting the states of its members. */
    function naive(states: readonly MonitorState[], { require, count = 1 }: Rule): string {
      const order = ['UP', 'DEGRADED', 'DOWN']
      const active = states
        .filter((state) => state !== 'PAUSED')
        .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
      const needed = { ALL: active.length, ANY: 1, AT_LEAST: Math.min(count, active.length) }[require]
      return active[needed - 1] ?? 'NONE'
    }

    type Team = Awaited<ReturnType<typeof team>>

    /** Lets a random member fail or recover; sometimes pauses one, or resumes all. */
    async function disturb({ ids, ctx, pass }: Team, step: number, random: () => number) {
      const outcomes: readonly ProbeOutcome[] = ['UP', 'UP', 'DEGRADED', 'DOWN']
      const id = ids[Math.floor(random() * ids.length)] ?? ''
      finds.set(id, outcomes[Math.floor(random() * outcomes.length)] ?? 'UP')
      if (step % 10 === 5) await pauseMonitor(ctx(), id)
      for (const each of step % 10 === 8 ? ids : []) await resumeMonitor(ctx(), each)
      await pass(10)
    }

    async function readStates(ids: readonly string[]): Promise<MonitorState[]> {
      const rows = await prisma.monitor.findMany({ where: { id: { in: [...ids] } } })
      return ids.map((id) => rows.find((row) => row.id === id)?.state ?? 'PENDING')
    }

    /** Returns the recorded state of monitors at times. */
    async function statesByTime() {
      const intervals = await prisma.monitorInterval.findMany()
      return (id: string, time: Date) => {
        const own = intervals.filter(({ monitorId, startedAt }) => monitorId === id && startedAt <= time)
        return own.find(({ endedAt }) => endedAt === null || endedAt > time)?.state ?? 'PENDING'
      }
    }

    async function live(acme: Team, groupIds: readonly string[], random: () => number) {
      for (let step = 0; step < 30; step++) {
        await disturb(acme, step, random)
        const states = await readStates(acme.ids)
        if (states.includes('PENDING')) continue
        expect(await readStates(groupIds)).toEqual(naiveStates(states))
      }
    }

    const naiveStates = (states: readonly MonitorState[]) => ways.map((rule) => naive(states, rule))

    /** Returns the seconds in which the recorded state of a group differs from the state that its members imply. */
    async function wrongSeconds(ids: readonly string[], groupIds: readonly string[], begun: number) {
      const stateAt = await statesByTime()
      const seconds = Array.from({ length: watching.time - begun - 1 }, (_, index) => begun + 1 + index)
      return seconds.flatMap((second) => {
        const states = ids.map((id) => stateAt(id, at(second)))
        const found = groupIds.map((id) => stateAt(id, at(second)))
        const isRight = states.includes('PENDING') || `${found}` === `${naiveStates(states)}`
        return isRight ? [] : [`${second}: ${found} of ${states}`]
      })
    }

    test.each([1, 2])('has the history that its members imply: seed %i', async (seed) => {
      const acme = await team(4)
      const { ids, group, pass } = acme
      await pass(20)
      const groupIds: string[] = []
      for (const rule of ways) groupIds.push((await group(ids, rule)).id)
      const begun = watching.time
      await live(acme, groupIds, randomOf(seed))
      const wrong = await wrongSeconds(ids, groupIds, begun)
      expect(wrong).toEqual([])
    })
  })
})

/** Returns a random number generator (Mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
