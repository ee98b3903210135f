import { expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const { id } = acme.organization
await prisma.organization.update({ where: { id }, data: { tier: 'TEAM' } })
const admin = await acme.signIn('ADMIN')
await admin.post('services/new', { name: 'Shop' })
const openTab = useChromium()

/** A tab in which the admin is signed in. */
async function tab(options: Parameters<typeof openTab>[1]) {
  const opened = await openTab((url) => url.startsWith(app.baseUrl) || url.startsWith('about:'), options)
  const cookie = { name: 'allclear_session', value: admin.token, url: app.baseUrl }
  await opened.page.context().addCookies([cookie])
  return { ...opened, at: (path: string) => opened.page.goto(`${app.baseUrl}/console/acme/${path}`) }
}

test('a page is created, closed, previewed and deleted without a script', async () => {
  await using opened = await tab({ javaScriptEnabled: false })
  const { page, at } = opened
  await at('page')
  await page.getByRole('link', { name: 'All pages' }).click()
  await page.getByRole('link', { name: 'New page' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Staff')
  await page.getByLabel('Name in addresses').fill('acme-staff')
  await page.getByLabel('Services', { exact: true }).first().selectOption('CHOSEN')
  await page.getByText('Choose services').click()
  await page.getByLabel('Shop').check()
  await page.getByRole('button', { name: 'Create' }).click()
  expect(await page.locator('h1').textContent()).toBe('Staff')
  expect(await page.getByLabel('Shop').isChecked()).toBe(true)
  await page.getByLabel('Description').fill('Only for us.')
  await page.getByRole('button', { name: 'Preview' }).click()
  expect(await page.frameLocator('#preview').locator('body').textContent()).toContain('Only for us.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'Access' }).click()
  await page.getByLabel('Who may read it').selectOption('PASSWORD')
  await page.getByLabel('Password').fill('long enough')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await fetch(`${app.baseUrl}/status/acme-staff`)).status).toBe(401)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Delete Staff' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(/\/console\/acme\/pages$/)
  expect(await prisma.page.count({ where: { slug: 'acme-staff' } })).toBe(0)
})

test('maintenance is repeated without a script', async () => {
  await using opened = await tab({ javaScriptEnabled: false })
  const { page, at } = opened
  const nextYear = new Date().getUTCFullYear() + 1
  await at('maintenance/series/new')
  await page.getByLabel('Title', { exact: true }).fill('Backup')
  await page.getByLabel('Message', { exact: true }).fill('We back up.')
  await page.locator('[name=startsAt]').fill(`${nextYear}-01-04T02:00`)
  await page.locator('[name=durationMinutes]').fill('30')
  await page.getByRole('button', { name: 'Preview' }).click()
  expect(await page.locator('main').textContent()).toContain(String(nextYear))
  await page.locator('main form button[type=submit]').first().click()
  await page.waitForURL(/\/maintenance\/series$/)
  expect(await page.locator('main').textContent()).toContain('Backup')
})

test('the services of a page are ordered by keyboard, and another browser shows it at once', async () => {
  const names = ['First', 'Second', 'Third']
  for (const name of names) await admin.post('services/new', { name })
  const services = await prisma.service.findMany({ where: { organizationId: id, name: { in: names } } })
  const serviceIds = names.map((name) => services.find((service) => service.name === name)?.id ?? '')
  const { location } = await admin.post('pages/new', {
    name: 'Ordered',
    slug: 'acme-ordered',
    shows: 'CHOSEN',
    serviceIds,
  })
  const path = `${location?.replace('/console/acme/', '')}/order`
  await using one = await tab({})
  await using two = await tab({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const shown = ({ page }: typeof one) => page.locator('.ordered > li > span:not([class])').allTextContents()
  await one.at(path)
  await two.at(path)
  await two.page.getByText('Live', { exact: true }).waitFor()
  await one.page.getByRole('button', { name: 'Move Third: drag, or use the arrow keys' }).press('ArrowUp')
  await expect.poll(() => shown(two)).toEqual(['First', 'Third', 'Second'])
  await two.page.getByRole('button', { name: 'Move First down' }).tap()
  await expect.poll(() => shown(one)).toEqual(['Third', 'First', 'Second'])
  expect(await axeViolations(one.page)).toEqual([])
  expect([one.complaints, two.complaints]).toEqual([[], []])
})

test('an alert channel is added without a script, and two people who edit it see both versions', async () => {
  await using plain = await tab({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
  await plain.at('alerts')
  await plain.page.getByRole('link', { name: 'Add a channel' }).click()
  await plain.page.getByRole('link', { name: 'Ntfy' }).click()
  await plain.page.getByLabel('Name', { exact: true }).fill('Night shift')
  await plain.page.getByLabel('Topic').fill('night-shift')
  await plain.page.getByRole('button', { name: 'Create channel' }).click()
  await plain.page.getByRole('heading', { name: 'Night shift', level: 1 }).waitFor()
  const path = new URL(plain.page.url()).pathname.replace('/console/acme/', '')
  await using scripted = await tab({})
  await scripted.at(path)
  await plain.page.getByLabel('Name', { exact: true }).fill('Theirs')
  await scripted.page.getByLabel('Name', { exact: true }).fill('Mine')
  await plain.page.getByRole('button', { name: 'Save' }).click()
  await plain.page.getByRole('link', { name: 'Theirs' }).waitFor()
  await scripted.page.getByRole('button', { name: 'Save' }).click()
  await scripted.page.getByText('Now: Theirs').waitFor()
  expect(await scripted.page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine')
  await scripted.page.getByRole('button', { name: 'Save' }).click()
  await plain.at('alerts')
  await plain.page.getByRole('link', { name: 'Mine' }).waitFor()
})
