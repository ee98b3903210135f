// @slow
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, inject, test, vi } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { openDatabase } from '../../src/database/client.ts'
import { watchId } from '../../src/monitoring/monitor/watches.ts'
import { tenantsOf } from '../status/setup.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { rcodes, startDnsServer } from '../support/dns-server.ts'
import { startService } from '../support/process.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const waiting = { interval: 100 }

test.skipIf(serverUrl === undefined)(
  'after the only worker is killed, the web process reports missing data everywhere until another worker probes',
  async () => {
    const own = await serverDatabase(serverUrl ?? '', inject('databaseTemplate'))
    const database = await openDatabase({ dataDir: '', databaseUrl: own.url, log: silent })
    const { prisma } = database
    const acme = await tenantsOf(prisma)('TEAM')
    const [serviceId = ''] = await acme.services('Shop')
    const { slug } = await prisma.organization.findUniqueOrThrow({ where: { id: acme.id } })
    const target = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1')
    const { port } = await new Promise<AddressInfo>((resolve) =>
      target.on('listening', () => resolve(target.address() as AddressInfo)),
    )
    const start = new Date()
    const id = newId('Monitor')
    await prisma.monitor.create({
      data: {
        ...{ id, organizationId: acme.id, serviceId, name: 'Shop', kind: 'HTTP', intervalSeconds: 10, timeoutMs: 5000 },
        ...{ options: { url: `http://127.0.0.1:${port}/`, headers: [] }, failureThreshold: 2, recoveryThreshold: 1 },
        ...{ stateSince: start, createdAt: start },
        watches: { create: { id: watchId(id, 'local'), region: 'local', dueAt: start, stateSince: start } },
        intervals: { create: { startedAt: start, state: 'PENDING' } },
      },
    })

    const disk = await temporaryDirectory()
    const dns = await startDnsServer(() => ({ rcode: rcodes.nxdomain }))
    const settings = {
      DATABASE_URL: own.url,
      DATA_DIR: disk.path,
      SECRET_KEY: 'the key of a worker that dies, and its tests',
      ALLOW_PRIVATE_NETWORKS: 'true',
      LOG_LEVEL: 'info',
    }
    const web = startService(dns, { ...settings, ROLE: 'web' })
    const address = await web.ready()
    const worker = startService(dns, { ...settings, ROLE: 'worker' })
    const text = async (path: string) => (await fetch(`${address}/status/${slug}${path}`)).text()
    const asked = async () => {
      const query = `{ statusPage(slug: "${slug}") { status { indicator unknownSince } services { status unknownSince } } }`
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${address}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
      return ((await answer.json()) as { data: { statusPage: unknown } }).data.statusPage
    }
    const isUp = async () => expect(await prisma.monitor.findUnique({ where: { id } })).toMatchObject({ state: 'UP' })
    await vi.waitFor(isUp, waiting)
    expect(await text('')).toContain('All services are operational')

    worker.signal('SIGKILL')
    await worker.ended
    // Ten minutes pass.
    const passed = `- interval '10 minutes'`
    await prisma.$executeRawUnsafe(
      `UPDATE "Watch" SET "lastKnownAt" = "lastKnownAt" ${passed}, "dueAt" = "dueAt" ${passed}`,
    )
    await prisma.$executeRawUnsafe(`UPDATE "Region" SET "lastSeenAt" = "lastSeenAt" ${passed}`)
    await vi.waitFor(async () => expect(await text('/badge.svg')).toContain('No data'), waiting)
    const since = (await prisma.monitor.findUniqueOrThrow({ where: { id } })).unknownSince?.toISOString()
    expect(since).toBeDefined()
    const page = await text('')
    expect(page).toMatch(/<h1>No monitoring data since \d/)
    // The page contains all icons that it can show.
    expect(page.replace(/<svg id="icons".*?<\/svg>/s, '')).not.toMatch(/operational/i)
    expect(await text(`/services/${serviceId}/badge.svg`)).toContain('No data')
    const summary = JSON.parse(await text('/api/v2/summary.json'))
    const said = `No monitoring data since ${since?.slice(0, 16).replace('T', ' ')} UTC`
    expect(summary.status).toEqual({ indicator: 'minor', description: said })
    expect(summary.components).toMatchObject([{ name: 'Shop', status: 'degraded_performance' }])
    expect(JSON.stringify(summary)).not.toMatch(/operational/i)
    expect(await asked()).toEqual({
      status: { indicator: 'MINOR', unknownSince: since },
      services: [{ status: 'DEGRADED_PERFORMANCE', unknownSince: since }],
    })
    await web.wrote('monitors became stale')
    expect((await acme.events()).map(({ kind }) => kind).slice(-2)).toEqual(['MONITOR_UNKNOWN', 'SERVICE_UNKNOWN'])

    const next = startService(dns, { ...settings, ROLE: 'worker' })
    await vi.waitFor(async () => expect(await text('')).toContain('All services are operational'), waiting)
    expect(await text('/badge.svg')).toContain('All systems operational')
    expect((await acme.events()).map(({ kind }) => kind).slice(-2)).toEqual(['MONITOR_KNOWN', 'SERVICE_KNOWN'])

    for (const each of [web, next]) each.signal('SIGTERM')
    await Promise.all([web.ended, next.ended])
    target.close()
    await dns.close()
    await database.close()
    await own.remove()
    await disk.remove()
  },
)
