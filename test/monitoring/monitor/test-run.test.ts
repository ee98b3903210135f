import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Forbidden, Invalid, NotFound, Unavailable } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { MonitoringContext } from '../../../src/monitoring/context.ts'
import { createMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { PROBE_LIMITS, portsPerDay } from '../../../src/monitoring/monitor/target.ts'
import { testMonitor, testOptions } from '../../../src/monitoring/monitor/test-run.ts'
import type { ProbeTools } from '../../../src/monitoring/probe/probe.ts'
import { createDestinationLimiter } from '../../../src/network/destination-limiter.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { noIds, type Tenant, tenantsOf, together } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { samples, seal } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const server = createServer((socket) => void socket.on('error', () => {}).end('ready\r\n'))
let port = 0
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        port = typeof address === 'object' && address ? address.port : 0
        resolve()
      })
    }),
)
afterAll(() => void server.close())

/** Creates the context of a separate process. Its targets are addresses, so they need no DNS. */
function inProcess(): (acme: Tenant, milliseconds?: number) => MonitoringContext {
  const unused = {} as Pick<ProbeTools, 'dns' | 'checker' | 'rdap'>
  const outbound = createOutbound({ dns: unused.dns, allowPrivate: true })
  const limiter = createDestinationLimiter(PROBE_LIMITS)
  const tools: ProbeTools = { ...unused, outbound, limiter, allowPrivate: true, now: () => noon, log: silent }
  return (acme, milliseconds = 0) => {
    const ctx = acme.later(milliseconds)
    return { ...ctx, config: { ...ctx.config, ALLOW_PRIVATE_NETWORKS: true }, seal, tools }
  }
}

const make = async (ctx: MonitoringContext, given: object = {}) =>
  (await createMonitor(ctx, { name: 'Mail', tcp: { host: '127.0.0.1', port, expect: 'ready' }, ...given })).id

test('a test run probes at once and stores nothing', async () => {
  const acme = await tenant()
  const ctx = inProcess()(acme)
  const id = await make(ctx)
  const before = [await prisma.monitor.findMany(), await prisma.watch.findMany(), await acme.events()]
  expect(await testMonitor(ctx, id)).toMatchObject({ at: noon, outcome: 'UP' })
  expect([await prisma.monitor.findMany(), await prisma.watch.findMany(), await acme.events()]).toEqual(before)
  expect(await prisma.probeResult.count()).toBe(0)
})

test('a paused monitor can be tested, and the result explains the problem', async () => {
  const ctx = inProcess()(await tenant())
  const id = await make(ctx, { tcp: { host: '127.0.0.1', port, expect: 'done' } })
  await pauseMonitor(ctx, id)
  expect(await testMonitor(ctx, id)).toMatchObject({ outcome: 'DOWN', message: expect.stringContaining('done') })
})

test('a heartbeat cannot be tested', async () => {
  const ctx = inProcess()(await tenant())
  const id = await make(ctx, { tcp: null, heartbeat: samples.heartbeat })
  await expect(testMonitor(ctx, id)).rejects.toThrow(Invalid)
})

test('an organization can run five tests at once and thirty per minute, regardless of other organizations', async () => {
  const of = inProcess()
  const [acme, other] = [await tenant(), await tenant()]
  const id = await make(of(acme))
  const { done, refused } = await together(Array.from({ length: 8 }, () => testMonitor(of(acme), id)))
  expect(done).toHaveLength(5)
  for (const error of refused) expect(error).toBeInstanceOf(Unavailable)
  for (let count = 5; count < 30; count += 1) await testMonitor(of(acme, count), id)
  await expect(testMonitor(of(acme), id)).rejects.toThrow('30 per minute')
  expect(await testMonitor(of(other), await make(of(other)))).toMatchObject({ outcome: 'UP' })
  expect(await testMonitor(of(acme, MINUTE), id)).toMatchObject({ outcome: 'UP' })
})

test('a test run requires a key with scope WRITE, and a monitor of its organization', async () => {
  const of = inProcess()
  const acme = await tenant()
  const id = await make(of(acme))
  await expect(testMonitor({ ...of(acme), actor: acme.as('READ').actor }, id)).rejects.toThrow(Forbidden)
  await expect(testMonitor(of(await tenant()), id)).rejects.toThrow(NotFound)
  for (const none of noIds('mon')) await expect(testMonitor(of(acme), none)).rejects.toThrow(NotFound)
})

describe('options that are not saved', () => {
  const tcp = (more: object = {}) => ({ tcp: { host: '127.0.0.1', port, expect: 'ready', ...more } })

  test('can be tested at once, and nothing is stored', async () => {
    const ctx = inProcess()(await tenant())
    const before = await prisma.monitor.count()
    expect(await testOptions(ctx, tcp())).toMatchObject({ at: noon, outcome: 'UP' })
    expect(await testOptions(ctx, tcp({ expect: 'done' }))).toMatchObject({ outcome: 'DOWN' })
    expect(await prisma.monitor.count()).toBe(before)
  })

  test('use the stored secrets of the monitor that they change, but only for the same target', async () => {
    const ctx = inProcess()(await tenant())
    const id = await make(ctx, { tcp: { host: '127.0.0.1', port, send: 'HELO', expect: 'ready' } })
    expect(await testOptions(ctx, { id, ...tcp({ send: null }) })).toMatchObject({ outcome: 'UP' })
    const elsewhere = { id, ...tcp({ send: null, port: port === 4 ? 5 : 4 }) }
    await expect(testOptions(ctx, elsewhere)).rejects.toThrow('tcp.send: must be sent again')
  })

  test('count towards the limit of ports like monitors, once per port, so that they cannot scan ports', async () => {
    const acme = await tenant()
    const ctx = inProcess()(acme)
    // Without DNS, nothing is sent, and the result is unknown.
    const elsewhere = (each: number) => tcp({ host: 'mail.example.com', port: each })
    for (const each of [4, 5, 4]) await testOptions(ctx, elsewhere(each))
    const subject = `ports ${acme.id}`
    const { count } = await prisma.usageCounter.findFirstOrThrow({ where: { subject } })
    expect(count).toBe(2)
    const limit = portsPerDay[(await prisma.organization.findUniqueOrThrow({ where: { id: acme.id } })).tier].inAll
    await prisma.usageCounter.updateMany({ where: { subject }, data: { count: limit } })
    await expect(testOptions(ctx, elsewhere(6))).rejects.toThrow(`${limit} new ports`)
  })

  test('are refused like the options of a new monitor', async () => {
    const acme = await tenant()
    const ctx = inProcess()(acme)
    await expect(testOptions(ctx, tcp({ port: 0 }))).rejects.toThrow('tcp.port')
    await expect(testOptions(ctx, { heartbeat: samples.heartbeat })).rejects.toThrow(Invalid)
    await expect(testOptions({ ...ctx, actor: acme.as('READ').actor }, tcp())).rejects.toThrow(Forbidden)
    const id = await make(ctx)
    await expect(testOptions(inProcess()(await tenant()), { id, ...tcp() })).rejects.toThrow(NotFound)
    for (let count = 0; count < 30; count += 1) await testOptions(ctx, tcp())
    await expect(testOptions(ctx, tcp())).rejects.toThrow('30 per minute')
  })
})
