import type { Context } from 'hono'
import { expect, test } from 'vitest'
import { createPageGuard } from '../../src/account/page/page-guard.ts'
import { findPageLocation } from '../../src/app/page-location.ts'
import { hostNameOf } from '../../src/http/request/host-header.ts'
import { pageAddressOfHost } from '../../src/status-page/page-address.ts'
import { seal } from '../monitoring/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { serveUnder } from '../support/own-domain.ts'

const { prisma: db } = await testDatabase()
const { now, log } = testContext(db)
const guard = createPageGuard({ db, now, log, seal, hold: () => () => {} })
const tenant = tenantsOf(db)

const domain = 'status.acme.org'
/** Names that no page may have, but that a database from before the rule could contain. */
const unfit = ['status_page.acme.org', 'app.allclear.example.com', '203.0.113.7', 'acme.7', 'com', '-a.acme.org']
const hosts = [domain, ...unfit].flatMap((name) => [
  ...[name, `${name}.`, `${name}..`, `${name}:443`, `${name}.:443`, `${name}:`, `${name}:x`, name.toUpperCase()],
  ...[` ${name}`, `${name} `, `${name}\t`, `${name}/`, `${name}?`, `${name}#`, `a@${name}`, `${name}\0`, `[${name}]`],
  ...[name.replace('.', '%2e'), `%${name}`, name.replace('.', '。'), name.replace('a', 'а'), name.replace('s', 'ſ')],
  ...[name.replace('.', '..'), `.${name}`, `*.${name}`, `www.${name}`, `${name},${name}`, `${name}${'.a'.repeat(200)}`],
])

test('the guard of private pages and the pages find the same page under every host', async () => {
  const ids = new Map<string, string>()
  for (const name of [domain, ...unfit]) {
    const { id, ctx } = await tenant()
    await serveUnder(ctx, id, name)
    ids.set(name, (await db.organization.findUniqueOrThrow({ where: { id } })).pageId)
  }
  const found = new Set<string>()
  for (const baseUrl of [
    'https://allclear.example.com',
    'https://Allclear.Example.com:8443',
    'http://localhost:4000',
  ]) {
    const site = { baseUrl }
    for (const host of [
      ...hosts,
      '',
      '.',
      ':',
      '[::1]',
      '[::1]:80',
      '127.0.0.1',
      'localhost',
      'allclear.example.com',
    ]) {
      const request = { req: { param: () => undefined, header: () => host } } as unknown as Context
      const location = await findPageLocation({ site, guard }, request)
      const address = await pageAddressOfHost(hostNameOf(host), { site, guard })
      expect([host, location?.page.pageId, location?.origin], baseUrl).toEqual([host, address?.owner, address?.origin])
      if (address === null) continue
      expect(address.owner).toBe(ids.get(domain))
      found.add(host)
    }
  }
  expect([...found]).toEqual([
    domain,
    `${domain}.`,
    `${domain}:443`,
    `${domain}.:443`,
    `${domain}:`,
    domain.toUpperCase(),
  ])
})
