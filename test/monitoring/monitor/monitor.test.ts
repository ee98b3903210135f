import { describe, expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound, TierLimitReached, Unauthenticated } from '../../../src/core/errors.ts'
import { MINUTE, SECOND } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import type { Monitor, Prisma } from '../../../src/generated/prisma/client.ts'
import {
  createMonitor,
  deleteMonitor,
  heartbeatToken,
  rotateHeartbeatToken,
  updateMonitor,
} from '../../../src/monitoring/monitor/monitor.ts'
import { openOptions } from '../../../src/monitoring/monitor/options.ts'
import { pauseMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { joinIncident } from '../../../src/monitoring/state/incident.ts'
import { enterState } from '../../../src/monitoring/uptime/state-intervals.ts'
import type { Tenant } from '../../status/setup.ts'
import { noIds, tenantsOf, together } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { serverUrl, testDatabase } from '../../support/database.ts'
import { statementsOf } from '../../support/statements.ts'
import { samples, seal, sealing } from '../setup.ts'

const { prisma, pool } = await testDatabase()
const tenant = tenantsOf(prisma)
for (const name of ['east', 'west']) await prisma.region.create({ data: { name, lastSeenAt: noon } })
await prisma.region.create({ data: { name: 'gone', lastSeenAt: new Date(noon.getTime() - 5 * MINUTE) } })

const watchesOf = ({ id }: Monitor) => prisma.watch.findMany({ where: { monitorId: id }, orderBy: { region: 'asc' } })
const regionsOf = async (monitor: Monitor) => (await watchesOf(monitor)).map(({ region }) => region)
const intervalsOf = async ({ id }: Monitor) =>
  (await prisma.monitorInterval.findMany({ where: { monitorId: id }, orderBy: { startedAt: 'asc' } })).map(
    ({ state, startedAt, endedAt }) => [state, startedAt, endedAt],
  )
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const http = { name: 'API', http: samples.http }

/** Sets the state of a monitor from noon on, as probes would. */
async function find(monitor: Monitor, state: 'UP' | 'DOWN', { ctx }: Tenant): Promise<void> {
  await change(testContext(prisma), monitor.organizationId, async (tx) => {
    await enterState(tx, monitor, state, noon, 'Refused.')
    const events = state === 'DOWN' ? await joinIncident(tx, monitor, { since: noon, cause: 'Refused.' }) : []
    return [ctx, ...events]
  })
  const found = { state, stateSince: noon, lastKnownAt: noon, lastProbedAt: noon, recent: [[state, noon.getTime()]] }
  await prisma.watch.updateMany({ where: { monitorId: monitor.id }, data: found })
}

describe('a new monitor', () => {
  test('has the given and default settings, is PENDING, and has a watch in every region with workers', async () => {
    const acme = await tenant()
    const [serviceId = ''] = await acme.services('API')
    const monitor = await createMonitor(sealing(acme), { ...http, serviceId })
    expect(monitor).toMatchObject({
      organizationId: acme.id,
      name: 'API',
      serviceId,
      kind: 'HTTP',
      intervalSeconds: 60,
      timeoutMs: 10_000,
      failureThreshold: 2,
      recoveryThreshold: 1,
      agreement: null,
      state: 'PENDING',
      stateSince: noon,
      pausedBy: null,
      version: 1,
      createdAt: noon,
    })
    expect(await watchesOf(monitor)).toMatchObject([
      { region: 'east', state: 'PENDING', dueAt: noon },
      { region: 'west', state: 'PENDING', dueAt: noon },
    ])
    expect(await intervalsOf(monitor)).toEqual([['PENDING', noon, null]])
    expect((await acme.news()).slice(1)).toEqual(['MONITOR_CREATED API', 'SERVICE_UNKNOWN API'])
  })

  test.each([
    ['http', 'HTTP', 60, ['east', 'west']],
    ['tcp', 'TCP', 60, ['east', 'west']],
    ['dns', 'DNS', 60, ['east', 'west']],
    ['ping', 'PING', 60, ['east', 'west']],
    ['heartbeat', 'HEARTBEAT', 86_400, ['*']],
    ['blacklist', 'BLACKLIST', 3600, ['*']],
  ] as const)('may be of %s', async (key, kind, intervalSeconds, regions) => {
    const monitor = await createMonitor(sealing(await tenant()), { name: key, [key]: samples[key] })
    expect(monitor).toMatchObject({ kind, intervalSeconds })
    expect(await regionsOf(monitor)).toEqual(regions)
    expect(openOptions(seal, monitor).options).toMatchObject(samples[key])
  })

  test('of kind heartbeat waits for the first heartbeat, and detects missed ones after it', async () => {
    const given = {
      name: 'Backup',
      heartbeat: {},
      failureThreshold: 5,
      recoveryThreshold: 5,
      intervalSeconds: 31 * 86_400,
    }
    const monitor = await createMonitor(sealing(await tenant()), given)
    expect(monitor).toMatchObject({ failureThreshold: 1, recoveryThreshold: 1 })
    expect(await watchesOf(monitor)).toMatchObject([{ dueAt: null }])
    expect(heartbeatToken(seal, monitor)).toMatch(/^[0-9a-v]{32}$/)
    expect(JSON.stringify(monitor)).not.toContain(heartbeatToken(seal, monitor))
  })

  test('stores secrets encrypted', async () => {
    const secret = 'Bearer s3cret-of-acme'
    const headers = [{ name: 'Authorization', value: secret }]
    const options = { ...samples.http, method: 'POST', headers, body: 'b0dy-of-acme' }
    const monitor = await createMonitor(sealing(await tenant()), { name: 'API', http: options })
    const stored = JSON.stringify(await prisma.monitor.findUniqueOrThrow({ where: { id: monitor.id } }))
    expect(stored).not.toMatch(/s3cret|b0dy/)
    expect(openOptions(seal, monitor).options).toMatchObject({ headers, body: 'b0dy-of-acme' })
  })

  test.each([
    [{}, ['name']],
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(101), http: samples.http }, ['name']],
    [{ name: 'API' }, ['']],
    [{ name: 'API', http: samples.http, tcp: samples.tcp }, ['tcp']],
    [{ name: 'API', http: 'https://a.example' }, ['http']],
    [{ name: 'API', http: { url: 'ftp://a.example' } }, ['http.url']],
    [{ name: 'API', http: { url: 'http://127.0.0.1/' } }, ['http.url']],
    [{ name: 'API', tcp: { host: 'a.example', port: 0 } }, ['tcp.port']],
    [{ ...http, intervalSeconds: 59 }, ['intervalSeconds']],
    [{ ...http, intervalSeconds: 60.5 }, ['intervalSeconds']],
    [{ ...http, intervalSeconds: 86_401 }, ['intervalSeconds']],
    [{ name: 'Spam', blacklist: samples.blacklist, intervalSeconds: 899 }, ['intervalSeconds']],
    [{ name: 'Job', heartbeat: {}, intervalSeconds: 31 * 86_400 + 1 }, ['intervalSeconds']],
    [{ name: 'Job', heartbeat: { graceSeconds: -1 } }, ['heartbeat.graceSeconds']],
    [{ ...http, timeoutMs: 499 }, ['timeoutMs']],
    [{ ...http, timeoutMs: 30_001 }, ['timeoutMs']],
    [{ ...http, failureThreshold: 0, recoveryThreshold: 11 }, ['failureThreshold', 'recoveryThreshold']],
    [{ ...http, agreement: 0 }, ['agreement']],
  ])('is refused with the path of the invalid field (%#)', async (input, paths) => {
    const acme = await tenant()
    const refusal = await createMonitor(sealing(acme), input).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Invalid)
    expect((refusal as Invalid).issues.map(({ path }) => path.join('.'))).toEqual(paths)
    expect(await acme.news()).toEqual([])
  })

  test('must not have an interval below the minimum of the tier, or a timeout above its interval', async () => {
    const acme = await tenant('TEAM')
    const often = { ...http, intervalSeconds: 10 }
    expect(await createMonitor(sealing(acme), often)).toMatchObject({ intervalSeconds: 10, timeoutMs: 10_000 })
    await expect(createMonitor(sealing(acme), { ...often, timeoutMs: 10_001 })).rejects.toThrow(
      'timeoutMs: must not be longer than the interval',
    )
    await expect(createMonitor(sealing(await tenant('PRO')), { ...http, intervalSeconds: 29 })).rejects.toThrow(
      'intervalSeconds: must be at least 30 on the tier PRO',
    )
  })

  test('is refused above the limit of the tier, even when many are created at once', async () => {
    const acme = await tenant()
    const { done, refused } = await together(Array.from({ length: 8 }, () => createMonitor(sealing(acme), http)))
    expect(done).toHaveLength(5)
    for (const error of refused) expect(error).toMatchObject({ constructor: TierLimitReached, limit: 5 })
    await pauseMonitor(acme.ctx, done[0]?.id ?? '')
    await expect(createMonitor(sealing(acme), http)).rejects.toThrow(
      'The FREE tier allows 5 monitors, and all are in use.',
    )
    await deleteMonitor(acme.ctx, done[0]?.id ?? '')
    expect(await createMonitor(sealing(acme), http)).toMatchObject({ name: 'API' })
  })

  test('requires a key with scope WRITE, and a service of its organization', async () => {
    const acme = await tenant()
    const [foreign] = await (await tenant()).services('Theirs')
    await expect(createMonitor({ ...acme.as('READ'), seal }, http)).rejects.toThrow(Forbidden)
    await expect(createMonitor({ ...testContext(prisma, { actor: { kind: 'visitor' } }), seal }, http)).rejects.toThrow(
      Unauthenticated,
    )
    for (const serviceId of [foreign, ...noIds('svc')]) {
      await expect(createMonitor(sealing(acme), { ...http, serviceId })).rejects.toThrow(NotFound)
    }
  })
})

describe('an edit', () => {
  test('changes only the given fields, keeps earlier results and discards the results of running probes', async () => {
    const acme = await tenant()
    const monitor = await createMonitor(sealing(acme), http)
    await find(monitor, 'UP', acme)
    const leased = at(40 * SECOND)
    await prisma.watch.updateMany({ where: { monitorId: monitor.id }, data: { dueAt: leased } })
    const edit = { name: 'Front', intervalSeconds: 120, timeoutMs: 5000, failureThreshold: 3, agreement: 2 }
    const edited = await updateMonitor(sealing(acme, SECOND), { id: monitor.id, ...edit, version: 1 })
    expect(edited).toEqual({ ...monitor, ...edit, state: 'UP', version: 2 })
    for (const watch of await watchesOf(monitor)) {
      expect(watch).toMatchObject({ state: 'UP', dueAt: at(SECOND), recent: [['UP', noon.getTime()]] })
    }
    expect((await acme.news()).slice(1)).toEqual(['MONITOR_UPDATED Front'])
    expect(await updateMonitor(sealing(acme), { id: monitor.id, agreement: null })).toMatchObject({ agreement: null })
  })

  test('of the target resets the state', async () => {
    const acme = await tenant()
    const monitor = await createMonitor(sealing(acme), http)
    await find(monitor, 'UP', acme)
    const same = await updateMonitor(sealing(acme, SECOND), { id: monitor.id, http: samples.http })
    expect(same).toMatchObject({ state: 'UP', options: monitor.options })
    const other = { url: 'https://api.example.com/other' }
    const edited = await updateMonitor(sealing(acme, 2 * SECOND), { id: monitor.id, http: other })
    expect(edited).toMatchObject({ state: 'PENDING', stateSince: at(2 * SECOND), options: other })
    for (const watch of await watchesOf(monitor)) {
      expect(watch).toMatchObject({ state: 'PENDING', dueAt: at(2 * SECOND), recent: [], lastKnownAt: null })
    }
    expect(await intervalsOf(monitor)).toEqual([
      ['UP', noon, at(2 * SECOND)],
      ['PENDING', at(2 * SECOND), null],
    ])
  })

  test('keeps the kind, and keeps secrets that are null', async () => {
    const acme = await tenant()
    const headers = [{ name: 'X-Token', value: 'one' }]
    const { id } = await createMonitor(sealing(acme), { name: 'API', http: { ...samples.http, headers } })
    const kept = { url: 'https://api.example.com/new', headers: [{ name: 'x-token', value: null }] }
    const monitor = await updateMonitor(sealing(acme), { id, http: kept })
    expect(openOptions(seal, monitor).options).toMatchObject({ headers: [{ name: 'x-token', value: 'one' }] })
    await expect(updateMonitor(sealing(acme), { id, tcp: samples.tcp })).rejects.toThrow('tcp: must not be given')
    await expect(updateMonitor(sealing(acme), { id, ...samples, http: kept })).rejects.toThrow(Invalid)
  })

  test('of a heartbeat applies the new settings at once, even if they make it late', async () => {
    const acme = await tenant()
    const { id } = await createMonitor(sealing(acme), {
      name: 'Job',
      heartbeat: { graceSeconds: 60 },
      intervalSeconds: 600,
    })
    await updateMonitor(sealing(acme), { id, intervalSeconds: 300 })
    const where = { id: `${id}@*` }
    expect(await prisma.watch.findUnique({ where })).toMatchObject({ dueAt: null })
    await prisma.watch.update({ where, data: { dueAt: at(360 * SECOND), lastKnownAt: noon, state: 'UP' } })
    await updateMonitor(sealing(acme, MINUTE), { id, heartbeat: { graceSeconds: 120 } })
    expect(await prisma.watch.findUnique({ where })).toMatchObject({ dueAt: at(420 * SECOND), state: 'UP' })
    await updateMonitor(sealing(acme, 5 * MINUTE), { id, intervalSeconds: 120 })
    expect(await prisma.watch.findUnique({ where })).toMatchObject({ dueAt: at(5 * MINUTE) })
  })

  test('that moves a DOWN monitor detaches it from the incident of its old service', async () => {
    const acme = await tenant()
    const [api = '', site = ''] = await acme.services('API', 'Site')
    const monitor = await createMonitor(sealing(acme), { ...http, serviceId: api })
    await find(monitor, 'DOWN', acme)
    await updateMonitor(sealing(acme, MINUTE), { id: monitor.id, serviceId: site })
    expect((await acme.news()).slice(4)).toEqual([
      'INCIDENT_CREATED API is down',
      'MONITOR_UPDATED API',
      'INCIDENT_UPDATE_POSTED API is down',
      'SERVICE_STATUS_CHANGED API',
      'SERVICE_STATUS_CHANGED Site',
    ])
    expect(await prisma.incident.findFirst({ where: { organizationId: acme.id } })).toMatchObject({
      status: 'RESOLVED',
    })
    await updateMonitor(sealing(acme, MINUTE), { id: monitor.id, serviceId: null })
    expect((await acme.news()).slice(-2)).toEqual(['MONITOR_UPDATED API', 'SERVICE_STATUS_CHANGED Site'])
  })

  test('of the target of a DOWN monitor resolves its incident', async () => {
    const acme = await tenant()
    const [serviceId = ''] = await acme.services('API')
    const monitor = await createMonitor(sealing(acme), { ...http, serviceId })
    await find(monitor, 'DOWN', acme)
    await updateMonitor(sealing(acme, MINUTE), { id: monitor.id, http: { url: 'https://b.example/' } })
    expect((await acme.news()).slice(4)).toEqual([
      'MONITOR_UPDATED API',
      'INCIDENT_UPDATE_POSTED API is down',
      'SERVICE_STATUS_CHANGED API',
    ])
  })

  test('is refused with an old version, invalid input or an unknown monitor', async () => {
    const acme = await tenant()
    const { id } = await createMonitor(sealing(acme), http)
    const other = await tenant()
    await expect(updateMonitor(sealing(acme), { id, name: 'x', version: 2 })).rejects.toThrow(Conflict)
    for (const wrong of [{ name: null }, { intervalSeconds: 59 }, { timeoutMs: 1 }, { failureThreshold: null }]) {
      await expect(updateMonitor(sealing(acme), { id, ...wrong })).rejects.toThrow(Invalid)
    }
    const [foreign] = await other.services('Theirs')
    await expect(updateMonitor(sealing(acme), { id, serviceId: foreign })).rejects.toThrow(NotFound)
    await expect(updateMonitor({ ...acme.as('READ'), seal }, { id, name: 'x' })).rejects.toThrow(Forbidden)
    await expect(updateMonitor(sealing(other), { id, name: 'x' })).rejects.toThrow(NotFound)
    for (const none of noIds('mon')) {
      await expect(updateMonitor(sealing(acme), { id: none, name: 'x' })).rejects.toThrow(NotFound)
    }
    expect(await prisma.monitor.findUnique({ where: { id } })).toMatchObject({ name: 'API', version: 1 })
  })

  test('of other fields succeeds with an interval that the tier no longer allows', async () => {
    const acme = await tenant('TEAM')
    const { id } = await createMonitor(sealing(acme), { ...http, intervalSeconds: 10 })
    await prisma.organization.update({ where: { id: acme.id }, data: { tier: 'FREE' } })
    expect(await updateMonitor(sealing(acme), { id, name: 'Front', intervalSeconds: 10 })).toMatchObject({
      name: 'Front',
    })
    await expect(updateMonitor(sealing(acme), { id, intervalSeconds: 11 })).rejects.toThrow(
      'at least 60 on the tier FREE',
    )
  })
})

describe('a deletion', () => {
  test('deletes the history, returns the monitor, and resolves its incident', async () => {
    const acme = await tenant()
    const [serviceId = ''] = await acme.services('API')
    const monitor = await createMonitor(sealing(acme), { ...http, serviceId })
    await find(monitor, 'DOWN', acme)
    expect(await deleteMonitor(acme.later(MINUTE), monitor.id)).toMatchObject({ id: monitor.id, state: 'DOWN' })
    expect((await acme.news()).slice(4)).toEqual([
      'MONITOR_DELETED API',
      'INCIDENT_UPDATE_POSTED API is down',
      'SERVICE_STATUS_CHANGED API',
    ])
    const where: Prisma.MonitorIntervalWhereInput = { monitorId: monitor.id }
    expect([await watchesOf(monitor), await prisma.monitorInterval.count({ where })]).toEqual([[], 0])
    expect(await prisma.incident.findFirst({ where: { organizationId: acme.id } })).toMatchObject({
      status: 'RESOLVED',
    })
  })

  test.skipIf(serverUrl === undefined)(
    'waits for a result that is being stored, and does not block others',
    async () => {
      const acme = await tenant()
      const { id } = await createMonitor(sealing(acme), http)
      const resultWriter = await pool.connect()
      try {
        await resultWriter.query(`BEGIN; UPDATE "Watch" SET "lastMessage" = 'stored' WHERE "monitorId" = '${id}'`)
        const deleted = deleteMonitor(acme.ctx, id)
        const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
        await expect.poll(async () => (await pool.query(waiting)).rows[0].count, { interval: 20 }).toBe(1)
        await resultWriter.query('SET LOCAL lock_timeout = 100')
        await resultWriter.query(`INSERT INTO "MonitorGap" VALUES ('${id}', now(), now() + interval '1 s'); COMMIT`)
        expect(await deleted).toMatchObject({ id })
      } finally {
        resultWriter.release(true)
      }
    },
  )

  test('requires a key of its organization with scope WRITE', async () => {
    const acme = await tenant()
    const { id } = await createMonitor(sealing(acme), http)
    await expect(deleteMonitor(acme.as('READ'), id)).rejects.toThrow(Forbidden)
    await expect(deleteMonitor((await tenant()).ctx, id)).rejects.toThrow(NotFound)
    for (const none of noIds('mon')) await expect(deleteMonitor(acme.ctx, none)).rejects.toThrow(NotFound)
  })
})

describe('a heartbeat’s token', () => {
  test('can be replaced by a new token, which is not stored in plain text', async () => {
    const acme = await tenant()
    const before = await createMonitor(sealing(acme), { name: 'Job', heartbeat: {} })
    const rotated = await rotateHeartbeatToken(sealing(acme), before.id)
    const token = heartbeatToken(seal, rotated)
    expect(token).not.toBe(heartbeatToken(seal, before))
    expect(rotated.heartbeatHash).not.toBe(before.heartbeatHash)
    expect(JSON.stringify(rotated)).not.toContain(token)
    expect(rotated.version).toBe(2)
    expect(await acme.news()).toEqual(['MONITOR_CREATED Job', 'MONITOR_UPDATED Job'])
  })

  test('exists only for heartbeats, and rotating it requires a key of its organization with scope WRITE', async () => {
    const acme = await tenant()
    const { id } = await createMonitor(sealing(acme), http)
    expect(heartbeatToken(seal, await prisma.monitor.findUniqueOrThrow({ where: { id } }))).toBeNull()
    await expect(rotateHeartbeatToken(sealing(acme), id)).rejects.toThrow(Invalid)
    const job = await createMonitor(sealing(acme), { name: 'Job', heartbeat: {} })
    await expect(rotateHeartbeatToken({ ...acme.as('READ'), seal }, job.id)).rejects.toThrow(Forbidden)
    await expect(rotateHeartbeatToken(sealing(await tenant()), job.id)).rejects.toThrow(NotFound)
  })
})

test('the permission for private targets is read only for a private target', async () => {
  const acme = await tenant()
  const reads = async (work: () => Promise<unknown>) =>
    (await statementsOf(work)).filter((text) => text.includes('PrivateTargetPermission')).length
  const at = (url: string) => ({ http: { ...samples.http, url } })
  const created: Monitor[] = []
  const create = (url: string) => async () =>
    created.push(await createMonitor(sealing(acme), { name: url, ...at(url) }))
  expect(await reads(create('https://example.com/'))).toBe(0)
  const [{ id } = { id: '' }] = created
  const update = (url: string) => () => updateMonitor(sealing(acme), { id, ...at(url) })
  expect(await reads(update('https://www.example.com/'))).toBe(0)
  expect(await reads(() => updateMonitor(sealing(acme), { id, name: 'Other' }))).toBe(0)
  for (const refused of [create('http://192.168.0.7/'), update('http://192.168.0.7/')])
    expect(await reads(() => expect(refused()).rejects.toThrow(Invalid))).toBe(1)
})
