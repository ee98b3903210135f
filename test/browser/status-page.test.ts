import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { useChromium } from '../support/chromium.ts'
import { faintTexts } from '../support/contrast.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { startService } from '../support/process.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken, testData } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const app = await testApp({ dns })
afterAll(() => dns.close())

const newTab = useChromium()
const isOurs = (url: string) => /^http:\/\/(localhost|127\.0\.0\.1):/.test(url)
const openTab = (options: BrowserContextOptions = {}) => newTab(isOurs, options)

/** An organization with two services, and the actions of its members. */
async function owner(url = app.baseUrl) {
  const { id, slug, key } = await newOrganization(url)
  const service = async (name: string) =>
    (await mutate(url, key, 'createService', 'Service', { name, status: 'OPERATIONAL' })).id
  const [api, shop] = [await service('API'), await service('Shop')]
  return {
    id,
    path: `/status/${slug}`,
    api,
    shop,
    do: (field: string, type: string, input: Record<string, unknown>) => mutate(url, key, field, type, input),
    incident: (title: string, more: Record<string, unknown> = {}) =>
      mutate(url, key, 'createIncident', 'Incident', {
        title,
        status: 'INVESTIGATING',
        impact: 'MAJOR',
        message: 'We are **looking**.',
        services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }],
        ...more,
      }),
    update: (incidentId: string, status: string, message: string) =>
      mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', { incidentId, status, message }),
  }
}

const live = (page: Page) => page.locator('#live[data-state=live]').waitFor()
const heading = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor()
const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

/** Adds up Chromium's layout shifts from here on. */
async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const shifts = { sum: 0 }
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.sum += (entry as PerformanceEntry & { value: number }).value
    }).observe({ type: 'layout-shift' })
  })
  return () => page.evaluate(() => (window as unknown as { shifts: { sum: number } }).shifts.sum)
}

describe('an open page', () => {
  test('shows an incident, its updates and its end without a reload', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    await page.goto(app.baseUrl + acme.path)
    await heading(page, 'All services are operational')
    await live(page)
    await page.evaluate(() => Object.assign(window, { same: true }))
    const shift = await watchShifts(page)
    // On a slow device, changes arrive at the end of an animation.
    await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: 6 })

    const { id } = await acme.incident('Payments fail')
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
    await heading(page, 'Major outage: API')
    await page.locator('.prose strong', { hasText: 'looking' }).waitFor()
    await expect.poll(() => page.locator('#announcer').textContent()).toContain('Incident: Payments fail.')
    expect(await page.locator('#announcer').textContent()).toContain('API: Major outage.')
    expect(await page.title()).toMatch(/^Major outage · /)

    await acme.update(id, 'IDENTIFIED', 'A disk is full.')
    await page.locator('.prose', { hasText: 'A disk is full.' }).waitFor()
    await expect.poll(() => page.locator('#announcer').textContent()).toBe('Payments fail: Identified. A disk is full.')

    await acme.update(id, 'RESOLVED', 'All is well again.')
    await heading(page, 'All services are operational')
    expect(await page.locator('#open-incidents').count()).toBe(0)
    await page.locator('#past').getByText('All is well again.').waitFor()
    expect(await page.evaluate(() => 'same' in window)).toBe(true)
    expect(await shift()).toBeLessThanOrEqual(0.02)
    expect(tab.complaints).toEqual([])
  })

  test('of an incident grows with its timeline', async () => {
    await using tab = await openTab()
    const acme = await owner()
    const { id } = await acme.incident('Payments fail')
    await tab.page.goto(`${app.baseUrl}${acme.path}/incidents/${id}`)
    await live(tab.page)
    await acme.update(id, 'MONITORING', 'A fix is out.')
    await tab.page.locator('.prose', { hasText: 'A fix is out.' }).waitFor()
    expect(await tab.page.locator('.timeline > li').count()).toBe(2)
    expect(tab.complaints).toEqual([])
  })

  test('keeps folded sections, focus and scroll position', async () => {
    await using tab = await openTab({ viewport: { width: 800, height: 500 } })
    const { page } = tab
    const acme = await owner()
    const group = await acme.do('createServiceGroup', 'ServiceGroup', { name: 'Regions' })
    await acme.do('createService', 'Service', { name: 'Frankfurt', groupId: group.id, status: 'OPERATIONAL' })
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    await page.locator('.group > summary').click()
    expect(await page.locator('.name', { hasText: 'Frankfurt' }).isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Incident history' }).focus()
    await acme.incident('Payments fail')
    await heading(page, 'Major outage: API')
    expect(await page.locator('.name', { hasText: 'Frankfurt' }).isVisible()).toBe(false)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Incident history')
  })

  test('does not shift on a phone when its script loads late', async () => {
    await using tab = await openTab({ viewport: { width: 390, height: 844 } })
    const { page } = tab
    const acme = await owner()
    await acme.incident('Payments fail')
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\.js$/, async (route) => {
      await released
      await route.continue()
    })
    await page.goto(app.baseUrl + acme.path, { waitUntil: 'commit' })
    await page.locator('#services').waitFor()
    await page.evaluate(() => document.fonts.ready)
    const top = () => page.locator('#services').evaluate((services) => services.getBoundingClientRect().top)
    const before = await top()
    release()
    await live(page)
    expect(await page.locator('[data-since]').textContent()).toMatch(/so far/)
    expect(await top()).toBe(before)
  })

  test('filters services by name and by problems, and remembers collapsed groups', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    const tier = { organizationId: acme.id, tier: 'TEAM' }
    await mutate(app.baseUrl, operatorToken, 'setTier', 'Organization', tier)
    const group = await acme.do('createServiceGroup', 'ServiceGroup', { name: 'Regions' })
    for (const name of ['Frankfurt', 'Paris'])
      await acme.do('createService', 'Service', { name, groupId: group.id, status: 'OPERATIONAL' })
    for (let count = 1; count <= 11; count++)
      await acme.do('createService', 'Service', { name: `Service ${count}`, status: 'OPERATIONAL' })
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    const names = () => page.locator('.services .name:visible').allTextContents()
    expect(await names()).toHaveLength(15)
    const field = page.getByRole('searchbox', { name: 'Filter by name' })
    await field.fill('  fRANK')
    expect(await names()).toEqual(['Frankfurt'])
    await field.fill('1')
    expect(await names()).toEqual(['Service 1', 'Service 10', 'Service 11'])
    expect(await page.locator('.group').isVisible()).toBe(false)
    await acme.incident('Payments fail')
    await heading(page, 'Major outage: API')
    // New content is filtered too, and typed text stays.
    expect(await names()).toEqual(['Service 1', 'Service 10', 'Service 11'])
    await field.fill('')
    const onlyProblems = page.getByRole('checkbox', { name: 'Only problems' })
    await onlyProblems.check()
    expect(await names()).toEqual(['API'])
    await onlyProblems.uncheck()
    await page.locator('.group > summary').click()
    expect(await names()).not.toContain('Paris')
    await page.reload()
    await live(page)
    expect(await names()).not.toContain('Paris')
    // A search opens matching items.
    await field.fill('paris')
    expect(await names()).toEqual(['Paris'])
    await page.goto(`${app.baseUrl}${acme.path}/history`)
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    expect(await names()).not.toContain('Paris')
    await page.locator('.group > summary').click()
    await page.reload()
    expect(await names()).toContain('Paris')
    expect(tab.complaints).toEqual([])
    await using plain = await openTab({ javaScriptEnabled: false })
    await plain.page.goto(app.baseUrl + acme.path)
    await plain.page.getByRole('checkbox', { name: 'Only problems' }).check()
    expect(await plain.page.locator('.services .name:visible').allTextContents()).toEqual(['API'])
    expect(await plain.page.getByRole('searchbox').count()).toBe(0)
  })

  test('receives the change of an event through its socket, in less than 1.6 kB, and fetches nothing', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    for (let count = 1; count <= 8; count++)
      await acme.do('createService', 'Service', { name: `Service ${count}`, status: 'OPERATIONAL' })
    const received: number[] = []
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        // On a slow machine the page also pings the server.
        if (payload !== '{"type":"pong"}') received.push(Buffer.byteLength(payload))
      }),
    )
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    const { id } = await acme.incident('Payments fail')
    await heading(page, 'Major outage: API')
    await acme.update(id, 'IDENTIFIED', 'A disk is full.')
    await page.locator('.prose', { hasText: 'A disk is full.' }).waitFor()
    await live(page)
    expect(requests).toEqual([])
    // The acknowledgement and two events.
    expect(received).toHaveLength(3)
    for (const bytes of received) expect(bytes).toBeLessThan(1600)
    expect(await page.locator('.services > li').allTextContents()).toEqual([
      expect.stringContaining('API'),
      expect.stringContaining('Shop'),
      ...Array.from({ length: 8 }, (_, index) => expect.stringContaining(`Service ${index + 1}`)),
    ])
    expect(tab.complaints).toEqual([])
  })

  test('fetches a change when its socket sends it for another version', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    await page.evaluate(() => Object.assign(document.body.dataset, { parts: 'another', version: 'another' }))
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    const { id } = await acme.incident('Payments fail')
    await heading(page, 'Major outage: API')
    await acme.update(id, 'IDENTIFIED', 'A disk is full.')
    await page.locator('.prose', { hasText: 'A disk is full.' }).waitFor()
    expect(requests).toEqual([acme.path])
    expect(tab.complaints).toEqual([])
  })

  test('adopts its owner’s new name and colour', async () => {
    await using tab = await openTab()
    const acme = await owner()
    await tab.page.goto(app.baseUrl + acme.path)
    await live(tab.page)
    await acme.do('updateOrganization', 'Organization', { name: 'Northwind', accentColor: '#7c3aed' })
    await tab.page.getByRole('link', { name: 'Northwind', exact: true }).waitFor()
    await expect
      .poll(() => tab.page.evaluate(() => getComputedStyle(document.body).borderTopColor))
      .toBe('rgb(124, 58, 237)')
    expect(tab.complaints).toEqual([])
  })

  test('reaches the final state after many concurrent changes', async () => {
    await using tab = await openTab()
    const acme = await owner()
    await tab.page.goto(app.baseUrl + acme.path)
    await live(tab.page)
    const titles = Array.from({ length: 12 }, (_, index) => `Incident number ${index}`)
    await Promise.all(titles.map((title) => acme.incident(title, { services: [] })))
    await expect.poll(() => tab.page.locator('#open-incidents article').count()).toBe(titles.length)
    expect(tab.complaints).toEqual([])
  })
})

describe('on a bad connection', () => {
  test('a page follows a killed and restarted server without missing events', async () => {
    const { dataDir, settings, remove } = await testData()
    const options = { ...settings, DATA_DIR: dataDir, PORT: String(await freePort()) }
    let service = startService(dns, options)
    try {
      const url = await service.ready()
      await using tab = await openTab()
      const { page } = tab
      const acme = await owner(url)
      await page.goto(url + acme.path)
      await live(page)
      await acme.incident('Before the end')
      await page.getByRole('link', { name: 'Before the end' }).waitFor()

      service.signal('SIGKILL')
      await service.ended
      await page.locator('#live:not([data-state=live])').waitFor()
      service = startService(dns, options)
      await service.ready()
      // Reported before the page has reconnected.
      await acme.incident('While it was away')
      await page.getByRole('link', { name: 'While it was away' }).waitFor()
      await live(page)
      await acme.incident('After the return')
      await page.getByRole('link', { name: 'After the return' }).waitFor()
      expect(await page.locator('#open-incidents article').count()).toBe(3)
    } finally {
      service.signal('SIGKILL')
      await service.ended
      await remove()
    }
  })

  test('a page without websockets polls and downloads nothing while nothing changes', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.clock.install()
    await page.routeWebSocket(/./, (socket) => socket.close())
    const acme = await owner()
    await page.goto(app.baseUrl + acme.path)
    await page.locator('#live[data-state=polling]').waitFor()
    const tells = page.waitForResponse((response) => new URL(response.url()).pathname === acme.path)
    await page.clock.fastForward(10_000)
    const sizes = await (await tells).request().sizes()
    expect(sizes.responseBodySize).toBe(0)
    await acme.incident('Payments fail')
    await page.clock.fastForward(10_000)
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
  })

  test('a page that is offline shows at once when it was last updated, and continues where it stopped', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.clock.install()
    const acme = await owner()
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    await page.context().setOffline(true)
    const loss = page.locator('#lost', { hasText: /^Connection lost\. Last updated at \d/ })
    await loss.waitFor()
    expect(await page.locator('#announcer').textContent()).toContain('Connection lost.')
    await acme.incident('Payments fail')
    await page.context().setOffline(false)
    await page.clock.fastForward(60_000)
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
    await live(page)
    expect(await loss.count()).toBe(0)
  })

  test('a page whose server stops responding shows that within five seconds', async () => {
    await using tab = await openTab()
    const { page } = tab
    await page.clock.install()
    let isSilent = false
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer()
      server.onMessage((message) => {
        if (!isSilent) socket.send(message)
      })
    })
    const acme = await owner()
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    await page.clock.runFor(4000)
    await live(page)
    isSilent = true
    await page.clock.runFor(6000)
    await page.locator('#lost').waitFor()
    isSilent = false
    await page.clock.runFor(4000)
    await live(page)
    expect(await page.locator('#lost').count()).toBe(0)
  })
})

describe('without JavaScript', () => {
  test('shows everything and how to see changes', async () => {
    await using tab = await openTab({ javaScriptEnabled: false })
    const { page } = tab
    const acme = await owner()
    const { id } = await acme.incident('Payments fail')
    await page.goto(app.baseUrl + acme.path)
    await heading(page, 'Major outage: API')
    expect(await page.locator('noscript').isVisible()).toBe(true)
    await page.getByRole('link', { name: 'Payments fail' }).click()
    expect(new URL(page.url()).pathname).toBe(`${acme.path}/incidents/${id}`)
    await page.getByRole('link', { name: 'Incident history' }).click()
    await page.getByRole('link', { name: 'Payments fail' }).waitFor()
    await page.getByRole('link', { name: 'Current status' }).click()
    await heading(page, 'Major outage: API')
    expect(tab.complaints).toEqual([])
  })
})

describe('the reader', () => {
  /** A page with every status, and long words everywhere. */
  async function fullPage() {
    const acme = await owner()
    const long = 'a'.repeat(100)
    const statuses = ['DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE', 'UNDER_MAINTENANCE'] as const
    await acme.do('updateOrganization', 'Organization', {
      name: long,
      accentColor: '#ffee00',
      links: [{ label: long, url: 'https://acme.example' }],
    })
    const group = await acme.do('createServiceGroup', 'ServiceGroup', { name: long, description: long })
    for (const statusOverride of statuses) {
      const input = { name: `${statusOverride} ${long}`.slice(0, 100), description: long, groupId: group.id }
      const { id } = await acme.do('createService', 'Service', input)
      await acme.do('updateService', 'Service', { id, statusOverride })
    }
    const message = `# ${long}\n\n[${long}](https://acme.example/${long})\n\n    ${long}${long}\n\n- ${long}\n\n> ${long}`
    const { id } = await acme.incident(long, { message, impact: 'CRITICAL' })
    await acme.incident('Over', { impact: 'NONE', status: 'RESOLVED' })
    const [startsAt, endsAt] = [1, 2].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
    await acme.do('scheduleMaintenance', 'Maintenance', {
      title: long,
      message,
      startsAt,
      endsAt,
      serviceIds: [acme.api],
    })
    const now = { startsAt: new Date().toISOString(), endsAt, serviceIds: [acme.api] }
    const over = await acme.do('scheduleMaintenance', 'Maintenance', { title: long, message, ...now })
    await acme.do('updateMaintenance', 'Maintenance', { id: over.id, status: 'COMPLETED' })
    return [acme.path, `${acme.path}/incidents/${id}`, `${acme.path}/history`]
  }

  test('with a screen 320 pixels wide never scrolls sideways', async () => {
    await using tab = await openTab({ viewport: { width: 320, height: 640 } })
    for (const path of await fullPage()) {
      await tab.page.goto(app.baseUrl + path)
      expect(await scrollsSideways(tab.page)).toBe(false)
    }
  })

  test.each(['light', 'dark'] as const)(
    'in the %s can read every word with enough contrast (WCAG 2.2 AA, 1.4.3)',
    async (colorScheme) => {
      await using tab = await openTab({ colorScheme })
      for (const path of await fullPage()) {
        await tab.page.goto(app.baseUrl + path)
        await live(tab.page)
        expect(await faintTexts(tab.page)).toEqual([])
      }
      expect(tab.complaints).toEqual([])
    },
  )

  test('the keyboard reaches every link and group with visible focus', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    await acme.incident('Payments fail')
    const group = await acme.do('createServiceGroup', 'ServiceGroup', { name: 'Regions' })
    await acme.do('createService', 'Service', { name: 'Frankfurt', groupId: group.id, status: 'OPERATIONAL' })
    await page.goto(app.baseUrl + acme.path)
    const reached: string[] = []
    for (let step = 0; step < 27; step++) {
      await page.keyboard.press('Tab')
      reached.push(
        await page.evaluate(() => {
          const element = document.activeElement
          const outlined = element && getComputedStyle(element).outlineStyle === 'solid'
          return `${element?.textContent?.trim()}${outlined ? '' : ' (not outlined)'}`
        }),
      )
    }
    expect(reached).toEqual([
      'Skip to content',
      'Acme',
      'Get updates',
      'Payments fail',
      expect.stringMatching(/^(now|1 minute ago)$/), // with a tip
      '24 hours',
      '7 days',
      '30 days',
      expect.stringMatching(/^API.*Major outage/),
      expect.stringMatching(/^Shop.*Operational/),
      expect.stringMatching(/^Regions.*Operational/),
      expect.stringMatching(/^Frankfurt.*Operational/),
      'Incident history',
      'English',
      'Deutsch',
      'Français',
      'Español',
      'Italiano',
      'Português (Brasil)',
      'Nederlands',
      'Polski',
      '日本語',
      '简体中文',
      '', // the icons of feeds and of the calendar
      '',
      'JSON',
      'Allclear',
    ])
  })

  test('reduced motion disables animations', async () => {
    await using tab = await openTab({ reducedMotion: 'reduce' })
    const acme = await owner()
    await tab.page.goto(app.baseUrl + acme.path)
    await live(tab.page)
    await tab.page.evaluate(() => {
      Element.prototype.animate = () => {
        throw new Error('Something moves.')
      }
    })
    await acme.incident('Payments fail')
    await tab.page.getByRole('link', { name: 'Payments fail' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('times are relative, and on demand absolute, in both time zones', async () => {
    await using tab = await openTab({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' })
    const { page } = tab
    const acme = await owner()
    await page.clock.install()
    await acme.incident('Payments fail', { startedAt: '2026-11-20T00:30:00Z' })
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    const since = page.locator('time[datetime="2026-11-20T00:30:00.000Z"]')
    const posted = page.locator('.timeline time')
    const lasting = page.locator('[data-since]')
    expect(await since.textContent()).toBe('20 Nov 2026, 00:30 UTC')
    expect(await since.getAttribute('datetime')).toBe('2026-11-20T00:30:00.000Z')
    expect(await posted.textContent()).toMatch(/^(now|1 minute ago)$/)
    expect(await lasting.textContent()).toMatch(/^\d+ d .*so far$/)

    await page.clock.fastForward('58:00')
    await expect.poll(() => posted.textContent()).toMatch(/^5[89] minutes ago$/)
    // A change of the page keeps it that way.
    await acme.incident('Another one')
    await page.getByRole('link', { name: 'Another one' }).waitFor()
    expect(await posted.last().textContent()).toMatch(/^(5\d minutes|1 hour) ago$/)

    const tip = page.getByRole('tooltip')
    const lines = tip.locator('span')
    await since.hover()
    await tip.waitFor()
    expect(await lines.allTextContents()).toEqual(['20 Nov 2026, 00:30 UTC', '20 Nov 2026, 09:30 JST, your time'])
    await page.keyboard.press('Escape')
    expect(await tip.count()).toBe(0)
    await posted.last().focus()
    await tip.waitFor()
    expect(await lines.allTextContents()).toEqual([
      expect.stringMatching(/ UTC$/),
      expect.stringMatching(/ JST, your time$/),
    ])
    expect(await posted.last().getAttribute('aria-describedby')).toBe('time-tip')
    expect(tab.complaints).toEqual([])
  })

  test('a page that lost its connection only shows how long something lasted as far as known', async () => {
    await using tab = await openTab()
    const { page } = tab
    const acme = await owner()
    await acme.incident('Payments fail')
    await page.clock.install()
    await page.goto(app.baseUrl + acme.path)
    await live(page)
    await page.context().setOffline(true)
    await page.clock.fastForward('58:00')
    await page.locator('#live[data-state=lost]').waitFor()
    await page.clock.fastForward('00:20')
    expect(await page.locator('.timeline time').textContent()).toMatch(/^5[89] minutes ago$/)
    expect(await page.locator('[data-since]').textContent()).toMatch(/^(under a minute|1 min) so far$/)
  })
})
