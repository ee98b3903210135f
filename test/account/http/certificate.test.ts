import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { CERTIFICATE_PATH } from '../../../src/account/custom-domain/custom-domain.ts'
import { certificateRoutes } from '../../../src/account/http/certificate.ts'
import { pageLookupOf } from '../../../src/account/page/page-guard.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'

const { prisma } = await testDatabase()
const site = { baseUrl: 'https://allclear.example' }

function routes() {
  const app = new Hono().route('/', certificateRoutes({ guard: pageLookupOf({ db: prisma }), site, clock: () => 0 }))
  return async (query: string) => {
    const response = await app.request(`${CERTIFICATE_PATH}${query}`)
    return [response.status, await response.text()]
  }
}

test('permits certificates only for its own host and proven domains, and reveals nothing else', async () => {
  const acme = await tenantsOf(prisma)()
  await serveUnder(acme.ctx, acme.id, 'status.acme.example')
  const ask = routes()
  expect(await ask('?domain=status.acme.example')).toEqual([200, ''])
  expect(await ask('?domain=STATUS.acme.example')).toEqual([200, ''])
  expect(await ask('?domain=allclear.example')).toEqual([200, ''])
  const others = [
    '',
    '?domain=',
    '?domain=acme.example',
    '?domain=a.allclear.example',
    '?domain=%00',
    '?domain=192.0.2.1',
  ]
  for (const query of others) expect([query, ...(await ask(query))]).toEqual([query, 404, ''])
  expect(await ask(`?domain=${'a.'.repeat(3000)}example`)).toEqual([404, ''])
  await prisma.page.updateMany({ data: { customDomain: null } })
  expect(await routes()('?domain=status.acme.example')).toEqual([404, ''])
})

test('queries the database a limited number of times', async () => {
  const ask = routes()
  for (let nth = 0; nth < 100; nth++) expect((await ask(`?domain=h${nth}.example`))[0]).toBe(404)
  expect(await ask('?domain=one-more.example')).toEqual([429, ''])
  expect((await ask('?domain=h0.example'))[0]).toBe(404)
})
