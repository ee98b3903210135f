// @slow
import { Hono } from 'hono'
import { beforeEach, describe, expect, test } from 'vitest'
import { challengeOf, removeDomain, requestDomain } from '../../../src/account/custom-domain/custom-domain.ts'
import { checkDueDomains } from '../../../src/account/custom-domain/custom-domain-check.ts'
import { pageOnHost } from '../../../src/account/custom-domain/hosted-page.ts'
import { challengeRoutes } from '../../../src/account/http/challenge.ts'
import { pageLookupOf } from '../../../src/account/page/page-guard.ts'
import { Invalid } from '../../../src/core/errors.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { DnsResult } from '../../../src/network/dns/client.ts'
import type { Answer, Failure, OutboundRequest } from '../../../src/network/outbound/outbound.ts'
import type { Tenant } from '../../status/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const BASE_URL = 'https://allclear.example'
const site = { baseUrl: BASE_URL }
let time = noon.getTime()
const now = () => new Date(time)
const system = testContext(prisma, { now, settings: { BASE_URL } })
const newTenant = tenantsOf(prisma)

/** The contents of fake DNS and web servers. */
const records = new Map<string, DnsResult>()
const files = new Map<string, { readonly content: string; readonly url?: string; readonly status?: number }>()
const none: DnsResult = { kind: 'none', nxdomain: true, ttl: 0 }
const failure = { kind: 'failed', reason: 'refused', fault: 'theirs', message: 'Refused' } as unknown as Failure
const tools = {
  dns: { query: async (name: string) => records.get(name) ?? none },
  outbound: {
    async request({ url }: OutboundRequest) {
      const file = files.get(url)
      if (!file) return failure
      const { content, status = 200, url: last = url } = file
      return { kind: 'answer', status, url: last, body: Buffer.from(content) } as unknown as Answer
    },
  },
}
const check = () => checkDueDomains(system, tools)

let count = 0
const newName = () => `status.acme-${++count}.example`
const as = ({ ctx }: Tenant) => ({ ...ctx, config: system.config, now })
const requested = (tenant: Tenant, domain: string) => requestDomain(as(tenant), { pageId: tenant.id, domain })
const rowOf = ({ id }: Tenant) => prisma.customDomain.findFirstOrThrow({ where: { organizationId: id } })
const lookup = pageLookupOf({ db: prisma })
const ownerOf = async (host: string) => (await pageOnHost(lookup, site, host))?.page.organizationId ?? null
function putRecord(domain: { name: string; token: string }): void {
  const { record } = challengeOf(domain)
  records.set(record.name, { kind: 'answer', values: ['v=spf1 -all', record.value], ttl: 1 })
}
function putFile(domain: { name: string; token: string }, more: object = {}): void {
  const { file } = challengeOf(domain)
  files.set(file.url, { content: `${file.content}\n`, ...more })
}
/** A tenant whose domain is verified. */
async function proven(put: typeof putRecord = putRecord, name = newName()) {
  const tenant = await newTenant()
  put(await requested(tenant, name))
  await check()
  return { tenant, name }
}

beforeEach(() => {
  records.clear()
  files.clear()
  time += DAY
})

describe('a domain is served', () => {
  test('once its record is found', async () => {
    const [tenant, name] = [await newTenant(), newName()]
    const domain = await requested(tenant, name)
    await check()
    expect(await ownerOf(name)).toBe(null)
    expect(await rowOf(tenant)).toMatchObject({ state: 'PENDING', checkedAt: now() })
    putRecord(domain)
    time += MINUTE
    await check()
    expect(await ownerOf(name)).toBe(tenant.id)
    expect(await rowOf(tenant)).toMatchObject({ state: 'PROVEN', provenBy: 'TXT' })
    // The request, and the verification.
    expect(await tenant.news()).toEqual(['PAGE_UPDATED Acme', 'PAGE_UPDATED Acme'])
  })

  test('once its web server has the file, but not if it redirects elsewhere or echoes the path', async () => {
    const [tenant, name] = [await newTenant(), newName()]
    const domain = await requested(tenant, name)
    const { file } = challengeOf(domain)
    for (const wrong of [
      { content: domain.token },
      { content: file.content, url: 'https://evil.example/x' },
      { content: file.content, status: 404 },
      { content: `<html>${file.content}</html>` },
    ]) {
      files.set(file.url, wrong)
      time += HOUR
      await check()
      expect(await ownerOf(name)).toBe(null)
    }
    putFile(domain, { url: file.url.replace('http:', 'https:') })
    time += HOUR
    await check()
    expect(await ownerOf(name)).toBe(tenant.id)
  })

  test('for three days after the last proof', async () => {
    const { tenant, name } = await proven()
    records.clear()
    for (let hours = 0; hours < 78; hours += 6) {
      expect(await ownerOf(name), `after ${hours} h`).toBe(tenant.id)
      time += 6 * HOUR
      await check()
    }
    expect(await ownerOf(name)).toBe(null)
    expect(await rowOf(tenant)).toMatchObject({ state: 'LOST' })
    putRecord(await rowOf(tenant))
    await requested(tenant, name)
    await check()
    expect(await ownerOf(name)).toBe(tenant.id)
  })

  test('while DNS is unavailable', async () => {
    const { tenant, name } = await proven()
    records.set(challengeOf(await rowOf(tenant)).record.name, { kind: 'failed', reason: 'timeout' })
    for (let days = 0; days < 10; days += 1) {
      time += DAY
      await check()
    }
    expect(await ownerOf(name)).toBe(tenant.id)
  })

  test('no longer after its owner removes or changes it', async () => {
    const { tenant, name } = await proven()
    await requested(tenant, newName())
    expect(await ownerOf(name)).toBe(null)
    expect(await tenant.news()).toEqual(Array(3).fill('PAGE_UPDATED Acme'))
    const other = await proven()
    await removeDomain(as(other.tenant), { pageId: other.tenant.id })
    expect(await ownerOf(other.name)).toBe(null)
  })
})

describe('one domain', () => {
  test('that another organization has proven is not taken over until it is lost', async () => {
    const { tenant, name } = await proven()
    const second = await newTenant()
    const [first, later] = [await rowOf(tenant), await requested(second, name)]
    const value = (domain: typeof first) => challengeOf(domain).record.value
    const { record } = challengeOf(first)
    records.set(record.name, { kind: 'answer', values: [value(first), value(later)], ttl: 1 })
    await check()
    expect(await ownerOf(name)).toBe(tenant.id)
    putRecord(later)
    for (let hours = 0; hours < 90; hours += 6) {
      time += 6 * HOUR
      await check()
    }
    expect(await ownerOf(name)).toBe(second.id)
  })

  test('passes from a file proof to a DNS proof', async () => {
    const { tenant, name } = await proven(putFile)
    const second = await newTenant()
    putRecord(await requested(second, name))
    await check()
    expect(await ownerOf(name)).toBe(second.id)
    expect(await rowOf(tenant)).toMatchObject({ state: 'LOST' })
  })

  test('that two organizations prove concurrently goes to one of them', async () => {
    const name = newName()
    const tenants = [await newTenant(), await newTenant(), await newTenant()]
    const values: string[] = []
    for (const tenant of tenants) values.push(challengeOf(await requested(tenant, name)).record.value)
    records.set(`_allclear-challenge.${name}`, { kind: 'answer', values, ttl: 1 })
    await Promise.all([check(), check()])
    const rows = await prisma.customDomain.findMany({ where: { name } })
    expect(rows.map(({ state }) => state).sort()).toEqual(['PENDING', 'PENDING', 'PROVEN'])
  })
})

describe('a domain cannot be requested', () => {
  test.each([
    ['allclear.example', BASE_URL, 'must not belong to the domain of this service'],
    ['www.allclear.example', BASE_URL, 'must not belong to the domain of this service'],
    ['status.acme.example', '', 'has not set BASE_URL'],
    ['localhost', BASE_URL, 'must be a host name'],
  ])('%s at %s', async (domain, baseUrl, message) => {
    const tenant = await newTenant()
    const ctx = { ...as(tenant), config: testContext(prisma, { settings: { BASE_URL: baseUrl } }).config }
    await expect(requestDomain(ctx, { pageId: tenant.id, domain })).rejects.toThrow(message)
  })

  test.each([
    'status.acme.example:8080',
    'https://status.acme.example',
    'status.acme.example/',
    'status.acme.example.',
    '192.0.2.1',
    '[2001:db8::1]',
    '-a.example',
    'a_b.example',
    'статус.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
    '',
  ])('%j, which is no host name', async (domain) => {
    const tenant = await newTenant()
    await expect(requestDomain(as(tenant), { pageId: tenant.id, domain })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: ['domain'] }],
    })
  })

  test('for another organization’s page, or with a WRITE key', async () => {
    const [tenant, other] = [await newTenant(), await newTenant()]
    const input = { pageId: other.id, domain: newName() }
    await expect(requestDomain(as(tenant), input)).rejects.toThrow('Page not found')
    const { pageId } = await prisma.organization.findUniqueOrThrow({ where: { id: other.id } })
    await expect(requestDomain(as(tenant), { ...input, pageId })).rejects.toThrow('Page not found')
    expect(await requestDomain(as(other), { ...input, pageId })).toMatchObject({ organizationId: other.id })
    await prisma.customDomain.deleteMany({ where: { organizationId: other.id } })
    const weak = { ...as(tenant), actor: tenant.as('WRITE').actor }
    await expect(requestDomain(weak, { ...input, pageId: tenant.id })).rejects.toThrow('scope ADMIN')
  })
})

test('a proven domain is not served if it is the service’s own domain, or if BASE_URL is not set', async () => {
  const { tenant, name } = await proven()
  for (const baseUrl of [`https://${name}`, `https://x.${name}`, 'http://localhost:4000']) {
    expect(await pageOnHost(lookup, { baseUrl }, name), baseUrl).toBe(null)
  }
  time += DAY
  await checkDueDomains(testContext(prisma, { now }), tools)
  expect(await rowOf(tenant)).toMatchObject({ state: 'LOST' })
})

test('this server does not prove names that only point to it, and serves proven ones', async () => {
  const app = new Hono().route('/', challengeRoutes({ db: prisma }))
  const fetched = (host: string, token: string) =>
    app.request(`/.well-known/allclear-challenge/${token}`, { headers: { host } })
  const tenant = await newTenant()
  const dangling = await requested(tenant, newName())
  expect((await fetched(dangling.name, dangling.token)).status).toBe(404)
  const { tenant: owner, name } = await proven(putFile)
  const domain = await rowOf(owner)
  const answer = await fetched(`${name}:80`, domain.token)
  expect(await answer.text()).toBe(challengeOf(domain).file.content)
  expect((await fetched(name, dangling.token)).status).toBe(404)
  expect((await fetched('other.example', domain.token)).status).toBe(404)
})
