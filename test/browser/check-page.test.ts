import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { givenCheckPages, serve } from '../support/check-pages.ts'
import { useChromium } from '../support/chromium.ts'
import { faintTexts } from '../support/contrast.ts'
import { answer, answers, domainReport, ipReport, listing } from '../support/reports.ts'

const address = '203.0.113.7'
const listed = ipReport(
  address,
  answers({ PSBL: listing, Barracuda: { error: 'timeout', note: 'No answer in time.' } }),
)
const row = (list: string) => `#pending li[data-list="${list}"]`

let pages: Awaited<ReturnType<typeof givenCheckPages>>
let server: Awaited<ReturnType<typeof serve>>

beforeAll(async () => {
  pages = await givenCheckPages()
  server = await serve(pages.app)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const newTab = useChromium()
const openTab = (options: BrowserContextOptions = {}) => newTab((url) => url.startsWith(server.url), options)

/** Opens the streaming page of a check. Returns the check. */
async function openCheck(page: Page, target = address) {
  const next = pages.nextCheck()
  await page.goto(`${server.url}/check/${target}`, { waitUntil: 'commit' })
  return next
}

const stateOf = (page: Page, list: string) => page.locator(row(list)).getAttribute('data-state')
const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

describe('with JavaScript', () => {
  test('answers fill in while other lists are pending, then the report replaces them', async () => {
    await using tab = await openTab()
    const { page } = tab
    const check = await openCheck(page)
    await page.locator(row('DroneBL')).waitFor()
    expect(await stateOf(page, 'PSBL')).toBe('pending')

    check.step({ kind: 'answer', target: address, result: answer('SpamCop') })
    await page.locator(`${row('SpamCop')}[data-state=clean]`).waitFor()
    expect(await stateOf(page, 'PSBL')).toBe('pending')
    await page.getByText('1 of 6 answers received.').waitFor()

    check.step({ kind: 'answer', target: address, result: answer('PSBL', listing) })
    await page.locator(`${row('PSBL')}[data-state=listed]`).waitFor()
    await page.getByText('2 of 6 answers received, 1 with a listing.').waitFor()
    expect(await page.getByRole('status').textContent()).toBe(`PSBL lists ${address}.`)
    expect(await page.locator('#report').count()).toBe(0)
    expect(await page.locator('#pending template').count()).toBe(0)
    expect(await page.locator('#pending li').count()).toBe(6)

    check.step({ kind: 'report', report: listed })
    await page.locator('#report').waitFor()
    await page.waitForLoadState()
    expect(await page.locator('#pending').count()).toBe(0)
    expect(await page.title()).toBe(`Listed: ${address} · Allclear`)
    expect(await page.getByRole('status').textContent()).toBe(`${address} is listed on 1 of 6 blacklists: PSBL.`)
    expect(await page.locator('time').getAttribute('title')).toContain('2026')
    expect(tab.complaints).toEqual([])
  })

  test('the addresses of a domain appear when resolved, then their answers fill in', async () => {
    await using tab = await openTab()
    const { page } = tab
    const check = await openCheck(page, 'example.com')
    check.step({ kind: 'resolved', addresses: [address, '10.0.0.5'], checked: [address] })
    await page.getByRole('heading', { name: 'Not checked' }).waitFor()
    check.step({ kind: 'answer', target: address, result: answer('PSBL', listing) })
    await page.locator(`#pending li[data-for="${address}"][data-state=listed]`).waitFor()
    await page.getByText('1 of 8 answers received, 1 with a listing.').waitFor()
    check.step({
      kind: 'report',
      report: domainReport('example.com', [listed], { resolvedIps: [address, '10.0.0.5'] }),
    })
    await page.locator('#report').waitFor()
    expect(tab.complaints).toEqual([])
  })

  test.each([
    ['listed', listed],
    ['clean', ipReport(address)],
    ['incomplete', ipReport(address, answers({ PSBL: { error: 'timeout', note: 'No answer in time.' } }))],
  ])('the lists keep their place when the report arrives, %s', async (_, report) => {
    await using tab = await openTab()
    const { page } = tab
    const topOfLists = async (part: string) => (await page.locator(`${part} .lists`).boundingBox())?.y
    const check = await openCheck(page)
    check.step({ kind: 'answer', target: address, result: answer('SpamCop') })
    await page.getByText('1 of 6 answers received.').waitFor()
    const before = await topOfLists('#pending')
    check.step({ kind: 'report', report })
    await page.locator('#report').waitFor()
    expect(Math.abs(Number(await topOfLists('#report')) - Number(before))).toBeLessThanOrEqual(8)
  })

  test('a lost connection is reported after the timeout', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.clock.install()
    const check = await openCheck(page)
    await page.locator(row('DroneBL')).waitFor()
    await page.clock.fastForward(15_000)
    await page.locator('#pending').getByText('The connection was lost before the report arrived.').waitFor()
    check.end()
  })
})

describe('without JavaScript', () => {
  test('pending lists are shown, then the finished report replaces them', async () => {
    await using tab = await openTab({ javaScriptEnabled: false })
    const { page } = tab
    const check = await openCheck(page)
    await page.locator(row('DroneBL')).waitFor()
    check.step({ kind: 'answer', target: address, result: answer('PSBL', listing) })
    check.step({ kind: 'report', report: listed })
    await page.locator('#report').waitFor()
    expect(await page.locator('#pending').isVisible()).toBe(false)
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual([address])
    expect(await page.getByRole('link', { name: 'Contest this listing on PSBL' }).isVisible()).toBe(true)
    expect(tab.complaints).toEqual([])
  })

  test('the form leads to the report', async () => {
    await using tab = await openTab({ javaScriptEnabled: false })
    const { page } = tab
    await page.goto(server.url)
    await page.getByLabel('IP address or domain').fill(' example.com ')
    const next = pages.nextCheck()
    await page.getByLabel('IP address or domain').press('Enter', { noWaitAfter: true })
    const check = await next
    check.step({ kind: 'report', report: domainReport('example.com', []) })
    await page.locator('#report').waitFor()
    expect(new URL(page.url()).pathname).toBe('/check/example.com')
  })
})

describe('the reader', () => {
  test('leaving the page ends the check', async () => {
    await using tab = await openTab()
    const check = await openCheck(tab.page)
    await tab.page.goto('about:blank')
    await check.returned
  })

  test('going back to a report shows it again without a second check', async () => {
    await using tab = await openTab()
    const { page } = tab
    const check = await openCheck(page)
    check.step({ kind: 'report', report: listed })
    await page.locator('#report').waitFor()
    await page.waitForLoadState()
    await page.goto(server.url)
    await page.goBack()
    await page.locator('#report').waitFor()
    expect(await page.title()).toBe(`Listed: ${address} · Allclear`)
  })

  test('the keyboard reaches every control in order', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.goto(server.url)
    const focused = [
      'Skip to content',
      'Allclear',
      'Status pages',
      'Check',
      'Docs',
      'GraphQL',
      'Console',
      'Sign in',
      'How it works',
      'Find a status page',
      'target',
      'Check',
      address,
    ]
    for (const expected of focused) {
      await page.keyboard.press('Tab')
      const name = await page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim())
      expect(name).toBe(expected)
      const outline = await page.evaluate(
        () => document.activeElement && getComputedStyle(document.activeElement).outlineStyle,
      )
      expect(outline).toBe('solid')
    }
  })

  test('the skip link moves the focus to the content', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.goto(server.url)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Sign in')
  })

  test('with a screen 320 pixels wide never scrolls sideways', async () => {
    await using tab = await openTab({ viewport: { width: 320, height: 640 } })
    const { page } = tab
    for (const path of ['/', `/check/${'a'.repeat(300)}`]) {
      await page.goto(server.url + path)
      expect(await scrollsSideways(page)).toBe(false)
    }
    const wide = { ...listing, response: `https://${'x'.repeat(380)}`, note: 'y'.repeat(300) }
    const v6 = ipReport(
      '2001:db8:1234:5678:9abc:def0:1234:5678',
      answers({ PSBL: wide, SpamCop: { error: 'unsupported' } }),
    )
    const name = `${'long-label.'.repeat(12)}example.com`
    for (const report of [v6, domainReport(name, [v6], { resolvedIps: [v6.target, 'fd00::1'] })]) {
      const check = await openCheck(page, report.target)
      check.step({ kind: 'report', report })
      await page.locator('#report').waitFor()
      expect(await scrollsSideways(page)).toBe(false)
    }
  })

  test('printing shows the report and the URLs of its links', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.emulateMedia({ media: 'print' })
    const check = await openCheck(page)
    check.step({ kind: 'report', report: listed })
    await page.locator('#report').waitFor()
    expect(await page.getByRole('link', { name: 'Check again' }).isVisible()).toBe(false)
    const printed = await page
      .locator('.lists a')
      .first()
      .evaluate((link) => getComputedStyle(link, '::after').getPropertyValue('content'))
    expect(printed).toContain('contest?target=')
  })

  test('reduced motion disables animations', async () => {
    await using tab = await openTab({ reducedMotion: 'reduce' })
    const check = await openCheck(tab.page)
    const spinner = tab.page.locator(`${row('PSBL')} svg`)
    expect(await spinner.evaluate((svg) => getComputedStyle(svg).animationName)).toBe('none')
    check.end()
  })

  test.each(['light', 'dark'] as const)(
    'in the %s reads every word with enough contrast (WCAG 2.2 AA, 1.4.3)',
    async (colorScheme) => {
      await using tab = await openTab({ colorScheme })
      const { page } = tab
      await page.goto(server.url)
      const faint = await faintTexts(page)
      for (const report of [
        listed,
        ipReport(address),
        ipReport(address, answers({ PSBL: { error: 'unsupported' } })),
      ]) {
        const check = await openCheck(page)
        await page.locator(row('DroneBL')).waitFor()
        faint.push(...(await faintTexts(page)))
        check.step({ kind: 'report', report })
        await page.locator('#report').waitFor()
        faint.push(...(await faintTexts(page)))
      }
      expect(faint).toEqual([])
      const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
      expect(background).toBe(colorScheme === 'dark' ? 'rgb(20, 24, 26)' : 'rgb(251, 251, 249)')
    },
  )
})
