import { expect, test } from 'vitest'
import { createProvenDomains } from '../../../src/account/custom-domain/proven-domains.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const site = { baseUrl: 'https://allclear.example' }

/** A database that can become unavailable. */
function breakable() {
  const state = { isBroken: false }
  const db = new Proxy(prisma, {
    get(client, name) {
      if (state.isBroken && name === 'page') throw new Error('unavailable')
      return Reflect.get(client, name)
    },
  })
  return { db, state }
}

test('a domain is proven as soon as its event is known, and no longer once it is removed', async () => {
  const acme = await tenant()
  let now = noon
  const domains = createProvenDomains({ db: prisma, site, now: () => now })
  expect(domains.known('new.acme.example')).toBeNull()
  expect(await domains.isProven('new.acme.example')).toBe(false)
  expect(domains.known('new.acme.example')).toBe(false)

  await serveUnder(acme.ctx, acme.id, 'new.acme.example')
  domains.invalidate([{ kind: 'INCIDENT_CREATED' }])
  expect(domains.known('new.acme.example')).toBe(false)
  domains.invalidate([{ kind: 'PAGE_UPDATED' }])
  expect(domains.known('new.acme.example')).toBeNull()
  expect(await domains.isProven('new.acme.example')).toBe(true)
  expect(domains.known('new.acme.example')).toBe(true)

  await prisma.page.updateMany({ where: { customDomain: 'new.acme.example' }, data: { customDomain: null } })
  domains.invalidate()
  expect(await domains.isProven('new.acme.example')).toBe(false)

  // Without an event, after a while.
  await serveUnder(acme.ctx, acme.id, 'new.acme.example')
  expect(await domains.isProven('new.acme.example')).toBe(false)
  now = new Date(now.getTime() + 10_001)
  expect(await domains.isProven('new.acme.example')).toBe(true)
})

test('an event during a lookup makes its answer stale', async () => {
  const domains = createProvenDomains({ db: prisma, site, now: () => noon })
  const looking = domains.isProven('soon.acme.example')
  domains.invalidate()
  expect(await looking).toBe(false)
  expect(domains.known('soon.acme.example')).toBeNull()
})

test('while the database is unavailable, proven domains stay proven and others are unknown', async () => {
  const acme = await tenant()
  await serveUnder(acme.ctx, acme.id, 'steady.acme.example')
  const { db, state } = breakable()
  const domains = createProvenDomains({ db, site, now: () => noon })
  expect(await domains.isProven('steady.acme.example')).toBe(true)
  domains.invalidate()
  state.isBroken = true
  expect(await domains.isProven('steady.acme.example')).toBe(true)
  await expect(domains.isProven('other.acme.example')).rejects.toThrow('unavailable')
  state.isBroken = false
  expect(await domains.isProven('other.acme.example')).toBe(false)
})

test.each([
  '',
  'allclear.example',
  'a.allclear.example',
  'localhost',
  '127.0.0.1',
  'a b',
  '\0',
  `${'a.'.repeat(200)}example`,
])('%j cannot be a custom domain, and is not looked up', async (name) => {
  const { db, state } = breakable()
  state.isBroken = true
  expect(await createProvenDomains({ db, site, now: () => noon }).isProven(name)).toBe(false)
})
