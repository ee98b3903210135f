import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { DAY, HOUR } from '../../src/core/time.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { consoleRoutes } from '../support/console-routes.ts'
import { dispatched, filledOrganization, mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { startReceiver } from '../support/receiver.ts'

const { app, database, signIn } = await testConsole({ SIGNUP: 'open' })
const receiver = await startReceiver()
afterAll(() => receiver.close())
const startsAt = new Date(Date.now() + DAY)
const planned = { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) }
const acme = await filledOrganization(app.baseUrl, planned, receiver.url)
const ops = { name: 'Ops', webhook: { url: `${receiver.url}/alerts` } }
const channel = await mutate(app.baseUrl, acme.key, 'createAlertChannel', 'AlertChannel', ops)
const service = { serviceId: acme.ids.Service }
await mutate(app.baseUrl, acme.key, 'createIncidentNote', 'IncidentNote', {
  ...{ incidentId: acme.ids.Incident, message: 'Only for us.' },
})
await mutate(app.baseUrl, acme.key, 'createObjective', 'Objective', { ...service, target: 99.9, windowDays: 30 })
const wrong = { startsAt: new Date(Date.now() - HOUR), endsAt: new Date(), kind: 'GOOD', reason: 'The probe erred.' }
await mutate(app.baseUrl, acme.key, 'correctUptime', 'UptimeCorrection', { ...service, ...wrong })
await dispatched(database.prisma, acme.id)
const openTab = useChromium()

/** What is no page of ours: documents, a part of other pages, sign-out, and the pages that libraries make. */
const others =
  /\.(json|rss|atom|ics|svg|png|csv|xml|txt)$|\/export|^\/status\/.+\/embed|\/api\/|\/sign-out|^\/(graphql|docs\/reference|metrics)/

const desktop = { width: 1280, height: 844 }
const phone = { width: 390, height: 844 }

/** Names a kind of page: its address without ids, languages and most of its query. */
function kindOf({ pathname, searchParams }: URL): string {
  const path = pathname
    .replace(/\/[a-z]+_[a-z0-9]{20,}/g, '/{id}')
    .replace(
      /^\/status\/[^/]+\/(?!history|incidents|services|subscribe|embed|access)[a-z-]+/,
      '/status/{slug}/{language}',
    )
    .replace(/^\/docs\/.+/, '/docs/{guide}')
    .replace(/^\/check\/.+/, '/check/{target}')
  return [path, ...['day', 'kind', 'way', 'from'].filter((name) => searchParams.has(name))].join(' ')
}

/** Opens one page of each kind that links lead to, and returns what axe finds in both themes, and what is too wide for a phone. */
async function violationsFrom(page: Page, starts: readonly string[]): Promise<{ kinds: string[]; found: string[] }> {
  const waiting = starts.map((path) => new URL(path, app.baseUrl))
  const kinds = new Set<string>(waiting.map(kindOf))
  const found: string[] = []
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(next.href)
    // What is folded is a part of the page too.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('main details')) details.setAttribute('open', '')
    })
    const { pathname } = next
    found.push(...(await axeViolations(page)).map((each) => `${pathname}: ${each}`))
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)))
    // The themes differ in their colours only.
    found.push(...(await axeViolations(page, ['color-contrast'])).map((each) => `${pathname} in the dark: ${each}`))
    await page.setViewportSize(phone)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > phone.width) found.push(`${pathname}: ${width} px wide on a phone`)
    await page.setViewportSize(desktop)
    for (const href of await page
      .locator('a[href]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))) {
      const url = new URL(href, next)
      url.hash = ''
      if (url.origin !== new URL(app.baseUrl).origin || others.test(url.pathname) || kinds.has(kindOf(url))) continue
      kinds.add(kindOf(url))
      waiting.push(url)
    }
  }
  return { kinds: [...kinds], found }
}

const doors = [
  { kind: 'PASSWORD', password: 'correct horse' },
  { kind: 'MEMBERS' },
  { kind: 'ADDRESSES', ranges: ['192.0.2.0/24'] },
]

/** The slug of a page that is closed to visitors. */
async function closedPage(access: (typeof doors)[number]): Promise<string> {
  const { id: organizationId, slug, key } = await newOrganization(app.baseUrl)
  const { id: pageId } = await database.prisma.page.findFirstOrThrow({ where: { organizationId } })
  await mutate(app.baseUrl, key, 'updatePageAccess', 'PageAccess', { pageId, access }, 'kind')
  return slug
}

test('no page that a visitor is led to breaks a rule of axe, in either theme', async () => {
  await using tab = await openTab(() => true, { reducedMotion: 'reduce', bypassCSP: true })
  const page = `/status/${acme.slug}`
  const starts = ['/', '/status', page, `${page}/history`, `${page}/nothing`, '/check/127.0.0.2', '/sign-up']
  // The doors of private pages, the end of a link, and a status line in a frame.
  for (const access of doors) starts.push(`/status/${await closedPage(access)}`)
  starts.push(
    `${starts.at(-1)}/access/none`,
    `${page}/embed`,
    '/status/no-such-page',
    '/subscriptions/none',
    '/alerts/none',
  )
  const { kinds, found } = await violationsFrom(tab.page, starts)
  expect(found).toEqual([])
  for (const path of ['/incidents/{id}', '/services/{id}', '/subscribe']) expect(kinds).toContain(page + path)
  expect(kinds.length).toBeGreaterThan(15)
})

/** What is asked for by forms, is shown after another screen's form only, or leads on. */
const unlinked = [
  'incidents/:id/updates',
  'incidents/:id/notes',
  'maintenance/:id/updates',
  'services/order',
  'services/groups/order',
  'subscribers/export.csv',
]

test('no screen of the console breaks a rule of axe, in either theme', async () => {
  const owner = await signIn(acme, 'OWNER', { isOperator: true })
  await database.prisma.organization.update({ where: { id: acme.id }, data: { tier: 'TEAM' } })
  const { location: other } = await owner.post('pages/new', { name: 'Office', slug: 'acme-office', shows: 'ALL' })
  await using tab = await openTab(() => true, { reducedMotion: 'reduce', bypassCSP: true, viewport: desktop })
  await tab.page.context().addCookies([{ name: 'allclear_session', value: owner.token, url: app.baseUrl }])
  const screen = (path: string) => `/console/${acme.slug}/${path}`
  const starts = [
    ...['now', 'start', 'subscribers/delete', 'account/second-factor/remove'].map(screen),
    ...[`people/${owner.userId}/reset`, `maintenance/series/${acme.ids.MaintenanceSeries}/end`].map(screen),
    screen(`incidents/${acme.ids.Incident}/postmortem/delete`),
    ...[`alerts/channels/${channel.id}`, `integrations/${acme.integrationId}`, `templates/${acme.templateId}`].map(
      screen,
    ),
    screen(`pages/${acme.ids.StatusPage}/tokens/${acme.pageTokenId}/revoke`),
    ...[other ?? '', '/console/operator/organizations'],
  ]
  const { kinds, found } = await violationsFrom(tab.page, starts)
  expect(found).toEqual([])
  const screens = consoleRoutes.flatMap(({ method, path }) =>
    method === 'GET' && !unlinked.includes(path.replace(/\{[^}]*\}/g, '')) ? path : [],
  )
  const wanted = screens.map((path) => screen(path.replace(/:\w+(\{[^}]*\})?/g, '{id}')))
  expect(wanted.filter((path) => !kinds.includes(path))).toEqual([])
})
