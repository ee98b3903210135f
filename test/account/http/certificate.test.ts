// @slow
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { CERTIFICATE_PATH } from '../../../src/account/custom-domain/custom-domain.ts'
import { createProvenDomains } from '../../../src/account/custom-domain/proven-domains.ts'
import { certificateRoutes } from '../../../src/account/http/certificate.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'

const { prisma } = await testDatabase()
const site = { baseUrl: 'https://allclear.example' }
const acme = await tenantsOf(prisma)()
await serveUnder(acme.ctx, acme.id, 'status.acme.example')

/** Asks the routes; counts the statements. */
function routes() {
  const statements = { count: 0 }
  const page = new Proxy(prisma.page, {
    get(pages, name, receiver) {
      if (name === 'findMany') statements.count += 1
      return Reflect.get(pages, name, receiver)
    },
  })
  const db = new Proxy(prisma, { get: (client, name) => (name === 'page' ? page : Reflect.get(client, name)) })
  const domains = createProvenDomains({ db, site, now: () => noon })
  const app = new Hono().route('/', certificateRoutes({ domains, site }))
  const ask = async (domain: string) => {
    const response = await app.request(`${CERTIFICATE_PATH}?domain=${domain}`)
    return [response.status, await response.text()]
  }
  return { ask, statements, app }
}

test('permits certificates only for its own host and proven domains, and reveals nothing else', async () => {
  const { ask, app } = routes()
  expect(await ask('status.acme.example')).toEqual([200, ''])
  expect(await ask('STATUS.acme.example')).toEqual([200, ''])
  expect(await ask('allclear.example')).toEqual([200, ''])
  expect((await app.request(CERTIFICATE_PATH)).status).toBe(404)
  for (const name of ['', 'acme.example', 'a.allclear.example', '%00', '192.0.2.1', `${'a.'.repeat(3000)}example`])
    expect([name, ...(await ask(name))]).toEqual([name, 404, ''])
})

test('permits a proven domain amid any number of questions about others, with few statements', async () => {
  const { ask, statements } = routes()
  const strangers = Array.from({ length: 5000 }, (_, nth) => ask(`h${nth}.example`))
  const proven = await ask('status.acme.example')
  expect(proven).toEqual([200, ''])
  expect((await Promise.all(strangers)).every(([status]) => status === 404)).toBe(true)
  expect(statements.count).toBeLessThanOrEqual(7)
  // Neither the flood nor its repetition costs a proven domain its place.
  await Promise.all(Array.from({ length: 20_000 }, (_, nth) => ask(`again${nth}.example`)))
  const before = statements.count
  expect(await ask('status.acme.example')).toEqual([200, ''])
  expect(statements.count).toBe(before)
})
