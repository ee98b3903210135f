// @slow
import { describe, expect, test, vi } from 'vitest'
import { DAY, nextUtcDay } from '../../../src/core/time.ts'
import { createMonitor, deleteMonitor, updateMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import type { Configuration } from '../../../src/monitoring/monitor/options.ts'
import { kindRules } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { runProbe } from '../../../src/monitoring/monitor/run-probe.ts'
import { partyOf, portsPerDay, targetOf } from '../../../src/monitoring/monitor/target.ts'
import { ping } from '../../../src/monitoring/probe/ping.ts'
import { createDestinationLimiter } from '../../../src/network/destination-limiter.ts'
import type { Tenant } from '../../status/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { runWith, startTools } from '../probe/run.ts'
import { seal } from '../setup.ts'

const { prisma } = await testDatabase()
const newTenant = tenantsOf(prisma)
const ctxOf = (tenant: Tenant, milliseconds = 0) => ({ ...tenant.later(milliseconds), seal })
const make = (tenant: Tenant, given: object, milliseconds = 0) =>
  createMonitor(ctxOf(tenant, milliseconds), { name: 'Mail', ...given })
const tcp = (port: number, host = 'mail.acme.com') => ({ tcp: { host, port } })

describe('the target of a monitor', () => {
  test.each<[kind: 'HTTP' | 'TCP' | 'PING' | 'DNS', options: object, target: object, party: string | null]>([
    ['HTTP', { url: 'https://www.acme.com/a' }, { host: 'www.acme.com', port: 443 }, 'acme.com'],
    ['HTTP', { url: 'http://www.acme.com:8080/' }, { host: 'www.acme.com', port: 8080 }, 'acme.com'],
    ['TCP', { host: '8.8.8.8', port: 53 }, { host: '8.8.8.8', port: 53 }, '8.8.8.8'],
    ['PING', { host: '10.0.0.1' }, { host: '10.0.0.1', port: null }, null],
    ['DNS', { name: 'www.acme.com' }, { host: 'www.acme.com', port: null }, 'acme.com'],
    ['DNS', { name: 'www.acme.com', resolver: '8.8.8.8:5353' }, { host: '8.8.8.8', port: null }, '8.8.8.8'],
  ])('%s %j', (kind, options, target, party) => {
    const configuration = { kind, options: kindRules[kind].options.parse(options) } as Configuration
    expect(targetOf(configuration)).toEqual(target)
    expect(partyOf(configuration)).toBe(party)
  })
})

describe('a port scan', () => {
  const { perHost } = portsPerDay.PRO
  const { inAll } = portsPerDay.FREE

  test('is refused above the daily limit, even if monitors are updated or deleted in between', async () => {
    const tenant = await newTenant('PRO')
    const { id } = await make(tenant, tcp(1000))
    for (let port = 1001; port < 1000 + perHost - 1; port += 1) {
      await updateMonitor(ctxOf(tenant), { id, ...tcp(port) })
    }
    await deleteMonitor(ctxOf(tenant), id)
    await make(tenant, tcp(5000))
    const refusal = { code: 'RATE_LIMITED', retryAt: nextUtcDay(noon) }
    await expect(make(tenant, tcp(5001))).rejects.toMatchObject(refusal)
    await expect(make(tenant, { http: { url: 'http://mail.acme.com:5001/' } })).rejects.toMatchObject(refusal)
    await make(tenant, tcp(1000))
    await make(tenant, tcp(5001, 'other.acme.com'))
    await make(tenant, tcp(5001), DAY)
    await make(await newTenant('PRO'), tcp(5001))
  })

  test('is refused even if it uses many names of one host', async () => {
    const tenant = await newTenant('FREE')
    const { id } = await make(tenant, tcp(1, 'name0.acme.com'))
    for (let each = 1; each < inAll; each += 1) {
      await updateMonitor(ctxOf(tenant), { id, ...tcp(each, `name${each}.acme.com`) })
    }
    await expect(updateMonitor(ctxOf(tenant), { id, ...tcp(1, 'more.acme.com') })).rejects.toThrow(
      '20 new ports per UTC day',
    )
  })
})

test('the monitors of an organization can probe a third party up to the limit per minute', async () => {
  const tenant = await newTenant('TEAM')
  await prisma.monitor.createMany({
    data: Array.from({ length: 99 }, (_, each) => ({
      id: `mon_${String(each).padStart(24, '0')}`,
      organizationId: tenant.id,
      name: 'Many',
      kind: 'HTTP' as const,
      options: { url: `https://${each}.acme.com/` },
      intervalSeconds: 10,
      timeoutMs: 5000,
      failureThreshold: 2,
      recoveryThreshold: 1,
      stateSince: noon,
      createdAt: noon,
    })),
  })
  const often = (url: string) => make(tenant, { http: { url }, intervalSeconds: 10 })
  const { id } = await often('https://last.acme.com/')
  await expect(often('https://more.acme.com/')).rejects.toThrow('more than 600 times a minute')
  await expect(updateMonitor(ctxOf(tenant), { id, http: { url: 'http://x.acme.com/' } })).resolves.toBeDefined()
  await often('https://elsewhere.com/')
})

test('a probe that is not admitted is UNKNOWN, and a probe that is admitted late has its full timeout', async () => {
  const { tools } = await startTools()
  const limiter = createDestinationLimiter({ atOnce: 1 })
  const run = vi.spyOn(ping, 'run').mockImplementation(async (_options, { timeoutMs }) => ({
    outcome: 'UP',
    message: `had ${timeoutMs}`,
    latencyMs: null,
    detail: null,
    suspect: null,
  }))
  const options = ping.options.parse({ host: 'www.acme.com' })
  const probe = (signal = new AbortController().signal) =>
    runProbe('PING', options, runWith({ ...tools, limiter }, { signal }))
  const end = limiter.tryAcquire('acme.com')
  const stopped = await probe(AbortSignal.abort())
  expect(stopped).toMatchObject({ outcome: 'UNKNOWN', message: expect.stringContaining('acme.com'), suspect: null })
  const waiting = probe()
  expect(run).not.toHaveBeenCalled()
  end?.()
  expect(await waiting).toMatchObject({ outcome: 'UP', message: 'had 5000' })
  run.mockRestore()
})
