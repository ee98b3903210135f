import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { consoleRoutes } from '../support/console-routes.ts'
import { dispatched, filledOrganization, mutate, uploadFile } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { startReceiver } from '../support/receiver.ts'
import { doorsAt, isInSample } from '../support/runs.ts'

const { app, database, signIn } = await testConsole({ SIGNUP: 'open' })
const receiver = await startReceiver()
afterAll(() => receiver.close())
const startsAt = new Date(Date.now() + DAY)
const planned = { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) }
const acme = await filledOrganization(app.baseUrl, planned, receiver.url)
const ops = { name: 'Ops', address: { webhook: { url: `${receiver.url}/alerts` } } }
const channel = await mutate(app.baseUrl, acme.key, 'createAlertChannel', 'AlertChannel', ops)
const service = { serviceId: acme.ids.Service }
await mutate(app.baseUrl, acme.key, 'createIncidentNote', 'IncidentNote', {
  ...{ incidentId: acme.ids.Incident, message: 'Only for us.' },
})
const update_id = acme.ids.IncidentUpdate
await uploadFile(app.baseUrl, acme.key, { incidentId: acme.ids.Incident, name: 'disk.log', update_id })
const tools = { name: 'Tools', kind: 'GENERIC' }
const integration = await mutate<{ id: string; url: string }>(
  app.baseUrl,
  acme.key,
  'createIntegration',
  'Integration',
  tools,
  'id url',
)
await fetch(integration.url, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ title: 'Disk full' }),
})
await mutate(app.baseUrl, acme.key, 'createObjective', 'Objective', { ...service, target: 99.9, windowDays: 30 })
const wrong = { startsAt: new Date(Date.now() - HOUR), endsAt: new Date(), kind: 'GOOD', reason: 'The probe erred.' }
await mutate(app.baseUrl, acme.key, 'correctUptime', 'UptimeCorrection', { ...service, ...wrong })
await dispatched(database.prisma, acme.id)
const openTab = useChromium()

/** Paths that are not pages of ours: documents, files, embedded parts, sign-out, and pages that libraries make. */
const others =
  /\.(json|rss|atom|ics|svg|png|csv|xml|txt)$|\/export|\/files\/(?!new)[^/]+$|^\/status\/.+\/embed|\/api\/|\/sign-out|^\/(graphql|metrics)/

const desktop = { width: 1280, height: 844 }
const phone = { width: 390, height: 844 }

/** Returns the kind of a page: its address without ids, languages and most of its query. */
function kindOf({ pathname, searchParams }: URL): string {
  const path = pathname
    .replace(/\/[a-z]+_[a-z0-9]{20,}/g, '/{id}')
    .replace(
      /^\/status\/[^/]+\/(?!history|incidents|services|subscribe|embed|access)[a-z-]+/,
      '/status/{slug}/{language}',
    )
    .replace(/^\/docs\/(?!reference).+/, '/docs/{guide}')
    .replace(/^\/check\/.+/, '/check/{target}')
  return [path, ...['day', 'kind', 'channel', 'from'].filter((name) => searchParams.has(name))].join(' ')
}

const themes = ['light', 'dark'] as const

/** Returns axe's findings on a page, in the themes tried there: they differ only in colours. */
async function violationsOf(page: Page, path: string, tried: readonly (typeof themes)[number][]): Promise<string[]> {
  const found: string[] = []
  for (const theme of tried) {
    await page.emulateMedia({ colorScheme: theme })
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)))
    const violations = await axeViolations(page, theme === tried[0] ? null : ['color-contrast'])
    found.push(...violations.map((each) => `${path}, ${theme}: ${each}`))
  }
  return found
}

/** Returns every link of a page. */
const linksOf = (page: Page) =>
  page.evaluate(() => Array.from(document.querySelectorAll('a[href]'), (link) => link.getAttribute('href') ?? ''))

/**
 * Opens one page of each kind that links lead to. Returns axe's findings, and elements that are too wide for a phone.
 */
async function violationsFrom(page: Page, starts: readonly string[]): Promise<{ kinds: string[]; found: string[] }> {
  const waiting = starts.map((path) => new URL(path, app.baseUrl))
  const kinds = new Set<string>(waiting.map(kindOf))
  const found: string[] = []
  let opened = 0
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    await page.goto(next.href)
    // Collapsed sections are part of the page too.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('main details')) details.setAttribute('open', '')
    })
    const { pathname } = next
    if (isInSample(opened)) found.push(...(await violationsOf(page, pathname, doorsAt(opened, themes))))
    opened += 1
    await page.setViewportSize(phone)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > phone.width) found.push(`${pathname}: ${width} px wide on a phone`)
    await page.setViewportSize(desktop)
    for (const href of await linksOf(page)) {
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

/** One test opens all pages, so it takes longer than others on a busy machine. */
const PATIENCE = 15 * MINUTE

/** Returns the slug of a private page. */
async function closedPage(access: (typeof doors)[number]): Promise<string> {
  const { id: organizationId, slug, key } = await newOrganization(app.baseUrl)
  const { id: pageId } = await database.prisma.page.findFirstOrThrow({ where: { organizationId } })
  await mutate(app.baseUrl, key, 'updatePageAccess', 'PageAccess', { pageId, access }, 'kind')
  return slug
}

test(
  'no page that visitors can reach violates a rule of axe, in either theme',
  async () => {
    await using tab = await openTab(() => true, { reducedMotion: 'reduce', bypassCSP: true })
    const page = `/status/${acme.slug}`
    const starts = ['/', '/status', page, `${page}/history`, `${page}/nothing`, '/check/127.0.0.2', '/sign-up']
    // The access forms of private pages, an expired link, and a status line in a frame.
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
  },
  PATIENCE,
)

/** Addresses that are files, accept only forms, are shown only after another screen's form, or redirect. */
const unlinked = [
  'incidents/:id/files/:fileId',
  'incidents/:id/updates',
  'incidents/:id/notes',
  'maintenance/:id/updates',
  'services/order',
  'services/groups/order',
  'subscribers/export.csv',
]

test(
  'no screen of the console violates a rule of axe, in either theme',
  async () => {
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
      ...[
        `alerts/channels/${channel.id}`,
        `integrations/${integration.id}`,
        `incidents/${acme.ids.Incident}`,
        `templates/${acme.templateId}`,
      ].map(screen),
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
  },
  PATIENCE,
)
