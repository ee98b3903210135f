import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { pageHostOf } from '../../../src/account/custom-domain/domain-name.ts'
import { createPageGuard } from '../../../src/account/page/page-guard.ts'
import { listenToLogs } from '../../../src/event-log/event.ts'
import { loadAssets } from '../../../src/http/assets/assets.ts'
import { updatePageAccess } from '../../../src/people/page-access.ts'
import { createService } from '../../../src/status/service/service.ts'
import { embedRoutes, embedStylesheet } from '../../../src/status-page/html/embed.tsx'
import { liveScript, statusPages, statusStylesheet } from '../../../src/status-page/html/routes.tsx'
import { documentRoutes } from '../../../src/status-page/http/documents.ts'
import { answerHot } from '../../../src/status-page/http/hot-answers.ts'
import { createPageCache } from '../../../src/status-page/page-cache.ts'
import { createPngRenderer } from '../../../src/status-page/png-renderer.ts'
import { seal } from '../../monitoring/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { atTheEnd } from '../../support/at-the-end.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'
import { rawGet } from '../../support/raw-get.ts'
import { silent } from '../../support/scratch.ts'

const database = await testDatabase()
const db = database.prisma
const tenant = tenantsOf(db)
let time = noon
const now = () => time
const cache = createPageCache(now)
const guard = createPageGuard({ db, now, log: silent, seal, hold: () => () => {} })
const unlisten = await listenToLogs(database, (organizationId) => {
  cache.invalidate(organizationId)
  guard.invalidate(organizationId)
})
const site = {
  assets: await loadAssets([liveScript, statusStylesheet, embedStylesheet]),
  baseUrl: 'https://allclear.example',
}
const pngRenderer = createPngRenderer()
const routes = new Hono()
// The guard does this before all routes, so that the page is known.
routes.use('*', async (c, next) => {
  const [, , slug] = c.req.path.split('/')
  const host = pageHostOf(site.baseUrl, c.req.header('host') ?? '')
  if (slug) await guard.pages({ slug })
  else if (host) await guard.pages({ host })
  await next()
})
routes.route('/', documentRoutes({ site, guard, db, cache, pngRenderer, now }))
routes.route('/', statusPages({ site, guard, db, cache, now }))
routes.route('/', embedRoutes({ site, guard, db, cache, now }))
const listener = getRequestListener(routes.fetch)
let hot = 0
const server = createServer((request, response) => {
  if (answerHot({ cache, guard }, request, response)) hot += 1
  else void listener(request, response)
}).listen(0, '127.0.0.1')
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
atTheEnd(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await unlisten()
  await pngRenderer.close()
})

/** Requests a path. Returns whether the answer was hot. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const before = hot
  const { headers: all, ...answer } = await rawGet(url() + path, headers)
  const { date: _, connection: _connection, 'keep-alive': _keepAlive, ...own } = all
  return { isHot: hot > before, answer: { ...answer, headers: own } }
}

test('an earlier answer is sent again without the router, byte for byte', async () => {
  const { slug, ctx } = await tenant()
  await createService(ctx, { name: 'API' })
  const at = `/status/${slug}`
  const gzip = { 'accept-encoding': 'gzip' }
  for (const path of [
    at,
    `${at}/de`,
    `${at}/history`,
    `${at}/api/v2/summary.json`,
    `${at}/badge.svg`,
    `${at}/history.atom`,
    `${at}/embed`,
  ]) {
    for (const headers of [{}, gzip, { ...gzip, 'accept-encoding': 'gzip;q=0' }]) {
      cache.addresses.clear()
      const first = await ask(path, headers)
      const second = await ask(path, headers)
      expect([path, first.isHot, second.isHot]).toEqual([path, false, true])
      expect(first.answer.status).toBe(200)
      expect(second.answer).toEqual(first.answer)
      const held = { ...headers, 'if-none-match': String(first.answer.headers['etag']) }
      const unchanged = await ask(path, held)
      cache.addresses.clear()
      expect(unchanged).toEqual({ isHot: true, answer: (await ask(path, held)).answer })
      expect(unchanged.answer.status).toBe(304)
    }
  }
})

test('the next answer shows a change', async () => {
  const { slug, ctx } = await tenant()
  await ask(`/status/${slug}`)
  await createService(ctx, { name: 'The new service' })
  await expect.poll(async () => (await ask(`/status/${slug}`)).answer.body.toString()).toContain('The new service')
  expect(await ask(`/status/${slug}`)).toMatchObject({ isHot: true })
})

test('answers that depend on the time of day expire with its minute', async () => {
  const { slug } = await tenant()
  await ask(`/status/${slug}`)
  expect((await ask(`/status/${slug}`)).isHot).toBe(true)
  time = new Date(time.getTime() + 61_000)
  expect((await ask(`/status/${slug}`)).isHot).toBe(false)
})

test('readers who prefer another language are redirected', async () => {
  const { slug } = await tenant()
  await ask(`/status/${slug}`)
  const { isHot, answer } = await ask(`/status/${slug}`, { 'accept-language': 'de' })
  expect([isHot, answer.status, answer.headers.location]).toEqual([false, 302, `/status/${slug}/de`])
  expect((await ask(`/status/${slug}`, { 'accept-language': 'en' })).isHot).toBe(true)
})

test('a page that has become private is left to the router', async () => {
  const { slug, ctx } = await tenant()
  const { pageId } = await db.organization.findUniqueOrThrow({ where: { slug } })
  await ask(`/status/${slug}`)
  expect((await ask(`/status/${slug}`)).isHot).toBe(true)
  await updatePageAccess(ctx, { pageId, access: { kind: 'MEMBERS' } })
  await expect.poll(async () => (await ask(`/status/${slug}`)).isHot).toBe(false)
  // Even a page that was just rendered for a reader with access is not hot.
  await ask(`/status/${slug}`)
  expect((await ask(`/status/${slug}`)).isHot).toBe(false)
})

test('a host name that moved to another organization shows its page', async () => {
  const [one, other] = [await tenant(), await tenant()]
  const host = `${one.slug}.status.example`
  await serveUnder(one.ctx, one.id, host)
  await expect.poll(async () => (await ask('/', { host })).isHot).toBe(true)
  await db.page.updateMany({ where: { customDomain: host }, data: { customDomain: null } })
  await db.customDomain.deleteMany({ where: { name: host } })
  await serveUnder(other.ctx, other.id, host)
  await createService(other.ctx, { name: 'Of the other' })
  guard.invalidate(null)
  await expect.poll(async () => (await ask('/', { host })).answer.body.toString()).toContain('Of the other')
})

test('changes since a version, HEAD and long addresses are left to the router', async () => {
  const { slug } = await tenant()
  const page = (await ask(`/status/${slug}`)).answer.body.toString()
  const version = /data-version="([^"]+)"/.exec(page)?.[1]
  const since = `/status/${slug}?since=${version}&at=0`
  await ask(since)
  expect((await ask(since)).isHot).toBe(false)
  const head = await fetch(`${url()}/status/${slug}`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const long = `/status/${slug}?x=${'y'.repeat(500)}`
  await ask(long)
  expect((await ask(long)).isHot).toBe(false)
})
