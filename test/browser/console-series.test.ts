import type { BrowserContextOptions } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const newTab = useChromium()

/** A tab of a new member with the form for repeating maintenance. */
async function openForm(options: BrowserContextOptions) {
  const { token } = await acme.signIn('EDITOR')
  const tab = await newTab((url) => url.startsWith(app.baseUrl), options)
  await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await tab.page.goto(`${app.baseUrl}/console/acme/maintenance/series/new`)
  return tab
}

test.each([
  ['on a phone', { viewport: { width: 390, height: 844 }, javaScriptEnabled: true }],
  ['without scripts', { viewport: { width: 390, height: 844 }, javaScriptEnabled: false }],
])('repeating maintenance is scheduled by keyboard, %s', async (name, options) => {
  await using tab = await openForm(options)
  const { page } = tab
  await page.getByLabel('Title', { exact: true }).focus()
  await page.keyboard.type(`Restart ${name}`)
  await page.getByLabel('First start').fill('2999-01-06T02:00')
  await page.getByLabel('Minutes').fill('30')
  await page.getByLabel('Sunday').focus()
  await page.keyboard.press('Space')
  await page.getByLabel('Message', { exact: true }).focus()
  await page.keyboard.type('We restart.')
  // A start in a thousand years is refused.
  await page.getByRole('button', { name: 'Preview' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Must be within ten years.').waitFor()
  const year = new Date().getUTCFullYear() + 1
  await page.getByLabel('First start').fill(`${year}-01-06T02:00`)
  await page.getByRole('button', { name: 'Preview' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('#dates').waitFor()
  expect(await page.locator('#dates time').count()).toBe(5)
  if (!('javaScriptEnabled' in options)) {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await axeViolations(page)).toEqual([])
  }
  await page.getByRole('button', { name: 'Repeat', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Repeating maintenance' }).waitFor()
  await page.getByText('Every Sunday at 02:00').first().waitFor()
  expect(await database.prisma.maintenanceSeries.count({ where: { title: `Restart ${name}` } })).toBe(1)
})
