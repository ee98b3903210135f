import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { startSession } from '../../src/people/session.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { startMailServer } from '../support/mail-server.ts'
import { operatorToken } from '../support/service-data.ts'

const mailServer = await startMailServer()
afterAll(() => mailServer.close())
const { app, database, signIn } = await testConsole({ SMTP_URL: mailServer.url })
const { prisma } = database
const open = useChromium()
const ours = (url: string) => url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

/** The website to monitor. */
const website = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
await once(website, 'listening')
afterAll(() => website.close())
const { port } = website.address() as AddressInfo

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`[name="${name}"]`, value)
}

describe.sequential('the first minutes', () => {
  test('lead from the setup to a live page with a monitored website and an email, without a script', async () => {
    await using tab = await open(ours, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    const { page } = tab
    await page.goto(`${app.baseUrl}/setup`)
    const person = { token: operatorToken, email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' }
    await fill(page, { ...person, organizationName: 'Example', slug: 'example' })
    await page.click('main button')
    expect(page.url()).toBe(`${app.baseUrl}/console/example/start`)
    await page.fill('[name=target]', `http://127.0.0.1:${port}/`)
    await page.click('main button')
    expect(page.url()).toBe(`${app.baseUrl}/console/example/now`)
    await page.getByRole('link', { name: 'See your status page' }).click()
    expect(page.url()).toBe(`${app.baseUrl}/status/example`)
    expect(await page.content()).toContain(`127.0.0.1:${port}`)
    await expect.poll(() => prisma.monitor.findFirst({ where: { state: 'UP' } })).not.toBeNull()

    await page.goto(`${app.baseUrl}/status/example/subscribe`)
    await page.fill('[name=email]', 'reader@example.com')
    await page.click('main button[type=submit]')
    const [mail] = await mailServer.arrived(1, ({ envelopeTo }) => envelopeTo === 'reader@example.com')
    expect(mail?.subject).toContain('Example')
  })

  test('are over once a person has an account', async () => {
    await using tab = await open(ours)
    await tab.page.goto(`${app.baseUrl}/setup`)
    expect(tab.page.url()).toBe(`${app.baseUrl}/sign-in`)
  })
})

test('a person signs in by keyboard only, and is redirected to where the link led', async () => {
  await using tab = await open(ours)
  const { page } = tab
  await page.goto(`${app.baseUrl}/console/example/log`)
  await page.focus('[name=email]')
  await page.keyboard.type('ada@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('wrong password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await page.inputValue('[name=email]')).toBe('ada@example.com')
  expect(await page.inputValue('[name=password]')).toBe('')
  await page.focus('[name=password]')
  await page.keyboard.type('correct horse battery')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/example/log')
})

test('shortcuts lead to sections, are listed, and can be turned off', async () => {
  const organization = await prisma.organization.findUniqueOrThrow({ where: { slug: 'example' } })
  const { token } = await signIn(organization, 'EDITOR')
  await using tab = await open(ours)
  const { page } = tab
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/example/log`)
  await page.locator('#live[data-state="live"]').waitFor()
  await page.keyboard.press('m')
  await page.waitForURL('**/console/example/monitors')
  await page.locator('#live[data-state="live"]').waitFor()
  await page.keyboard.press('r')
  await page.waitForURL('**/console/example/incidents/new')
  await page.fill('[name=title]', 'nims?')
  expect(page.url()).toContain('/incidents/new')
  await page.goto(`${app.baseUrl}/console/example/plan`)
  await page.locator('#live[data-state="live"]').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.keyboard.press('n')
  await page.keyboard.press('?')
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
  expect(page.url()).toContain('/plan')
})

test('revoking a session while a page is open ends its live connection, and keeps the input', async () => {
  const organization = await prisma.organization.findUniqueOrThrow({ where: { slug: 'example' } })
  const { token, userId } = await signIn(organization, 'EDITOR')
  await using tab = await open(ours)
  const { page } = tab
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/example/start`)
  await page.locator('#live[data-state="live"]').waitFor()
  await page.fill('[name=target]', 'kept.example.com')
  await prisma.session.deleteMany({ where: { userId } })
  const ended = page.getByRole('alert').filter({ hasText: 'Your session has ended. What you typed stays here.' })
  await ended.waitFor()
  expect(await page.textContent('#live')).toBe('Signed out')
  expect(await page.inputValue('[name=target]')).toBe('kept.example.com')
  expect(await axeViolations(page)).toEqual([])
  const another = await startSession({ db: prisma, now: () => new Date() }, userId, 'another tab')
  const cookie = { name: 'allclear_session', url: app.baseUrl }
  await page.context().addCookies([{ ...cookie, value: another }])
  await page.locator('#live[data-state="live"]').waitFor()
  expect(await ended.count()).toBe(0)
  expect(await page.inputValue('[name=target]')).toBe('kept.example.com')
  await prisma.session.deleteMany({ where: { userId } })
  await page.click('main button')
  await page.getByText('We kept what you typed').waitFor()
  await fill(page, { email: 'ada@example.com', password: 'correct horse battery' })
  await page.click('main button[type=submit]')
  await page.waitForURL('**/console/example/now')
  expect(await prisma.service.count({ where: { name: 'kept.example.com' } })).toBe(1)
})

test.each([
  ['Asia/Tokyo', /^.+ \(.+ UTC\)$/],
  ['Africa/Abidjan', /^[^(]+ UTC$/],
])(
  'times are shown in the zone %s of the reader, with the organization’s where they differ',
  async (timezoneId, text) => {
    const organization = await prisma.organization.findUniqueOrThrow({ where: { slug: 'example' } })
    const { token } = await signIn(organization, 'VIEWER')
    await using tab = await open(ours, { timezoneId })
    await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
    await tab.page.goto(`${app.baseUrl}/console/example/log`)
    await tab.page.locator('#live[data-state="live"]').waitFor()
    expect(await tab.page.locator('main time').first().textContent()).toMatch(text)
  },
)

test('what is shown only once stays, whatever happens in between', async () => {
  const organization = await prisma.organization.findUniqueOrThrow({ where: { slug: 'example' } })
  const owner = await signIn(organization, 'OWNER')
  await using tab = await open(ours)
  const { page } = tab
  await page.context().addCookies([{ name: 'allclear_session', value: owner.token, url: app.baseUrl }])
  for (const [screen, fields, button] of [
    ['keys', { name: 'Deployments' }, 'Create key'],
    ['people', { email: 'ben@example.com' }, 'Invite'],
  ] as const) {
    await page.goto(`${app.baseUrl}/console/example/${screen}`)
    await fill(page, fields)
    await page.getByRole('button', { name: button }).click()
    const secret = await page.locator('.secret').textContent()
    await page.locator('#live[data-state="live"]').waitFor()
    const refreshed = page.waitForResponse(`${app.baseUrl}/console/example/${screen}`)
    await owner.post('services/new', { name: `Made while ${screen} are open`, description: '' })
    await (await refreshed).finished()
    // A later refresh begins when this one is done.
    const again = page.waitForResponse(`${app.baseUrl}/console/example/${screen}`)
    await owner.post('services/new', { name: `Made later while ${screen} are open`, description: '' })
    await again
    expect(await page.locator('.secret').textContent()).toBe(secret)
  }
})
