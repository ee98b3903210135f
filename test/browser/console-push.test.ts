import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { startPushService } from '../support/push-service.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const service = await startPushService()
afterAll(() => service.close())
const acme = await organization('acme')
const open = useChromium()
const ours = (url: string) => url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

async function openAccount(page: Page) {
  const { token, userId } = await acme.signIn('VIEWER')
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/acme/account`)
  return userId
}

/** Makes the browser subscribe at our push service: its own is Google's, which tests cannot reach. */
async function stubSubscription(page: Page) {
  const { endpoint, ...keys } = service.subscribe()
  await page.context().grantPermissions(['notifications'], { origin: app.baseUrl })
  await page.addInitScript(
    (subscription) => {
      const made = { toJSON: () => subscription }
      PushManager.prototype.subscribe = async ({ applicationServerKey } = {}) => {
        if (String(applicationServerKey).length !== 87) throw new Error('No key.')
        return made as unknown as PushSubscription
      }
      Notification.requestPermission = async () => 'granted'
    },
    { endpoint, keys },
  )
}

/** Delivers a message to the service worker as the browser would, after decrypting it. */
async function deliver(page: Page, data: object) {
  const session = await page.context().newCDPSession(page)
  const registered = new Promise<string>((resolve) =>
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [found] = registrations
      if (found) resolve(found.registrationId)
    }),
  )
  await session.send('ServiceWorker.enable')
  const registrationId = await registered
  await session.send('ServiceWorker.deliverPushMessage', {
    origin: app.baseUrl,
    registrationId,
    data: JSON.stringify(data),
  })
}

/** Records the notifications of the worker: the headless shell cannot show any. */
async function recordShown(page: Page) {
  await workerOf(page).evaluate(() => {
    const shown: unknown[] = []
    Reflect.set(self, 'shown', shown)
    const registration: ServiceWorkerRegistration = Reflect.get(self, 'registration')
    registration.showNotification = async (...given) => void shown.push(given)
  })
}

const shownBy = (page: Page): Promise<unknown> => workerOf(page).evaluate(() => Reflect.get(self, 'shown'))

function workerOf(page: Page) {
  const [worker] = page.context().serviceWorkers()
  if (!worker) throw new Error('No service worker runs.')
  return worker
}

test('a person turns notifications on, and the worker makes the browser show them', async () => {
  await using tab = await open(ours)
  const { page } = tab
  await stubSubscription(page)
  const userId = await openAccount(page)
  await page.getByRole('button', { name: 'Send notifications to this browser' }).click()
  await page.getByText('this browser, through').waitFor()
  expect(await prisma.pushBrowser.count({ where: { userId } })).toBe(1)
  expect(await axeViolations(page)).toEqual([])

  await recordShown(page)
  await deliver(page, { title: 'Acme: Website', body: 'Down: Refused', path: '/console/acme/now', tag: 'mon_1' })
  const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope)
  expect(scope).toBe(`${app.baseUrl}/console/`)
  await expect
    .poll(() => shownBy(page))
    .toEqual([
      [
        'Acme: Website',
        { body: 'Down: Refused', tag: 'mon_1', renotify: true, data: { path: '/console/acme/now' }, actions: [] },
      ],
    ])

  await page.getByRole('button', { name: /^Send a test/ }).click()
  await page.getByText('Answered with status 201.').waitFor()
  await page.getByRole('button', { name: /^Stop: .*since/ }).click()
  await page.getByRole('button', { name: 'Send notifications to this browser' }).waitFor()
  expect(await prisma.pushBrowser.count({ where: { userId } })).toBe(0)
  expect(tab.complaints).toEqual([])
})

test('a browser that refuses gets instructions', async () => {
  await using tab = await open(ours)
  const { page } = tab
  await page.addInitScript(() => {
    Notification.requestPermission = async () => 'denied'
  })
  await openAccount(page)
  await page.getByRole('button', { name: 'Send notifications to this browser' }).click()
  await page.getByText('blocks notifications from this site').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
