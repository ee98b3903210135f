import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { casesAt, sample } from '../support/runs.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
await database.prisma.organization.update({ where: { id: acme.organization.id }, data: { tier: 'TEAM' } })
const owner = await acme.signIn('OWNER', { isOperator: true })
// Prerequisites that earlier actions only create when every action is tried in every way.
await owner.post('services/new', { name: 'API' })
await owner.post('pages/new', { name: 'Depot', slug: 'depot', shows: 'ALL' })
const openTab = useChromium()

const work = { message: 'Short.', startsAt: '2999-01-01T02:00', endsAt: '2999-01-01T03:00' }
const operator = '/console/operator/organizations'

type Action = readonly [
  screen: string,
  fields: Readonly<Record<string, string>>,
  button: string,
  shownAt: string,
  text: string,
]

/**
 * The main action of each screen: the screen, the fields to fill in, the button, and the page and text that show
 * success.
 */
const actions = (way: number): readonly Action[] => [
  ['start', { target: `http://127.0.0.1:420${way}/` }, 'Watch it', 'monitors', `127.0.0.1:420${way}`],
  ['services/new', { name: `Website ${way}` }, 'Add', 'services', `Website ${way}`],
  ['services/groups/new', { name: `Europe ${way}` }, 'Add', 'services', `Europe ${way}`],
  [
    'monitors/new?kind=HTTP',
    { name: `Home ${way}`, 'http.url': 'http://127.0.0.1:3/' },
    'Save',
    'monitors',
    `Home ${way}`,
  ],
  ['incidents/new', { title: `Slow ${way}`, message: 'We look.' }, 'Report', 'incidents', `Slow ${way}`],
  ['maintenance/new', { title: `Disk ${way}`, ...work }, 'Schedule', 'maintenance', `Disk ${way}`],
  ['subscribers/new', { webhook: `https://hooks${way}.example/` }, 'Add', 'subscribers', `hooks${way}.example`],
  ['pages/new', { name: `Office ${way}`, slug: `office-${way}` }, 'Create', 'pages', `Office ${way}`],
  [
    'alerts/channels/new?kind=ntfy',
    { name: `Phone ${way}`, 'ntfy.topic': 'acme' },
    'Create channel',
    'alerts',
    `Phone ${way}`,
  ],
  ['integrations/new?kind=GENERIC', { name: `Own tool ${way}` }, 'Save', 'integrations', `Own tool ${way}`],
  ['templates/new', { name: `Outage ${way}`, message: 'Sorry.' }, 'Save', 'templates', `Outage ${way}`],
  ['people', { email: `ben${way}@example.com` }, 'Invite', 'people', `ben${way}@example.com`],
  ['keys', { name: `Deployments ${way}` }, 'Create key', 'keys', `Deployments ${way}`],
  ['page', { description: `Mail ${way}.` }, 'Save', '/status/acme', `Mail ${way}.`],
  ['account', { name: `Ada ${way}` }, 'Save', 'people', `Ada ${way}`],
  ['log', { kind: 'PAGE_CREATED' }, 'Filter', '', 'Depot'],
  ['blacklists', { targets: `192.0.2.${way}` }, 'Check', '', `192.0.2.${way}`],
  [operator, { text: 'acme' }, 'Search', '', 'The acme'],
]

/** How a person operates the browser. */
interface Way {
  readonly options: BrowserContextOptions
  fill(page: Page, field: Locator, value: string): Promise<void>
  press(page: Page, button: Locator): Promise<void>
}

const isSelect = (field: Locator) => field.evaluate((element) => element.tagName === 'SELECT')

async function set(field: Locator, value: string): Promise<void> {
  if (await isSelect(field)) await field.selectOption(value)
  else await field.fill(value)
}

/** Presses the tab key until an element has the focus. */
async function reach(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 200; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The tab key does not lead to ${target}.`)
}

const ways: Readonly<Record<string, Way>> = {
  'without scripts': {
    options: { javaScriptEnabled: false },
    fill: (_page, field, value) => set(field, value),
    press: (_page, button) => button.click(),
  },
  'by keyboard alone': {
    options: {},
    async fill(page, field, value) {
      await reach(page, field)
      // How keys work in a date field is up to the browser.
      if ((await field.getAttribute('type')) === 'datetime-local') return field.fill(value)
      if (!(await isSelect(field))) {
        await page.keyboard.press('ControlOrMeta+A')
        return page.keyboard.type(value)
      }
      for (let presses = 0; presses < 100 && (await field.inputValue()) !== value; presses += 1)
        await page.keyboard.press('ArrowDown')
    },
    async press(page, button) {
      await reach(page, button)
      await page.keyboard.press('Enter')
    },
  },
  'by touch on a phone': {
    options: { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } },
    async fill(_page, field, value) {
      if (!(await isSelect(field))) await field.tap()
      await set(field, value)
    },
    async press(_page, button) {
      const { height = 0 } = (await button.boundingBox()) ?? {}
      expect(height).toBeGreaterThanOrEqual(44)
      await button.tap()
    },
  },
}

const names = Object.keys(ways)

describe.each(Object.entries(ways))('%s', (name, way) => {
  const number = names.indexOf(name) + 1
  test.each(casesAt(name, sample(actions(number)), names))(
    '%s does its work',
    async (screen, fields, button, shownAt, text) => {
      await using tab = await openTab((url) => url.startsWith(app.baseUrl), way.options)
      const { page } = tab
      await page.context().addCookies([{ name: 'allclear_session', value: owner.token, url: app.baseUrl }])
      const open = (path: string) =>
        page.goto(new URL(path.startsWith('/') ? path : `/console/acme/${path}`, app.baseUrl).href)
      await open(screen)
      for (const [field, value] of Object.entries(fields))
        await way.fill(page, page.locator(`main [name="${field}"]`), value)
      const form = page.locator('main form').filter({ has: page.locator(`[name="${Object.keys(fields)[0]}"]`) })
      // With scripts, the table of a check grows on its page.
      const done = screen === 'blacklists' ? null : page.waitForEvent('domcontentloaded')
      await way.press(page, form.getByRole('button', { name: button, exact: true }))
      await done
      expect(await page.locator('[aria-invalid=true]').count()).toBe(0)
      if (shownAt !== '') await open(shownAt)
      await page.locator('main, footer').getByText(text).first().waitFor()
    },
  )
})
