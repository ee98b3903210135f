import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { loadAssets } from '../../../src/http/assets/assets.ts'
import { slugIn } from '../../../src/status-page/html/find-page.tsx'
import { statusPages } from '../../../src/status-page/html/routes.tsx'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { pageSourceOf } from '../../support/page-guard.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const now = () => noon
const site = { assets: await loadAssets([]), baseUrl: 'https://allclear.example' }
const app = new Hono()
app.route('/', statusPages(pageSourceOf(site, prisma, now)))
const get = async (path: string) => {
  const response = await app.request(path)
  return { status: response.status, location: response.headers.get('location'), html: await response.text() }
}

test.each([
  ['acme', 'acme'],
  ['  Acme ', 'acme'],
  ['Acme Corp', 'acme-corp'],
  ['acme_corp.', 'acme-corp'],
  ['https://status.example/status/acme?x=1', 'acme'],
  ['/status/acme/history', 'acme'],
  ['a', ''],
  ['', ''],
  ['../../console', ''],
  ['acme"><script>', ''],
  ['//evil.example', ''],
  ['é'.repeat(3000), ''],
])('the input %j finds the page %j', (typed, slug) => {
  expect(slugIn(typed)).toBe(slug)
})

test('/status redirects to the only page, and asks for the name if there are several', async () => {
  await prisma.organization.deleteMany({})
  expect(await get('/status')).toMatchObject({ status: 200, html: expect.stringContaining('Find a status page') })
  const { slug } = await tenant()
  expect(await get('/status')).toMatchObject({ status: 302, location: `/status/${slug}` })
  await tenant()
  const { status, html } = await get('/status')
  expect(status).toBe(200)
  expect(html).not.toContain(slug)
  expect(await get(`/status?page=${slug.toUpperCase()}`)).toMatchObject({ status: 303, location: `/status/${slug}` })
})

test('/status does not reveal the only page when it is private', async () => {
  await prisma.organization.deleteMany({})
  const { id: organizationId, slug } = await tenant()
  const { id: pageId } = await prisma.page.findFirstOrThrow({ where: { organizationId } })
  await prisma.pageAccess.create({ data: { pageId, organizationId, kind: 'MEMBERS' } })
  const { status, html } = await get('/status')
  expect(status).toBe(200)
  expect(html).not.toContain(slug)
})

test('a mistyped name leads to the page, or to the form with the input', async () => {
  const { slug } = await tenant()
  expect(await get(`/status/${slug.toUpperCase()}`)).toMatchObject({ status: 302, location: `/status/${slug}` })
  const { status, html } = await get('/status/no-such-page')
  expect([status, html]).toEqual([404, expect.stringContaining('No status page has this address')])
  expect(html).toContain('value="no-such-page"')
  expect((await get('/status/%22%3E%3Cscript%3E')).html).not.toContain('<script>')
})

test('both are in the visitor’s language', async () => {
  await tenant()
  await tenant()
  for (const [path, status, title] of [
    ['/status', 200, 'Trouver une page d’état'],
    ['/status/no-such-page', 404, 'Aucune page d’état n’a cette adresse'],
  ] as const) {
    const answer = await app.request(path, { headers: { 'accept-language': 'fr-CH, en;q=0.5' } })
    const html = await answer.text()
    expect([answer.status, answer.headers.get('vary')]).toEqual([status, 'accept-language'])
    expect(html).toMatch(new RegExp(`<html lang="fr".+<h1>${title}</h1>`, 's'))
    expect(html).toContain('<form class="check" action="/status"')
  }
})
