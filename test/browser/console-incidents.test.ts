import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const { prisma } = database
const owner = await acme.signIn('OWNER')
for (const name of ['API', 'Website', 'Search']) await owner.post('services/new', { name, description: '' })
const newTab = useChromium()

/** A tab of a new member. */
async function openTab(path: string, options: BrowserContextOptions = {}) {
  const { token } = await acme.signIn('EDITOR')
  const tab = await newTab((url) => url.startsWith(app.baseUrl), options)
  await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await tab.page.goto(at(path))
  return tab
}

const at = (path: string) => `${app.baseUrl}/console/acme/${path}`
const report = (title: string) =>
  owner
    .post('incidents/new', { title, status: 'INVESTIGATING', impact: 'MINOR', message: 'We look into it.' })
    .then(({ location }) => location?.split('/').at(-1) ?? '')
const live = (page: Page) => page.locator('#live[data-state=live]').waitFor()
const statusOf = async (title: string) => (await prisma.incident.findFirst({ where: { title } }))?.status

describe('an incident is reported', () => {
  test('on a phone, by touch, with one hand', async () => {
    await using tab = await openTab('now', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    const { page } = tab
    await tap(page.getByRole('link', { name: 'Report an incident' }))
    await page.getByLabel('Title', { exact: true }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await tap(page.getByLabel('Title', { exact: true }))
    await page.keyboard.type('By touch')
    await tap(page.getByLabel('Message', { exact: true }))
    await page.keyboard.type('It is slow.')
    await page.getByLabel('API').selectOption({ label: 'Major outage' })
    const button = page.getByRole('button', { name: 'Report', exact: true })
    const { y = 0, width = 0 } = (await button.boundingBox()) ?? {}
    // Within reach of the thumb that holds the phone.
    expect([y > 844 / 2, width > 390 / 3]).toEqual([true, true])
    await tap(button)
    await page.getByRole('heading', { name: 'By touch' }).waitFor()
    await tap(page.getByRole('button', { name: 'Resolve' }))
    await page.locator('#timeline').getByText('Resolved', { exact: true }).waitFor()
    expect([await statusOf('By touch'), tab.complaints]).toEqual(['RESOLVED', []])
  })

  test('and an invalid field is reported beside it before it is sent', async () => {
    await using tab = await openTab('incidents/new')
    const { page } = tab
    const title = page.getByLabel('Title', { exact: true })
    const problem = page.locator('#title-problem')
    await page.getByLabel('Message', { exact: true }).focus()
    expect(await problem.count()).toBe(0)
    await title.fill('Slow')
    await title.fill(' ')
    await title.blur()
    expect(await problem.textContent()).toBe('Must not be blank.')
    expect([await title.getAttribute('aria-invalid'), await title.getAttribute('aria-describedby')]).toEqual([
      'true',
      'title-problem',
    ])
    expect(await axeViolations(page)).toEqual([])
    await title.fill('Slow answers')
    expect([await problem.count(), await title.getAttribute('aria-describedby')]).toEqual([0, null])
    await page.getByRole('button', { name: 'Report', exact: true }).click()
    expect(await page.locator('#message-problem').textContent()).toBe('Must not be blank.')
    await expect.poll(() => focusedName(page)).toBe('message')
    // A preview only needs the message.
    await page.getByLabel('Message', { exact: true }).fill('We *look* into it.')
    await title.fill('')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('#preview').waitFor({ state: 'attached' })
    expect([await statusOf('Slow answers'), tab.complaints]).toEqual([undefined, []])
  })

  test('by keyboard only', async () => {
    await using tab = await openTab('now')
    const { page } = tab
    await tabTo(page, page.getByRole('link', { name: 'Report an incident' }))
    await page.keyboard.press('Enter')
    await expect.poll(() => focusedName(page)).toBe('title')
    await page.keyboard.type('By keyboard')
    await tabTo(page, page.getByLabel('Impact'))
    await page.keyboard.type('Critical')
    await tabTo(page, page.getByLabel('Message', { exact: true }))
    await page.keyboard.type('It is slow.')
    await tabTo(page, page.getByLabel('Website'))
    await page.keyboard.type('Partial')
    await tabTo(page, page.getByRole('button', { name: 'Report', exact: true }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
    const found = await prisma.incident.findFirst({ where: { title: 'By keyboard' }, include: { services: true } })
    expect(found).toMatchObject({ impact: 'CRITICAL', services: [{ status: 'PARTIAL_OUTAGE' }] })
  })

  test('without JavaScript, after a preview', async () => {
    await using tab = await openTab('incidents', { javaScriptEnabled: false })
    const { page } = tab
    await page.getByRole('link', { name: 'Report an incident' }).click()
    await page.getByLabel('Title', { exact: true }).fill('Without a script')
    await page.getByLabel('Message', { exact: true }).fill('It is **slow**.')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('#preview strong', { hasText: 'slow' }).waitFor()
    await page.getByRole('button', { name: 'Report', exact: true }).click()
    await page.getByRole('heading', { name: 'Without a script' }).waitFor()
    await page.getByRole('button', { name: 'Resolve' }).click()
    await page.locator('#timeline').getByText('Resolved', { exact: true }).waitFor()
    expect(await statusOf('Without a script')).toBe('RESOLVED')
  })
})

test('a post-mortem is drafted from the timeline and published, and open pages of the incident show it', async () => {
  const id = await report('The disk was full')
  await owner.post(`incidents/${id}/updates`, { status: 'RESOLVED', message: 'There is room again.' })
  await using visitor = await newTab((url) => url.startsWith(app.baseUrl), { reducedMotion: 'reduce' })
  await visitor.page.goto(`${app.baseUrl}/status/acme/incidents/${id}`)
  await live(visitor.page)
  await using tab = await openTab(`incidents/${id}`)
  const { page } = tab
  await page.getByRole('link', { name: 'Write a post-mortem' }).click()
  await page.getByRole('button', { name: 'Draft from the timeline' }).click()
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await expect.poll(() => message.inputValue()).toContain('There is room again.')
  await message.fill('A **log** had filled it.')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('A draft: only members see it.').waitFor()
  expect(await visitor.page.getByText('had filled it').count()).toBe(0)
  await page.getByRole('button', { name: 'Publish the saved text' }).click()
  await page.getByText('What you save is shown at once.').waitFor()
  await visitor.page.locator('#postmortem strong', { hasText: 'log' }).waitFor()
  expect([await axeViolations(page), await axeViolations(visitor.page)]).toEqual([[], []])
  expect([tab.complaints, visitor.complaints]).toEqual([[], []])
})

describe('two people in one organization', () => {
  test('see each other’s updates, and lose no input', async () => {
    const id = await report('Shared')
    await using ada = await openTab(`incidents/${id}`)
    await using ben = await openTab(`incidents/${id}`)
    await Promise.all([live(ada.page), live(ben.page)])
    await ben.page.getByLabel('Message', { exact: true }).click()
    await ben.page.keyboard.type('Ben was typing')
    await ada.page.getByLabel('Status').selectOption({ label: 'Identified' })
    await ada.page.getByLabel('Message', { exact: true }).fill('Ada knows why.')
    await ada.page.getByRole('button', { name: 'Post update' }).click()
    await ben.page.locator('#timeline').getByText('Ada knows why.').waitFor()
    await ben.page.keyboard.type(' all the time.')
    expect(await ben.page.getByLabel('Message', { exact: true }).inputValue()).toBe('Ben was typing all the time.')
    await ben.page.getByRole('button', { name: 'Post update' }).click()
    await ben.page.getByText('Another person has changed this in the meantime.').waitFor()
    await ben.page.getByText('Now: Identified').waitFor()
    await ben.page.getByRole('button', { name: 'Post update' }).click()
    await ada.page.locator('#timeline').getByText('Ben was typing all the time.').waitFor()
    expect([ada.complaints, ben.complaints.filter((each) => !each.includes('422'))]).toEqual([[], []])
  })

  test('keep their input in a form that another person made superfluous', async () => {
    const id = await report('Resolved twice')
    await using ada = await openTab(`incidents/${id}`)
    await using ben = await openTab(`incidents/${id}`)
    await Promise.all([live(ada.page), live(ben.page)])
    const message = ben.page.getByLabel('Message when resolved')
    await message.fill('Ben turned it off and on')
    await ada.page.getByRole('button', { name: 'Resolve', exact: true }).click()
    await ben.page.locator('#timeline').getByText('This incident is resolved.').waitFor()
    await ben.page.keyboard.type(' again.')
    expect(await message.inputValue()).toBe('Ben turned it off and on again.')
  })

  test('keep a preview and input when something else changes', async () => {
    await using ada = await openTab('incidents/new')
    const { page } = ada
    await page.getByLabel('Title', { exact: true }).fill('A draft')
    await page.getByLabel('Message', { exact: true }).fill('Just *words*.')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('#preview em').waitFor()
    await live(page)
    const before = await page.getAttribute('body', 'data-cursor')
    await report('Meanwhile')
    await expect.poll(() => page.getAttribute('body', 'data-cursor')).not.toBe(before)
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('A draft')
    expect(await page.locator('#preview em').count()).toBe(1)
  })

  test('see a new incident on Now, and who is working on it', async () => {
    await using ada = await openTab('now')
    await live(ada.page)
    const id = await report('Seen at once')
    await ada.page.locator(`#${id}`, { hasText: 'last update by' }).waitFor()
  })
})

describe('services', () => {
  const names = async () =>
    (
      await prisma.service.findMany({ where: { organizationId: acme.organization.id }, orderBy: { position: 'asc' } })
    ).map(({ name }) => name)

  test('are ordered by dragging and by the arrow keys, which others see', async () => {
    await using ada = await openTab('services')
    await using ben = await openTab('services')
    await Promise.all([live(ada.page), live(ben.page)])
    const { page } = ada
    const handle = (name: string) => page.getByRole('button', { name: `Move ${name}: drag` })
    await drag(page, handle('Search'), handle('API'))
    await expect.poll(names).toEqual(['Search', 'API', 'Website'])
    const shown = () => ben.page.locator('.ordered a').allTextContents()
    await expect.poll(shown).toEqual(['Search', 'API', 'Website'])
    await handle('Search').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await expect.poll(names).toEqual(['API', 'Website', 'Search'])
    await expect.poll(shown).toEqual(['API', 'Website', 'Search'])
    expect(await handle('Search').evaluate((element) => element === document.activeElement)).toBe(true)
    expect([ada.complaints, ben.complaints]).toEqual([[], []])
  })

  test('are ordered without JavaScript', async () => {
    await using tab = await openTab('services', { javaScriptEnabled: false })
    await tab.page.getByRole('button', { name: 'Move API down' }).click()
    await tab.page.locator('.ordered li:first-child', { hasText: 'Website' }).waitFor()
    expect(await names()).toEqual(['Website', 'API', 'Search'])
  })
})

test('a refused form violates no rule of axe', async () => {
  await using tab = await openTab('incidents/new')
  const { page } = tab
  await page.locator('#new-incident').evaluate((form: HTMLFormElement) => form.toggleAttribute('novalidate', true))
  await page.getByRole('button', { name: 'Report', exact: true }).click()
  await page.locator('#title-problem').waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('axe reports a violation', async () => {
  await using tab = await openTab('now')
  await tab.page.evaluate(() => document.querySelector('main')?.append(document.createElement('input')))
  expect((await axeViolations(tab.page)).join()).toMatch(/^label: <input>/)
})

/** Taps an element, which has to be large enough for a thumb. */
async function tap(target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded()
  const { height = 0 } = (await target.boundingBox()) ?? {}
  expect(height).toBeGreaterThanOrEqual(44)
  await target.tap()
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if (await target.evaluate((element) => element === document.activeElement)) return
  }
  throw new Error('The tabulator does not lead there.')
}

const focusedName = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('name'))

async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  const [start, end] = [await from.boundingBox(), await to.boundingBox()]
  if (!start || !end) throw new Error('The handles are not shown.')
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2)
  await page.mouse.down()
  await page.mouse.move(end.x + end.width / 2, end.y + 2, { steps: 8 })
  await page.mouse.up()
}
