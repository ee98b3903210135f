import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { transaction } from '../../src/core/context.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { createService } from '../../src/status/service/service.ts'
import { createServiceGroup } from '../../src/status/service/service-group.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { testApp } from '../support/app.ts'
import { givenCheckPages, serve } from '../support/check-pages.ts'
import { useChromium } from '../support/chromium.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { differenceFrom } from '../support/picture.ts'
import { answers, ipReport, listing } from '../support/reports.ts'

const database = await testDatabase()
const { prisma } = database
const dns = await startDnsServer()
const settings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'status@allclear.example', ROLE: 'web' }
const app = await testApp({ dns, database, settings, now: () => noon })
const checks = await givenCheckPages()
const checkServer = await serve(checks.app)
afterAll(async () => {
  await checkServer[Symbol.asyncDispose]()
  await dns.close()
})

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

/**
 * An organization whose page has everything that a page can show.
 * @param isQuiet whether nothing is wrong.
 */
async function organization(slug: string, isQuiet: boolean) {
  const operator = testContext(prisma, { actor: { kind: 'operator' }, now: () => at(-89 * DAY) })
  const founding = { name: 'Northwind', slug, contactEmail: 'ops@northwind.example' }
  const { organization, apiKey } = await createOrganization(operator, founding)
  const { id: organizationId } = organization
  const links = [{ label: 'Website', url: 'https://northwind.example' }]
  await prisma.organization.update({
    where: { id: organizationId },
    data: { tier: 'TEAM', links, languages: ['EN', 'DE'] },
  })
  const actor = { kind: 'apiKey', keyId: apiKey.apiKey.id, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } as const
  const then = (milliseconds: number) => ({ ...operator, actor, now: () => at(milliseconds) })
  const founded = then(-89 * DAY)
  const group = await createServiceGroup(founded, { name: 'Mail', description: 'Sending and receiving.' })
  const service = async (name: string, groupId: string | null = null) =>
    (await createService(founded, { name, groupId, description: `What ${name} does.`, status: 'OPERATIONAL' })).id
  const [website, incoming, outgoing] = [
    await service('Website'),
    await service('Incoming mail', group.id),
    await service('Outgoing mail', group.id),
  ]
  await writeMonitors(prisma, [
    {
      organizationId,
      serviceId: website,
      lastKnownAt: noon,
      states: [
        ['UP', at(-80 * DAY)],
        ['DOWN', at(-20 * DAY)],
        ['UP', at(-20 * DAY + 41 * MINUTE)],
        ['DEGRADED', at(-9 * DAY)],
        ['UP', at(-9 * DAY + HOUR)],
      ],
    },
    { organizationId, serviceId: incoming, lastKnownAt: noon, states: [['UP', at(-60 * DAY)]] },
  ])
  const incident = { title: 'Mail is late', status: 'INVESTIGATING', impact: 'MAJOR' } as const
  const services = [{ serviceId: outgoing, status: 'PARTIAL_OUTAGE' as const }]
  const begun = isQuiet ? -6 * DAY : -2 * HOUR
  const { id: incidentId } = await createIncident(then(begun), { ...incident, message: 'We are looking.', services })
  await postIncidentUpdate(then(begun + 30 * MINUTE), {
    ...{ incidentId, status: 'IDENTIFIED', message: 'A node has a **failing disk**; mail waits in the queue.' },
  })
  if (isQuiet) await postIncidentUpdate(then(begun + HOUR), { incidentId, status: 'RESOLVED', message: 'All is sent.' })
  await scheduleMaintenance(then(-DAY), {
    ...{ title: 'New disks', message: 'Reads go on.', startsAt: at(DAY), endsAt: at(DAY + HOUR) },
    serviceIds: [website],
  })
  return { id: organizationId, page: `${app.baseUrl}/status/${slug}` }
}

const quiet = await organization('northwind', true)
const busy = await organization('northwind-busy', false)

/** The session of an owner. */
const session = await transaction(testContext(prisma, { actor: { kind: 'operator' } }), async (tx) => {
  const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
    email: 'ana@northwind.example',
    name: 'Ana',
    passwordHash: null,
  })
  await insertMembership(tx, { organizationId: busy.id, userId: user.id, role: 'OWNER' }, 'Ana')
  return startSession(tx, user.id, 'a browser of the tests')
})

const openTab = useChromium()
const sizes = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } } as const

/** A tab that looks the same on every machine: its clock is stopped, and nothing moves. */
async function stillTab(size: keyof typeof sizes, colorScheme: 'light' | 'dark', options: BrowserContextOptions = {}) {
  const look = { viewport: sizes[size], deviceScaleFactor: 1, colorScheme, reducedMotion: 'reduce' } as const
  const own = { locale: 'en-GB', timezoneId: 'UTC', ...options }
  const opened = await openTab(() => true, { ...look, ...own })
  await opened.page.clock.setFixedTime(noon)
  return opened
}

const live = (page: Page) => page.locator('#live[data-state=live]').waitFor()

test.each([
  ['quiet', 'wide', 'light'],
  ['quiet', 'wide', 'dark'],
  ['quiet', 'narrow', 'light'],
  ['busy', 'wide', 'light'],
  ['busy', 'narrow', 'dark'],
] as const)('the status page of a %s service looks as it should, %s and %s', async (state, size, scheme) => {
  await using tab = await stillTab(size, scheme)
  await tab.page.goto(state === 'quiet' ? quiet.page : busy.page)
  await live(tab.page)
  expect(await differenceFrom(tab.page, `status-${state}-${size}-${scheme}`)).toBeNull()
  await tab.page.locator('#services').evaluate((services) => services.scrollIntoView())
  expect(await differenceFrom(tab.page, `services-${state}-${size}-${scheme}`)).toBeNull()
})

test('the status page looks as it should in German, which has long words', async () => {
  await using tab = await stillTab('narrow', 'light')
  await tab.page.goto(`${busy.page}/de`)
  await live(tab.page)
  expect(await differenceFrom(tab.page, 'status-busy-narrow-german')).toBeNull()
})

test('the status page looks as it should from right to left', async () => {
  await using tab = await stillTab('narrow', 'light')
  await tab.page.goto(busy.page)
  await live(tab.page)
  await tab.page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
  await tab.page.locator('#services').evaluate((services) => services.scrollIntoView())
  expect(await differenceFrom(tab.page, 'services-rtl')).toBeNull()
  await tab.page.setViewportSize(sizes.wide)
  expect(await differenceFrom(tab.page, 'services-rtl-wide')).toBeNull()
})

test.each([
  ['wide', 'light'],
  ['narrow', 'dark'],
] as const)('a form to subscribe, a report and the console look as they should, %s and %s', async (size, scheme) => {
  await using tab = await stillTab(size, scheme)
  const { page } = tab
  await page.goto(`${quiet.page}/subscribe`)
  expect(await differenceFrom(page, `subscribe-${size}-${scheme}`)).toBeNull()
  await page.context().addCookies([{ name: 'allclear_session', value: session, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/northwind-busy/now`)
  expect(await differenceFrom(page, `console-now-${size}-${scheme}`)).toBeNull()
  const started = checks.nextCheck()
  await page.goto(`${checkServer.url}/check/203.0.113.7`, { waitUntil: 'commit' })
  const check = await started
  check.step({ kind: 'report', report: ipReport('203.0.113.7', answers({ PSBL: listing })) })
  check.end()
  await page.locator('#report').waitFor()
  expect(await differenceFrom(page, `report-${size}-${scheme}`)).toBeNull()
})

test('a changed colour is detected', async () => {
  await using tab = await stillTab('wide', 'light')
  await tab.page.goto(quiet.page)
  await live(tab.page)
  if (process.env['RENEW_PICTURES']) return
  await tab.page.evaluate(() => document.documentElement.style.setProperty('--clean', '#0b7a75'))
  expect(await differenceFrom(tab.page, 'status-quiet-wide-light')).toContain('differ from its picture')
})
