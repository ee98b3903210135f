import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { createService } from '../../src/status/service/service.ts'
import { createServiceGroup } from '../../src/status/service/service-group.ts'
import type { WrittenHistory } from '../monitoring/histories.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { testApp } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { differenceFrom } from '../support/picture.ts'
import { rawGet } from '../support/raw-get.ts'

const database = await testDatabase()
const { prisma } = database
const dns = await startDnsServer()
const app = await testApp({ dns, database, settings: { ROLE: 'web' }, now: () => noon })
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const url = `${app.baseUrl}/status/hundred`
await hundredServices()
const openTab = useChromium()

/** An organization with a hundred services, some of them in each state. */
async function hundredServices(): Promise<void> {
  const operator = testContext(prisma, { actor: { kind: 'operator' }, now: () => at(-89 * DAY) })
  const founding = { name: 'Northwind', slug: 'hundred', contactEmail: 'ops@northwind.example' }
  const { organization, apiKey } = await createOrganization(operator, founding)
  const { id: organizationId } = organization
  await prisma.organization.update({ where: { id: organizationId }, data: { tier: 'TEAM' } })
  const actor = { kind: 'apiKey', keyId: apiKey.apiKey.id, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } as const
  const then = (milliseconds: number) => ({ ...operator, actor, now: () => at(milliseconds) })
  const founded = then(-89 * DAY)
  const groups: string[] = []
  for (const name of ['Mail', 'Web', 'Storage', 'Data bases in Frankfurt and Paris']) {
    groups.push((await createServiceGroup(founded, { name, description: `What ${name} is for.` })).id)
  }
  const services: string[] = []
  for (let index = 0; index < 100; index++) {
    const name =
      index === 3 ? 'A service whose name is as long as names of services may be for once' : `Service ${index}`
    const groupId = index < 20 ? null : (groups[Math.floor((index - 20) / 20)] ?? null)
    services.push(
      (
        await createService(founded, {
          name,
          groupId,
          description: `What service ${index} does.`,
          status: 'OPERATIONAL',
        })
      ).id,
    )
  }
  const of = (index: number) => services[index] ?? ''
  const up = (index: number): WrittenHistory => ({
    ...{ organizationId, serviceId: of(index), lastKnownAt: noon },
    states: [
      ['UP', at(-80 * DAY)],
      ['DOWN', at(-(index % 60) * DAY - HOUR)],
      ['UP', at(-(index % 60) * DAY - HOUR + 20 * MINUTE)],
    ],
  })
  const pasts = services.flatMap((_, index) => (index % 7 === 6 ? [] : [up(index)]))
  const now = (index: number, states: WrittenHistory['states'], lastKnownAt: Date | null = noon) =>
    pasts.splice(
      pasts.findIndex(({ serviceId }) => serviceId === of(index)),
      1,
      { organizationId, serviceId: of(index), states, lastKnownAt },
    )
  now(1, [['DOWN', at(-HOUR)]])
  now(2, [['DEGRADED', at(-HOUR)]])
  // One whose state is unknown again, and one without any result yet.
  now(4, [['UP', at(-80 * DAY)]], at(-3 * DAY))
  now(5, [['PENDING', at(-MINUTE)]], null)
  await writeMonitors(prisma, pasts)
  const open = { status: 'INVESTIGATING', impact: 'MAJOR', message: 'We are looking.' } as const
  const affected = [{ serviceId: of(25), status: 'PARTIAL_OUTAGE' as const }]
  await createIncident(then(-2 * HOUR), { ...open, title: 'Mail is late', services: affected })
  for (let day = 1; day <= 5; day++) {
    const services = [{ serviceId: of(40 + day), status: 'DEGRADED_PERFORMANCE' as const }]
    const { id: incidentId } = await createIncident(then(-day * DAY), {
      ...open,
      title: `Slow on day ${day}`,
      services,
    })
    await postIncidentUpdate(then(-day * DAY + HOUR), { incidentId, status: 'RESOLVED', message: 'All is well.' })
  }
  const times = { startsAt: at(-HOUR), endsAt: at(HOUR) }
  await scheduleMaintenance(then(-DAY), { title: 'New disks', message: 'Reads go on.', ...times, serviceIds: [of(65)] })
  await prisma.maintenance.updateMany({ where: { organizationId }, data: { status: 'IN_PROGRESS' } })
  // The service notices without help that a monitor is silent.
  const silent = { serviceId: of(4), unknownSince: { not: null } }
  await vi.waitUntil(async () => (await prisma.monitor.count({ where: silent })) === 1, {
    timeout: 60_000,
    interval: 20,
  })
}

const live = (page: Page) => page.locator('#live[data-state=live]').waitFor()
const shot = async (page: Page, name: string) => {
  const clip = { x: 0, y: 0, width: page.viewportSize()?.width ?? 0, height: 1500 }
  if (process.env['SHOTS']) await page.screenshot({ path: `/tmp/hundred-${name}.png`, fullPage: true, clip })
}

test('weighs at most 250 kB, and 15 kB as transmitted', async () => {
  const { body, headers } = await rawGet(url, { 'accept-encoding': 'gzip, br' })
  expect(headers['content-encoding']).toBe('gzip')
  const html = gunzipSync(body)
  expect(`${html}`.match(/<li id="svc_/g)).toHaveLength(100)
  expect(html.length).toBeLessThanOrEqual(250_000)
  expect(body.length).toBeLessThanOrEqual(15_000)
})

const looks = [
  { name: 'wide', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'narrow', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  { name: 'wide and light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
] as const

describe.each(looks)('$name', ({ name, ...look }) => {
  test('has one line per service, which all fit in a few screens, and collapses operational groups', async () => {
    const still = { reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC', deviceScaleFactor: 1 } as const
    await using tab = await openTab(() => true, { ...look, ...still, bypassCSP: true })
    const { page } = tab
    await page.clock.setFixedTime(noon)
    await page.goto(url)
    await live(page)
    if (look.colorScheme === 'dark') {
      await page.locator('#services').evaluate((services) => services.scrollIntoView())
      expect(await differenceFrom(page, `hundred-${name}-dark`)).toBeNull()
      await page.evaluate(() => scrollTo(0, 0))
    }
    await shot(page, name)
    const screens = (await page.evaluate(() => document.documentElement.scrollHeight)) / look.viewport.height
    expect(screens).toBeLessThan(look.viewport.width > 600 ? 6 : 9)
    await page.evaluate(() => {
      for (const group of document.querySelectorAll('details.group')) group.setAttribute('open', '')
    })
    const lines = page.locator('.services > li')
    expect(await lines.count()).toBe(100)
    const heights = await lines.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height))
    // On a phone the bar is below the name; a long status takes a second line, and a long name several.
    expect(heights.filter((height) => height > (look.viewport.width > 600 ? 48 : 80)).length).toBeLessThanOrEqual(1)
    await shot(page, `${name}-open`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(look.viewport.width)
    expect(await axeViolations(page)).toEqual([])
    expect(tab.complaints).toEqual([])
  })
})

test('shows each state, and shows nothing as operational without data', async () => {
  await using tab = await openTab(() => true)
  await tab.page.goto(url)
  const labels = await tab.page
    .locator('.services > li')
    .evaluateAll((all) => all.map((each) => each.getAttribute('data-announce') ?? ''))
  expect(labels.slice(0, 7)).toEqual([
    'Service 0: Operational.',
    'Service 1: Major outage.',
    'Service 2: Degraded performance.',
    expect.stringContaining(': Operational.'),
    expect.stringMatching(/^Service 4: No data since 17 Nov 2026/),
    'Service 5: Waiting for first result.',
    'Service 6: Operational.',
  ])
  expect(labels[25]).toBe('Service 25: Partial outage.')
  expect(labels[65]).toBe('Service 65: Under maintenance.')
})

test('is printed with everything expanded, and with dates instead of relative times', async () => {
  await using tab = await openTab(() => true)
  const { page } = tab
  await page.goto(url)
  await live(page)
  const [inGroup, description] = [
    page.getByText('Service 99', { exact: true }),
    page.getByText('What service 12 does.'),
  ]
  expect([await inGroup.isVisible(), await description.isVisible()]).toEqual([false, false])
  await page.emulateMedia({ media: 'print' })
  expect([await inGroup.isVisible(), await description.isVisible()]).toEqual([true, true])
  expect(await page.locator('#filter').isVisible()).toBe(false)
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  const times = await page.locator('time[data-ago]').allTextContents()
  expect(times.filter((time) => !/\d{4}/.test(time))).toEqual([])
  await shot(page, 'print')
  await page.emulateMedia({ media: 'screen' })
  expect([await inGroup.isVisible(), await description.isVisible()]).toEqual([false, false])
})
