import { describe, expect, test } from 'vitest'
import { createService } from '../../src/status/service/service.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'
import { testContext } from '../support/context.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const owner = await acme.signIn('OWNER')
const actor = {
  kind: 'apiKey',
  keyId: 'key',
  organizationId: acme.organization.id,
  scope: 'ADMIN',
  checkPlan: 'FREE',
} as const
const search = await createService(testContext(database.prisma, { actor }), { name: 'Search' })
const open = useChromium()
const ours = (url: string) =>
  /^(data|about):/.test(url) || url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

/** Opens a screen of a person. */
async function openScreen(
  tab: Awaited<ReturnType<typeof open>>,
  path: string,
  { token }: Pick<Browser, 'token'> = owner,
) {
  await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await tab.page.goto(`${app.baseUrl}/console/acme/${path}`)
  return tab.page
}

describe('an accepted form', () => {
  test.each([true, false])('is confirmed beside the form, in view and focused, with scripts: %s', async (scripts) => {
    await using tab = await open(ours, { javaScriptEnabled: scripts, viewport: { width: 390, height: 844 } })
    const page = await openScreen(tab, 'account')
    await page.fill('[name=name]', `Ada ${scripts}`)
    await page.locator('#about button').click()
    await page.locator('#notice:focus').waitFor()
    const box = await page.locator('#notice').boundingBox()
    expect(box?.y).toBeGreaterThanOrEqual(0)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844)
    expect(tab.complaints).toEqual([])
    if (!scripts) return
    expect(await axeViolations(page)).toEqual([])
    // Another change of the organization does not remove it.
    await page.locator('#live[data-state=live]').waitFor()
    const before = await page.getAttribute('body', 'data-cursor')
    await owner.post('services/groups/new', { name: 'Core' })
    await page.locator(`body:not([data-cursor="${before}"])`).waitFor()
    expect(await page.locator('#notice').count()).toBe(1)
    await page.reload()
    expect(await page.locator('#notice').count()).toBe(0)
  })
})

describe('a half-written form', () => {
  test('asks before it is lost, but not when it is sent or cancelled', async () => {
    await using tab = await open(ours)
    const page = await openScreen(tab, 'incidents/new')
    const asked: string[] = []
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type())
      await dialog.dismiss()
    })
    await page.locator('[name=title]').pressSequentially('Slow')
    await page.locator('.console-menu').getByRole('link', { name: 'Services', exact: true }).click()
    await expect.poll(() => asked).toEqual(['beforeunload'])
    expect(await page.inputValue('[name=title]')).toBe('Slow')
    await page.locator('#new-incident').getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL('**/incidents')
    await page.goto(`${app.baseUrl}/console/acme/incidents/new`)
    await page.locator('[name=title]').pressSequentially('Slow')
    await page.locator('[name=message]').pressSequentially('We look.')
    await page.getByRole('button', { name: 'Report' }).click()
    await page.locator('#notice').waitFor()
    expect(asked).toEqual(['beforeunload'])
  })

  test('does not ask for a password, or when nothing was typed', async () => {
    await using tab = await open(ours)
    const page = await openScreen(tab, 'account/password')
    const asked: string[] = []
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type())
      await dialog.accept()
    })
    await page.locator('main form input[type=password]').first().pressSequentially('secret')
    await page.locator('.console-menu').getByRole('link', { name: 'Services', exact: true }).click()
    await page.waitForURL('**/services')
    expect(asked).toEqual([])
  })
})

test('the impact of a new incident follows the chosen statuses', async () => {
  await using tab = await open(ours)
  const page = await openScreen(tab, 'incidents/new')
  await page.locator('[data-impacts]').getByText('Minor impact').waitFor()
  await page.selectOption(`[name="services.${search.id}"]`, 'MAJOR_OUTAGE')
  await page.locator('[data-impacts]').getByText('Critical impact').waitFor()
  await page.selectOption(`[name="services.${search.id}"]`, 'PARTIAL_OUTAGE')
  await page.locator('[data-impacts]').getByText('Major impact').waitFor()
  await page.selectOption(`[name="services.${search.id}"]`, '')
  await page.locator('[data-impacts]').getByText('Minor impact').waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(tab.complaints).toEqual([])
})

test('the link of an invitation is copied by a button', async () => {
  await using tab = await open(ours)
  const page = await openScreen(tab, 'people')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.fill('#invite [name=email]', 'new@example.com')
  await page.locator('#invite button').click()
  await page.getByRole('button', { name: 'Copy: the invitation link' }).click()
  await page.getByText('Copied').first().waitFor()
  const link = (await page.locator('.secret').textContent())?.trim()
  expect(link).toMatch(/\/invitations\//)
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
  expect(await axeViolations(page)).toEqual([])
})
