// @slow
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { SECOND } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { watchId } from '../../src/monitoring/monitor/watches.ts'
import { LEASE_MS } from '../../src/monitoring/schedule/scheduler.ts'
import { nextSlot } from '../../src/monitoring/watch/next-due.ts'
import { tenantsOf } from '../status/setup.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { rcodes, startDnsServer } from '../support/dns-server.ts'
import { startService } from '../support/process.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const monitors = 300
const interval = 10
const secret = 'the key of two workers and their tests'

/** The extra time that a busy machine may need, in addition to a lease and an interval. */
const slack = 10 * SECOND

test.skipIf(serverUrl === undefined)(
  'after a worker is killed under load, no monitor is unprobed for longer than its lease, and no incident is duplicated',
  async () => {
    const own = await serverDatabase(serverUrl ?? '', inject('databaseTemplate'))
    const database = await openDatabase({ dataDir: '', databaseUrl: own.url, log: silent })
    const { prisma } = database
    const acme = await tenantsOf(prisma)('TEAM')
    const services = await acme.services(...Array.from({ length: 10 }, (_, index) => `Service ${index}`))

    // Every response is slow, so that the worker is killed during many probes. Every tenth monitor fails once `failing`
    // is set.
    let failing = false
    const server = createServer((request, response) => {
      const status = failing && request.url === '/fails' ? 500 : 200
      setTimeout(() => response.writeHead(status).end('ok'), 500)
    }).listen(0, '127.0.0.1')
    const { port } = await new Promise<AddressInfo>((resolve) =>
      server.on('listening', () => resolve(server.address() as AddressInfo)),
    )

    const start = new Date()
    const rows = Array.from({ length: monitors }, (_, index) => ({
      id: newId('Monitor'),
      organizationId: acme.id,
      serviceId: index < 100 ? (services[index % 10] ?? null) : null,
      name: `Monitor ${index}`,
      kind: 'HTTP' as const,
      options: { url: `http://127.0.0.1:${port}/${index % 10 === 0 ? 'fails' : ''}`, headers: [] },
      intervalSeconds: interval,
      timeoutMs: 5000,
      failureThreshold: 2,
      recoveryThreshold: 1,
      stateSince: start,
      createdAt: start,
    }))
    await prisma.monitor.createMany({ data: rows })
    await prisma.watch.createMany({
      data: rows.map(({ id }) => {
        const watch = watchId(id, 'local')
        return { id: watch, monitorId: id, region: 'local', dueAt: nextSlot(watch, interval, start), stateSince: start }
      }),
    })

    const disk = await temporaryDirectory()
    const dns = await startDnsServer(() => ({ rcode: rcodes.nxdomain }))
    const settings = {
      DATABASE_URL: own.url,
      DATA_DIR: disk.path,
      SECRET_KEY: secret,
      ROLE: 'worker',
      ALLOW_PRIVATE_NETWORKS: 'true',
      LOG_LEVEL: 'info',
    }
    const workers = [startService(dns, settings), startService(dns, settings)]
    await Promise.all(workers.map((worker) => worker.ready()))
    const checked = (since: Date) =>
      prisma.probeResult.findMany({
        where: { at: { gte: since } },
        distinct: ['monitorId'],
        select: { monitorId: true },
      })
    const until = async (reached: () => Promise<boolean>, seconds: number) => {
      const end = Date.now() + seconds * SECOND
      while (!(await reached()) && Date.now() < end) await sleep(250)
    }
    await until(async () => (await checked(start)).length === monitors, 30)
    expect(await checked(start)).toHaveLength(monitors)

    failing = true
    await sleep(2 * SECOND)
    const killed = new Date()
    workers[0]?.signal('SIGKILL')
    await workers[0]?.ended
    await until(async () => (await checked(killed)).length === monitors, (LEASE_MS + slack) / SECOND + interval)
    const down = () => prisma.monitor.count({ where: { state: 'DOWN' } })
    await until(async () => (await down()) === monitors / 10, 30)

    const results = await prisma.probeResult.findMany({ orderBy: { at: 'asc' }, select: { monitorId: true, at: true } })
    const last = new Map<string, number>()
    let longest = 0
    for (const { monitorId, at } of results) {
      longest = Math.max(longest, at.getTime() - (last.get(monitorId) ?? start.getTime()))
      last.set(monitorId, at.getTime())
    }
    expect(last.size).toBe(monitors)
    expect(longest).toBeLessThanOrEqual(LEASE_MS + interval * SECOND + slack)
    expect(await down()).toBe(monitors / 10)

    // All failing monitors with a service have the first service: it has one incident, which each has joined once.
    const incidents = await prisma.incident.findMany({ include: { monitors: true, updates: true, services: true } })
    expect(incidents).toMatchObject([{ status: 'INVESTIGATING', services: [{ serviceId: services[0] }] }])
    expect(incidents[0]?.monitors).toHaveLength(10)
    expect(incidents[0]?.updates).toHaveLength(10)
    const changes = await prisma.event.groupBy({
      by: ['subjectId'],
      where: { kind: 'MONITOR_STATE_CHANGED' },
      _count: true,
    })
    expect(changes.filter(({ _count }) => _count > 2)).toEqual([])
    const open = await prisma.monitorInterval.groupBy({ by: ['monitorId'], where: { endedAt: null }, _count: true })
    expect(open.filter(({ _count }) => _count !== 1)).toEqual([])

    workers[1]?.signal('SIGTERM')
    await workers[1]?.ended
    await dns.close()
    server.close()
    await database.close()
    await own.remove()
    await disk.remove()
  },
)
