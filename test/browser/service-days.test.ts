import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { startApp } from '../../src/app/start.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { bucketOf } from '../../src/monitoring/uptime/histogram.ts'
import { createService } from '../../src/status/service/service.ts'
import { writeMonitor } from '../monitoring/histories.ts'
import { testConfig } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testContext } from '../support/context.ts'
import { faintTexts } from '../support/contrast.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { silent } from '../support/scratch.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const { dataDir, settings, remove } = await testData()
const config = testConfig(dns, dataDir, settings)
const { key, api } = await writePast()
const app = await startApp({ config, log: silent })
afterAll(async () => {
  await app.close()
  await dns.close()
  await remove()
})

/** A service with 60 days of history, in which each kind of day occurs. */
async function writePast() {
  const database = await openDatabase({ dataDir, databaseUrl: config.DATABASE_URL, log: silent })
  const now = new Date()
  const at = (milliseconds: number) => new Date(now.getTime() + milliseconds)
  /** At noon, so that no hour belongs to two days. */
  const daysAgo = (days: number, milliseconds = 0) =>
    new Date((Math.floor(now.getTime() / DAY) - days) * DAY + DAY / 2 + milliseconds)
  const db = database.prisma
  const operator = testContext(db, { actor: { kind: 'operator' }, now: () => at(-60 * DAY) })
  const founding = { name: 'Acme', slug: 'acme', contactEmail: 'ops@acme.example' }
  const { organization, apiKey } = await createOrganization(operator, founding)
  const { id: organizationId } = organization
  await db.organization.update({ where: { id: organizationId }, data: { tier: 'PRO' } })
  const actor = { kind: 'apiKey', keyId: apiKey.apiKey.id, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } as const
  const owner = { ...operator, actor }
  const { id: serviceId } = await createService(owner, { name: 'API', status: 'OPERATIONAL' })
  await createService(owner, { name: 'Not watched', status: 'OPERATIONAL' })
  const monitorId = await writeMonitor(db, {
    organizationId,
    serviceId,
    states: [
      ['UP', at(-60 * DAY)],
      ['DOWN', daysAgo(20)],
      ['UP', daysAgo(20, 12 * MINUTE)],
      ['DEGRADED', daysAgo(10)],
      ['UP', daysAgo(10, HOUR)],
    ],
    gaps: [{ from: at(-40 * DAY), to: at(-38 * DAY) }],
    lastKnownAt: at(HOUR),
  })
  await db.monitorHour.createMany({
    data: Array.from({ length: 24 }, (_, ago) => {
      const latencies = new Array<number>(64).fill(0)
      latencies[bucketOf(80 + ago)] = 50
      latencies[bucketOf(400)] = 10
      const hour = new Date(Math.floor(now.getTime() / HOUR - ago) * HOUR)
      return { monitorId, hour, up: 60, degraded: 0, down: 0, unknown: 0, latencies }
    }),
  })
  await database.close()
  return { key: apiKey.secret, api: serviceId }
}

/** Takes a screenshot to look at, if requested. */
async function shot(page: Page, name: string): Promise<void> {
  if (process.env['SHOTS']) await page.screenshot({ path: `/tmp/service-days-${name}.png` })
}

const newTab = useChromium()
const openTab = (options: Parameters<typeof newTab>[1] = {}) => newTab((url) => url.startsWith(app.baseUrl), options)
const overview = () => `${app.baseUrl}/status/acme`
const page = () => `${overview()}/services/${api}`

describe('the days of a service', () => {
  test('are drawn side by side, each kind in its own shape, with text', async () => {
    await using tab = await openTab()
    await tab.page.goto(page())
    const bar = tab.page.getByRole('group', { name: /^API, last 90 days: 99\.9\d+% uptime in 5\d d( \d+ h)? of data/ })
    const { width = 0, height = 0 } = (await bar.boundingBox()) ?? {}
    expect(width).toBeGreaterThan(600)
    expect(height).toBeGreaterThan(20)
    /** A bounding box excludes the stroke width, which is the height of the mark. */
    const boxOf = (mark: string) =>
      bar.locator(`path.${mark}`).evaluate((path: SVGPathElement) => {
        const tall = Number.parseFloat(getComputedStyle(path).strokeWidth)
        return { top: path.getBBox().y - tall / 2, tall }
      })
    const [up, down, none] = [await boxOf('up'), await boxOf('down'), await boxOf('none')]
    expect(down.top).toBeLessThan(up.top)
    expect(none.top).toBeGreaterThan(up.top)
    expect(none.tall).toBeLessThan(up.tall / 2)
    expect(await tab.page.locator('svg.days').count()).toBe(1)
    expect(tab.complaints).toEqual([])
  })

  test('are reachable by keyboard from the service’s line, and follow changes', async () => {
    await using tab = await openTab()
    await tab.page.goto(overview())
    await tab.page.locator('#live[data-state=live]').waitFor()
    await tab.page.locator(`#${api} summary`).focus()
    await tab.page.keyboard.press('Enter')
    await tab.page.keyboard.press('Tab')
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(page())
    await tab.page.locator('#live[data-state=live]').waitFor()
    await tab.page.getByText('Down 12 min.').waitFor()
    await tab.page.getByText('Degraded 1 h.').waitFor()
    await tab.page.getByText('Median (solid line)').waitFor()
    await mutate(app.baseUrl, key, 'createIncident', 'Incident', {
      ...{ title: 'Payments fail', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We are looking.' },
      services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }],
    })
    await tab.page.getByRole('link', { name: 'Payments fail', exact: true }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  /** The UTC day, as in addresses. */
  const dayKey = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY).toISOString().slice(0, 10)

  test('open by keyboard: one tab stop, arrows between days, Enter', async () => {
    await using tab = await openTab()
    await tab.page.goto(page())
    await tab.page.locator('#live[data-state=live]').waitFor()
    expect(await tab.page.locator('.bars a[tabindex="0"]').count()).toBe(1)
    await tab.page.locator('.bars a[tabindex="0"]').focus()
    for (let days = 0; days < 20; days++) await tab.page.keyboard.press('ArrowLeft')
    expect(await tab.page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(`?day=${dayKey(20)}`)
    await tab.page.keyboard.press('Enter')
    const details = tab.page.getByRole('dialog')
    await details.getByText('12:00 UTC to 12:12 UTC').waitFor()
    expect(await details.textContent()).toContain('99.166%')
    expect(await axeViolations(tab.page)).toEqual([])
    await shot(tab.page, 'day-wide')
    await details.getByRole('link', { name: 'Day after' }).press('Enter')
    await details.getByText('Nothing to report.').waitFor()
    await tab.page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
    expect(await tab.page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(`?day=${dayKey(20)}`)
    await tab.page.keyboard.press('End')
    expect(await tab.page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(`?day=${dayKey(0)}`)
    expect(tab.complaints).toEqual([])
  })

  test('open from a line of the overview, by keyboard and by click position', async () => {
    await using tab = await openTab()
    await tab.page.goto(overview())
    await tab.page.locator('#live[data-state=live]').waitFor()
    const line = tab.page.locator(`#${api} summary`)
    await line.focus()
    for (let days = 0; days < 11; days++) await tab.page.keyboard.press('ArrowLeft')
    await shot(tab.page, 'line-chosen')
    await tab.page.keyboard.press('Enter')
    const details = tab.page.getByRole('dialog')
    await details.getByText('Degraded 12:00 UTC to 13:00 UTC').waitFor()
    await details.getByRole('button', { name: 'Close' }).click()
    await details.waitFor({ state: 'hidden' })
    // Neither has opened the service's details.
    expect(await tab.page.locator(`#${api} details[open]`).count()).toBe(0)
    const { x = 0, y = 0, width = 0, height = 0 } = (await line.locator('.days').boundingBox()) ?? {}
    await tab.page.mouse.click(x + (width * (90 - 20.5)) / 90, y + height / 2)
    await details.getByText('12:00 UTC to 12:12 UTC').waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('update while they are open', async () => {
    await using tab = await openTab()
    await tab.page.goto(overview())
    await tab.page.locator('#live[data-state=live]').waitFor()
    await tab.page.locator(`#${api} summary`).focus()
    await tab.page.keyboard.press('ArrowLeft')
    await tab.page.keyboard.press('End')
    await tab.page.keyboard.press('Enter')
    const details = tab.page.getByRole('dialog')
    await details.getByRole('heading').first().waitFor()
    await mutate(app.baseUrl, key, 'createIncident', 'Incident', {
      ...{ title: 'Seen in the open day', status: 'INVESTIGATING', impact: 'MINOR', message: 'We are looking.' },
      services: [{ serviceId: api, status: 'DEGRADED_PERFORMANCE' }],
    })
    await details.getByText('Seen in the open day').waitFor()
    expect(tab.complaints).toEqual([])
  })

  test.each(['light', 'dark'] as const)('open by touch on a phone, in the %s', async (colorScheme) => {
    await using tab = await openTab({ colorScheme, viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.page.goto(page())
    await tab.page.locator('#live[data-state=live]').waitFor()
    const link = tab.page.locator(`.bars a[href="?day=${dayKey(10)}"] rect`)
    const { width = 0, height = 0, x = 0 } = (await link.boundingBox()) ?? {}
    expect(width).toBeGreaterThan(24)
    expect(height).toBeGreaterThan(44)
    // The newest days are in view, scrolling shows older ones.
    expect(x).toBeGreaterThan(0)
    await shot(tab.page, `service-390-${colorScheme}`)
    await link.tap()
    const details = tab.page.getByRole('dialog')
    await details.getByText('Degraded 12:00 UTC to 13:00 UTC').waitFor()
    expect(await axeViolations(tab.page)).toEqual([])
    expect(await faintTexts(tab.page)).toEqual([])
    await shot(tab.page, `day-390-${colorScheme}`)
    expect(tab.complaints).toEqual([])
  })

  test.each(['24h', '7d', '30d', 'year'])('are shown for the range %s', async (range) => {
    await using tab = await openTab()
    await tab.page.goto(`${page()}?range=${range}`)
    await tab.page.locator('.ranges [aria-current]').waitFor()
    expect(await axeViolations(tab.page)).toEqual([])
    await shot(tab.page, `range-${range}`)
  })

  test('open on a phone’s overview, which shows the newest thirty and scrolls to the others', async () => {
    await using tab = await openTab({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await tab.page.goto(overview())
    await tab.page.locator('#live[data-state=live]').waitFor()
    const line = tab.page.locator(`#${api} summary`)
    const bar = line.locator('.days')
    await line.scrollIntoViewIfNeeded()
    /** Returns the position of a day on the screen. */
    const middleOf = async (daysAgo: number) => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await bar.boundingBox()) ?? {}
      return { x: x + (width * (89.5 - daysAgo)) / 90, y: y + height / 2 }
    }
    const { x: first } = await middleOf(29)
    const { x: left = 0, width = 0 } = (await line.boundingBox()) ?? {}
    expect(first).toBeGreaterThan(left)
    expect((await middleOf(31)).x).toBeLessThan(left)
    await shot(tab.page, 'overview-390')
    const there = await middleOf(10)
    await tab.page.touchscreen.tap(there.x, there.y)
    const details = tab.page.getByRole('dialog')
    await details.getByText('Degraded 12:00 UTC to 13:00 UTC').waitFor()
    await shot(tab.page, 'overview-390-day')
    await details.getByRole('button', { name: 'Close' }).tap()
    await details.waitFor({ state: 'hidden' })
    // Swiping right shows earlier days; name, state and figure stay.
    const session = await tab.page.context().newCDPSession(tab.page)
    const { x, y } = await middleOf(15)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints })
    await touch('touchStart', { x, y })
    for (let moved = 20; moved <= 200; moved += 20) await touch('touchMove', { x: x + moved, y })
    await touch('touchEnd')
    await expect.poll(async () => (await middleOf(31)).x).toBeGreaterThan(left)
    const name = await line.locator('.name').boundingBox()
    expect(Math.abs((name?.x ?? 0) - left)).toBeLessThan(1)
    const figure = await line.locator('.figure').boundingBox()
    expect(Math.abs((figure?.x ?? 0) + (figure?.width ?? 0) - left - width)).toBeLessThan(1)
    await shot(tab.page, 'overview-390-scrolled')
    // The keys scroll too: each day that they select is in view.
    await line.focus()
    await tab.page.keyboard.press('Home')
    const chosen = await bar.locator('.chosen').boundingBox()
    expect(Number(chosen?.x) + Number(chosen?.width)).toBeGreaterThan(left)
    await shot(tab.page, 'overview-390-first')
    expect(await axeViolations(tab.page)).toEqual([])
    const sideways = await tab.page.evaluate(() => document.documentElement.scrollWidth)
    expect(sideways).toBe(390)
    expect(tab.complaints).toEqual([])
  })

  test.each([
    ['24h', 24, 2, '?day='],
    ['7d', 7, 6, '?day='],
    ['year', 53, 3, '&days=7'],
  ] as const)('open from the overview of the range %s, which stays up to date', async (range, least, back, query) => {
    await using tab = await openTab()
    await tab.page.goto(overview())
    await tab.page.locator('.ranges').getByRole('link').nth(['24h', '7d', '30d', '90d', 'year'].indexOf(range)).click()
    await tab.page.waitForURL(`**?range=${range}#ranges`)
    // The ranges stay in view, and the strokes say their time to a pointer.
    expect((await tab.page.locator('.ranges').boundingBox())?.y).toBeGreaterThanOrEqual(0)
    await tab.page.locator('#live[data-state=live]').waitFor()
    const line = tab.page.locator(`#${api} summary`)
    const strokes = (await line.locator('.days').getAttribute('viewBox'))?.split(' ')[2]
    expect((Number(strokes) + 1) / 4).toBeGreaterThanOrEqual(least)
    await line.locator('.days').hover()
    expect(await line.locator('.days title').textContent()).toMatch(/\d/)
    await line.focus()
    for (let count = 0; count < back; count++) await tab.page.keyboard.press('ArrowLeft')
    const opened = tab.page.waitForRequest((request) => request.url().includes(`${page()}?day=`))
    await tab.page.keyboard.press('Enter')
    expect((await opened).url()).toContain(query)
    if (range === 'year') await tab.page.getByRole('dialog').getByText('12:12 UTC').waitFor()
    else await tab.page.getByRole('dialog').getByRole('heading').first().waitFor()
    await tab.page.keyboard.press('Escape')
    const title = `Seen in the range ${range}`
    const { id } = await mutate<{ id: string }>(app.baseUrl, key, 'createIncident', 'Incident', {
      ...{ title, status: 'INVESTIGATING', impact: 'MINOR', message: 'We are looking.' },
      services: [{ serviceId: api, status: 'DEGRADED_PERFORMANCE' }],
    })
    await tab.page.locator('#open-incidents').getByText(title).waitFor()
    expect(new URL(tab.page.url()).search).toBe(`?range=${range}`)
    await mutate(app.baseUrl, key, 'postIncidentUpdate', 'IncidentUpdate', {
      ...{ incidentId: id, status: 'RESOLVED', message: 'It is over.' },
    })
    expect(tab.complaints).toEqual([])
  })

  test('are reachable without JavaScript', async () => {
    await using tab = await openTab({ javaScriptEnabled: false })
    await tab.page.goto(overview())
    await tab.page.locator(`#${api} summary`).click()
    await tab.page.locator(`#${api} .days-link`).click()
    await tab.page.getByText('Down 12 min.').waitFor()
    await tab.page.locator('.latency svg').waitFor()
    await tab.page.getByLabel('Open a day').fill(dayKey(20))
    await tab.page.getByRole('button', { name: 'Open' }).click()
    await tab.page.getByText('12:00 UTC to 12:12 UTC').waitFor()
    await tab.page.getByRole('link', { name: 'Day after' }).click()
    await tab.page.getByText('Nothing to report.').waitFor()
  })

  test.each(['light', 'dark'] as const)('have enough contrast in the %s, on any width', async (colorScheme) => {
    await using tab = await openTab({ colorScheme, viewport: { width: 320, height: 640 } })
    await tab.page.goto(page())
    expect(await faintTexts(tab.page)).toEqual([])
    const sideways = await tab.page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return scrollWidth > clientWidth
    })
    expect(sideways).toBe(false)
    expect(tab.complaints).toEqual([])
  })
})
