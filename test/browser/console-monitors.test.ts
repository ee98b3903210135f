import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/core/time.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole({ SMTP_URL: 'smtp://127.0.0.1:1' })
const { signIn, organization: acme } = await organization('lookers')
const { prisma } = database
const newTab = useChromium()

let websiteStatus = 200
const website = createServer((_request, response) => void response.writeHead(websiteStatus).end('hello'))
let [url, monitorId] = ['', '']

beforeAll(async () => {
  await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', () => resolve()))
  url = `http://127.0.0.1:${(website.address() as AddressInfo).port}/`
  await prisma.organization.update({ where: { id: acme.id }, data: { tier: 'TEAM', checkPlan: 'PRO' } })
  const editor = await signIn('EDITOR')
  monitorId = await create(editor, { kind: 'HTTP', name: 'Front page', 'http.url': url })
  await create(editor, {
    kind: 'BLACKLIST',
    name: '192.0.2.7',
    'blacklist.target': '192.0.2.7',
    intervalSeconds: '3600',
  })
  await writePast(monitorId)
})
afterAll(() => void website.close())

async function create(editor: Browser, fields: Record<string, string>): Promise<string> {
  const { location, html } = await editor.post('monitors/new', { intervalSeconds: '86400', serviceId: '', ...fields })
  const id = /mon_\w+/.exec(location ?? '')?.[0]
  if (id === undefined) throw new Error(html)
  return id
}

/** Writes an outage and some results of two regions. */
async function writePast(id: string): Promise<void> {
  const now = Date.now()
  const began = new Date(now - DAY)
  await prisma.monitorInterval.deleteMany({ where: { monitorId: id } })
  await prisma.monitorInterval.createMany({
    data: [
      { monitorId: id, startedAt: new Date(now - 2 * DAY), endedAt: began, state: 'UP' },
      { monitorId: id, startedAt: began, endedAt: new Date(+began + 9 * MINUTE), state: 'DOWN', cause: 'HTTP 503' },
      { monitorId: id, startedAt: new Date(+began + 9 * MINUTE), state: 'UP' },
    ],
  })
  await prisma.probeResult.createMany({
    data: ['eu', 'us'].map((region, index) => ({
      ...{ monitorId: id, at: new Date(now - index * MINUTE), region, outcome: 'UP' as const },
      ...{ latencyMs: 42, message: 'HTTP 200 in 42 ms' },
    })),
  })
}

/** Opens a tab in which a new editor is signed in. */
async function openTab(options: BrowserContextOptions = {}) {
  const tab = await newTab((asked) => asked.startsWith(app.baseUrl) || asked.startsWith('data:'), options)
  const { token } = await signIn('EDITOR')
  await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  const open = (path: string) => tab.page.goto(`${app.baseUrl}/console/lookers/${path}`)
  return { ...tab, open, [Symbol.asyncDispose]: () => tab.page.context().close() }
}

test.each(['light', 'dark'] as const)(
  'a monitor with a history violates no rule of axe in the %s theme',
  async (colorScheme) => {
    await using tab = await openTab({ colorScheme, bypassCSP: true })
    await tab.open(`monitors/${monitorId}`)
    expect(await axeViolations(tab.page)).toEqual([])
  },
)

test('the table of a check of several targets violates no rule of axe, nor on a phone', async () => {
  await using tab = await openTab({ bypassCSP: true })
  const { page, open } = tab
  await open('blacklists')
  await page.fill('[name=targets]', '192.0.2.7\nnot a target')
  await page.click('#check-form button')
  await page.waitForSelector('#check table')
  expect(await axeViolations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await axeViolations(page)).toEqual([])
})

describe('a monitor', () => {
  test('is created, tested and paused by keyboard only', async () => {
    await using tab = await openTab()
    const { page, open, complaints } = tab
    await open('monitors/new?kind=HTTP')
    await page.focus('[name=name]')
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Tab')
    await page.keyboard.type(url)
    await reach('Test')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#answer')
    expect(await page.textContent('#answer')).toContain('HTTP 200')
    expect(await page.inputValue('[name="http.url"]')).toBe(url)
    await reach('Save')
    await page.keyboard.press('Enter')
    await page.waitForURL(/monitors\/mon_/)
    await reach('Pause')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    expect(complaints).toEqual([])

    /** Moves the focus on until it is on a button. */
    async function reach(name: string): Promise<void> {
      for (let step = 0; step < 80; step += 1) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate('document.activeElement.textContent')) === name) return
      }
      throw new Error(`The keyboard does not reach ${name}.`)
    }
  })

  test('fits on a phone, and its page shows new results automatically', async () => {
    await using tab = await openTab({ viewport: { width: 390, height: 844 } })
    const { page, open, complaints } = tab
    await open(`monitors/${monitorId}`)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBe(390)
    await page.locator('#live[data-state=live]').waitFor()
    // One failure changes no state, so the log does not move.
    websiteStatus = 503
    await prisma.watch.updateMany({ where: { monitorId }, data: { dueAt: new Date() } })
    await page.getByText('HTTP 503 instead of 2xx').first().waitFor()
    websiteStatus = 200
    expect(complaints).toEqual([])
  })

  test('is selected with all others on its page', async () => {
    await using tab = await openTab()
    const { page, open } = tab
    await open('monitors')
    await page.getByLabel('All on this page').check()
    expect(await page.locator('[name=ids]:not(:checked)').count()).toBe(0)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: /Delete \d monitors\?/ }).waitFor()
  })
})

test('an import from a file lists the skipped lines, and still does after the log has moved', async () => {
  await using tab = await openTab()
  const { page, open, complaints } = tab
  await open('subscribers/import')
  const buffer = Buffer.from('Name,Email\nBob,bob@a.example\nNobody,no one\n')
  await page.getByLabel('CSV file').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByText('1 added, 0 known before, 0 skipped.').waitFor()
  await page.locator('#live[data-state=live]').waitFor()
  const before = await page.getAttribute('body', 'data-cursor')
  await (await signIn('EDITOR')).post(`monitors/${monitorId}/pause`, {})
  await page.waitForFunction((cursor) => document.body.dataset['cursor'] !== cursor, before)
  expect(await page.textContent('#import')).toContain('must be an email address')
  expect(complaints).toEqual([])
})
