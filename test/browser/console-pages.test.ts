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
  await page.getByLabel('Title').fill('Backup')
  await page.getByLabel('Message').fill('We back up.')
  await page.locator('[name=startsAt]').fill(`${nextYear}-01-04T02:00`)
  await page.locator('[name=durationMinutes]').fill('30')
  await page.getByRole('button', { name: 'Preview' }).click()
  expect(await page.locator('main').textContent()).toContain(String(nextYear))
  await page.locator('main form button[type=submit]').first().click()
  await page.waitForURL(/\/maintenance\/series$/)
  expect(await page.locator('main').textContent()).toContain('Backup')
})

test.each(['light', 'dark'] as const)(
  'the screens of pages and series break no rule of accessibility, %s',
  async (colorScheme) => {
    const { location } = await admin.post('pages/new', { name: 'Office', slug: `acme-${colorScheme}`, shows: 'ALL' })
    const path = location?.replace('/console/acme/', '') ?? ''
    await using opened = await tab({ colorScheme })
    const { page, at } = opened
    const screens = ['page', 'pages', 'pages/new', path, `${path}/access`, `${path}/tokens`, `${path}/delete`]
    for (const screen of [...screens, 'subscribers/new', 'maintenance/series', 'maintenance/series/new']) {
      await at(screen)
      expect([screen, await axeViolations(page)]).toEqual([screen, []])
    }
  },
)
