import { imageSize } from 'image-size'
import { afterAll, expect, test } from 'vitest'
import { testConsole } from '../../support/console.ts'
import { startPushService } from '../../support/push-service.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const service = await startPushService()
afterAll(() => service.close())
const acme = await organization('acme')
const viewer = await acme.signIn('VIEWER')
const editor = await acme.signIn('EDITOR')
const idOf = async ({ userId }: { readonly userId: string }) =>
  (await prisma.pushBrowser.findFirstOrThrow({ where: { userId } })).id

test('a person turns notifications on, receives one, tests them and turns them off', async () => {
  const before = await viewer.get('account')
  expect(before.html).toMatch(/data-push="[\w-]{87}"/)
  const { status, location, headers } = await viewer.post('account/browsers', { ...service.subscribe() })
  // Browsers focus no notice in a page whose address has a fragment.
  expect([status, location]).toEqual([303, '/console/acme/account'])
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect((await viewer.get('account', { cookie })).html).toMatch(/ autofocus[^>]*>Saved\.<\/p><h2 id="browsers">/)
  const { html } = await viewer.get('account')
  expect(html).toContain('this browser, through 127.0.0.1:')
  expect(html).not.toContain('data-push=')

  await editor.post('incidents/new', {
    title: 'Slow answers',
    status: 'INVESTIGATING',
    impact: 'MINOR',
    message: 'We look.',
  })
  await expect.poll(() => service.received.length).toBe(1)
  expect(JSON.parse(service.received[0]?.text ?? '')).toMatchObject({ title: 'The acme: Slow answers' })

  const id = await idOf(viewer)
  const answer = await viewer.post('account/browsers/test', { id })
  expect(answer.html).toContain('Answered with status 201.')
  // Its address does not show a page: the script does not fetch it again when the log moves.
  expect([answer.html, html].map((page) => page.includes('data-answer-only'))).toEqual([true, false])
  expect(service.received).toHaveLength(2)
  expect((await viewer.post('account/browsers/stop', { id })).status).toBe(303)
  expect(await prisma.pushBrowser.count()).toBe(0)
})

test('a test reports that the browser is gone', async () => {
  await viewer.post('account/browsers', { ...service.subscribe() })
  service.answer = () => ({ status: 410 })
  const { html } = await viewer.post('account/browsers/test', { id: await idOf(viewer) })
  expect(html).toContain('Answered with status 410.')
  expect(html).toContain('was removed')
  expect(await prisma.pushBrowser.count()).toBe(0)
})

test('a refused subscription is reported', async () => {
  const { status, html } = await viewer.post('account/browsers', { endpoint: 'nonsense', p256dh: 'x', auth: 'y' })
  expect(status).toBe(422)
  expect(html).toContain('role="alert"')
})

test('only the owner can turn off or test them', async () => {
  await viewer.post('account/browsers', { ...service.subscribe() })
  const id = await idOf(viewer)
  for (const path of ['account/browsers/test', 'account/browsers/stop'])
    expect((await editor.post(path, { id })).status).toBe(404)
  expect(await prisma.pushBrowser.count()).toBe(1)
})

test('a browser renews an existing subscription', async () => {
  const renew = (browser: typeof viewer) => browser.post('/console/push-subscription', { ...service.subscribe() })
  const id = await idOf(viewer)
  expect((await renew(viewer)).status).toBe(204)
  expect(await idOf(viewer)).not.toBe(id)
  expect(await prisma.pushBrowser.count()).toBe(1)
  expect((await renew(editor)).status).toBe(404)
  const forged = { cookie: `allclear_session=${viewer.token}`, 'sec-fetch-site': 'cross-site' }
  const path = '/console/push-subscription'
  expect((await viewer.post(path, { ...service.subscribe() }, forged)).status).toBe(403)
  expect((await viewer.post(path, {}, { 'sec-fetch-site': 'same-origin' })).status).toBe(422)
})

test('signing out ends them', async () => {
  await viewer.post('/sign-out', {})
  expect(await prisma.pushBrowser.count()).toBe(0)
})

test('the console is installable, with icons as PNG', async () => {
  const manifest = await (await fetch(`${app.baseUrl}/console/app.webmanifest`)).json()
  const { html } = await editor.get('now')
  const apple = /rel="apple-touch-icon" href="([^"]+)"/.exec(html)?.[1] ?? ''
  const icons: { src: string; sizes: string; type: string }[] = manifest.icons
  const pngs = icons.filter(({ type }) => type === 'image/png')
  expect(pngs.map(({ sizes }) => sizes)).toEqual(['192x192', '512x512', '512x512'])
  for (const { src, sizes } of [...pngs, { src: apple, sizes: '180x180' }]) {
    const response = await fetch(app.baseUrl + src)
    const { width, height, type } = imageSize(new Uint8Array(await response.arrayBuffer()))
    expect([response.headers.get('content-type'), type, `${width}x${height}`]).toEqual(['image/png', 'png', sizes])
  }
})

test('the worker is served below the console, and revalidated each time', async () => {
  const response = await fetch(`${app.baseUrl}/console/push-worker.js`)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
  })
  expect(await response.text()).toContain('showNotification')
})
