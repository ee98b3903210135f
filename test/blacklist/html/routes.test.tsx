import type { Hono } from 'hono'
import pino from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../../../src/blacklist/check-report.ts'
import type { ListInfos } from '../../../src/blacklist/html/landing.tsx'
import { printable } from '../../../src/blacklist/html/printable.ts'
import { ReportSection } from '../../../src/blacklist/html/report.tsx'
import { checkPages } from '../../../src/blacklist/html/routes.tsx'
import type { HealthStatus } from '../../../src/blacklist/list-health.ts'
import { Invalid, LimitExceeded } from '../../../src/core/errors.ts'
import { givenCheckPages } from '../../support/check-pages.ts'
import { bodyReader, nestingFaults, repeatedIds } from '../../support/markup.ts'
import { answer, answers, domainReport, ipReport, listing, lists, policy } from '../../support/reports.ts'

const address = '203.0.113.7'
const reportOf = (report: Report, resolvers: readonly string[] | null = null) =>
  String(<ReportSection report={report} resolvers={resolvers} />)
const namesInOrder = (html: string) => [...html.matchAll(/<h3>([^<]*)<\/h3>/g)].map(([, name]) => name)
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, '')

let pages: Awaited<ReturnType<typeof givenCheckPages>>
beforeAll(async () => {
  pages = await givenCheckPages()
})

/** Opens the page of a check. Returns the page and the check. */
async function open(target: string) {
  const next = pages.nextCheck()
  const response = await pages.app.request(`/check/${target}`)
  return { response, check: await next, body: bodyReader(response) }
}

describe('landing page', () => {
  test('links to the console, and to sign-up if it is open', async () => {
    const html = async (isSignUpOpen: boolean) => (await appThat({ isSignUpOpen }).request('/')).text()
    expect(await html(false)).toContain('href="/console"')
    expect(await html(false)).not.toContain('href="/sign-up"')
    expect(await html(true)).toContain('href="/sign-up"')
  })

  test('shows the form, the lists with their health, the examples, the limits and the visitor’s address', async () => {
    const response = await pages.app.request('/')
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
    expect(html).toContain('<form class="check" action="/check" method="get">')
    expect(html).toContain('<label for="target">')
    for (const { name } of [...lists.ip, ...lists.domain]) expect(html).toContain(name)
    expect(html).toContain('<span class="health" data-ill="true">Refusing our queries</span>')
    expect(html).toContain(`<a href="/check/${address}" rel="nofollow">${address}</a>`)
    expect(html).toContain('https://allclear.example/api/blacklist-monitor/ip?target=')
    expect(html).toContain('wss://allclear.example/graphql')
    expect(textOf(html)).toContain('100 free checks a day')
    expect(textOf(html)).toContain('1,000 a day')
  })

  test('shows examples that can be copied to a shell', async () => {
    const html = (await (await pages.app.request('/')).text()).replaceAll('&quot;', '"').replaceAll('&#39;', "'")
    const sent = [...html.matchAll(/^&gt; (.*?)(?:<\/code>|$)|-d '(.*?)'/gm)].map(
      ([, frame, body]) => frame ?? body ?? '',
    )
    expect(sent).toHaveLength(3)
    for (const text of sent) expect(() => JSON.parse(text)).not.toThrow()
  })

  test('shows no health for a list that has not been measured', async () => {
    const html = await (await pages.app.request('/')).text()
    expect(html).toMatch(/<dt>Mailspike <\/dt>/)
  })

  test('omits the visitor’s address when it cannot be checked', async () => {
    const html = await (await appThat({ ownAddress: () => null }).request('/')).text()
    expect(html).not.toContain('you come from')
  })
})

describe('when no list answers', () => {
  const ill = (health: HealthStatus): ListInfos => ({
    ip: lists.ip.map((list) => ({ ...list, health })),
    domain: lists.domain.map((list) => ({ ...list, health })),
  })
  const failed = answers().map((result) => ({ ...result, error: 'refused' as const }))
  const landing = async (parts: Parameters<typeof appThat>[0]) => (await appThat(parts).request('/')).text()

  test('the landing page hides the problem from visitors, and shows advice to the operator', async () => {
    const visitors = await landing({ lists: () => ill('refusing') })
    expect(visitors).not.toMatch(/data-ill|DNS_SERVERS|resolver/)
    expect(textOf(visitors)).toContain('The lists are not answering right now.')
    const operators = await landing({ lists: () => ill('refusing'), resolvers: () => ['192.0.2.53'] })
    expect(textOf(operators)).toContain('Allclear sends its queries through the resolver 192.0.2.53.')
    expect(operators).toContain('<code>DNS_SERVERS=127.0.0.1:53</code>')
    expect(operators).toContain('Refusing our queries')
    expect(nestingFaults(operators)).toEqual([])
  })

  test('the landing page shows no notice while health is unknown or one list answers', async () => {
    for (const each of [lists, ill('unknown'), ill('ok')]) {
      const html = await landing({ lists: () => each, resolvers: () => ['192.0.2.53'] })
      expect(html).not.toMatch(/DNS_SERVERS|at the moment/)
    }
  })

  test('a report shows advice to the operator, and asks visitors to try again', () => {
    const report = ipReport(address, failed)
    expect(reportOf(report)).not.toMatch(/DNS_SERVERS|resolver/)
    expect(textOf(reportOf(report))).toContain('Check again in a few minutes')
    expect(reportOf(report, ['192.0.2.53', '192.0.2.54'])).toContain('the resolvers 192.0.2.53, 192.0.2.54')
    expect(reportOf(ipReport(address), ['192.0.2.53'])).not.toContain('DNS_SERVERS')
  })
})

describe('a policy entry', () => {
  const results = answers({ 'Spamhaus ZEN': policy })

  test('looks the same on an address and on a domain with that address', () => {
    for (const html of [
      reportOf(ipReport(address, results)),
      reportOf(domainReport('example.com', [ipReport(address, results)])),
    ]) {
      expect(html).toContain('<div class="verdict" data-outcome="policy">')
      expect(html).toMatch(/<li data-state="policy" data-for="203.0.113.7" data-list="Spamhaus ZEN">/)
      expect(html).not.toMatch(/data-(state|outcome)="listed"|none of the|is clean/)
      expect(textOf(html)).toContain('0 listed, 1 policy entry, ')
      expect(textOf(html)).toContain('View or remove this entry on Spamhaus ZEN')
      expect(textOf(html)).toContain('it does not report abuse')
    }
  })
})

describe('the form without JavaScript', () => {
  test.each([
    ['203.0.113.7', '/check/203.0.113.7'],
    [' example.com ', '/check/example.com'],
    ['2001:db8::1', '/check/2001%3Adb8%3A%3A1'],
    ['https://example.com/?a=b#c', '/check/https%3A%2F%2Fexample.com%2F%3Fa%3Db%23c'],
    ['//evil.example', '/check/%2F%2Fevil.example'],
    ['a\r\nset-cookie: x', '/check/a%0D%0Aset-cookie%3A%20x'],
    ['пример.рф', '/check/%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84'],
  ])('%j redirects to %s', async (input, location) => {
    const response = await pages.app.request(`/check?target=${encodeURIComponent(input)}`)
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe(location)
  })

  test.each(['/check', '/check?target=', '/check?target=%20'])('%s asks for a target', async (path) => {
    const response = await pages.app.request(path)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('Enter an IP address or a domain name.')
  })
})

describe('a rejected check', () => {
  test.each(['https%3A%2F%2Fexample.com%2Fa', 'https://example.com/a', '10.0.0.1', '%E0%A4%A', '%00'])(
    'is a page with status 400 for /check/%s',
    async (target) => {
      const response = await pages.app.request(`/check/${target}`)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('aria-invalid="true"')
    },
  )

  test('returns a page with status 429 and rate-limit headers when the allowance is used up', async () => {
    const app = appThat({
      async start(c) {
        c.header('x-ratelimit-remaining', '0')
        throw new LimitExceeded('All 100 checks of today are used.', 100, new Date('2026-11-21T00:00:00Z'))
      },
    })
    const response = await app.request(`/check/${address}`)
    expect(response.status).toBe(429)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(response.headers.get('retry-after')).toBe('Sat, 21 Nov 2026 00:00:00 GMT')
    expect(await response.text()).toContain('All 100 checks of today are used.')
  })

  test('escapes a message that repeats the input', async () => {
    const app = appThat({
      async start(_, input) {
        throw new Invalid('INVALID_TARGET', `${input} cannot be checked.`)
      },
    })
    const html = await (await app.request('/check/%3Cscript%3Ealert(1)%3C%2Fscript%3E')).text()
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('&lt;script&gt;')
  })

  test('leaves unexpected errors to the application', async () => {
    const app = appThat({
      async start() {
        throw new Error('the database is gone')
      },
    })
    app.onError((error, c) => c.text(error.message, 500))
    const response = await app.request(`/check/${address}`)
    expect([response.status, await response.text()]).toEqual([500, 'the database is gone'])
  })
})

describe('a check of an address', () => {
  test('streams the lists, then each answer in order of arrival, then the report', async () => {
    const { response, check, body } = await open(address)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-accel-buffering')).toBe('no')

    const first = await body.until('id="pending"')
    for (const { name } of lists.ip)
      expect(first).toContain(`data-state="pending" data-for="${address}" data-list="${name}"`)
    expect(first).not.toContain('<template')

    check.step({ kind: 'answer', target: address, result: answer('PSBL', listing) })
    expect(await body.until('</template>')).toContain(
      `<template data-for="${address}" data-list="PSBL"><li data-state="listed"`,
    )
    check.step({ kind: 'answer', target: address, result: answer('SpamCop') })
    const second = await body.until('data-list="SpamCop"><li')
    expect(second.indexOf('<template data-for="203.0.113.7" data-list="PSBL"')).toBeLessThan(
      second.indexOf('<template data-for="203.0.113.7" data-list="SpamCop"'),
    )
    expect(second).not.toContain('id="report"')
    expect(second).not.toContain('<footer')

    check.step({ kind: 'report', report: ipReport(address, answers({ PSBL: listing })) })
    const whole = await body.until('no end')
    expect(whole).toMatch(/<\/article><\/main><footer class="site">.*<\/footer><\/body><\/html>$/s)
    expect(nestingFaults(whole)).toEqual([])
    expect(repeatedIds(whole)).toEqual([])
    expect(whole).toContain('<meta name="robots" content="noindex, nofollow"/>')
    expect(whole).toContain(`<link rel="canonical" href="https://allclear.example/check/${address}"/>`)
    expect(whole).toContain('https://db-ip.com')
    await check.returned
  })

  test('ends when the client disconnects before all lists have answered', async () => {
    const { check, body } = await open(address)
    await body.until('id="pending"')
    await body.leave()
    await check.returned
    expect(pages.logged).toEqual([])
  })

  test('shows an error and logs the cause when it ends without a report', async () => {
    for (const error of [undefined, new Error('a secret detail')]) {
      const { check, body } = await open(address)
      check.end(error)
      const html = await body.until('no end')
      expect(html).toContain('The check failed.')
      expect(html).not.toContain('a secret detail')
      expect(nestingFaults(html)).toEqual([])
    }
    expect(pages.logged.splice(0).map((line) => JSON.parse(line).err.message)).toEqual([
      'The check ended without a report.',
      'a secret detail',
    ])
  })

  test('does not start for HEAD', async () => {
    const response = await pages.app.request(`/check/${address}`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('accepts any notation of a target and shows the canonical one', async () => {
    const { check, body } = await open('2001:DB8:0::1')
    expect(await body.until('</h2>')).toContain('<title>Checking 2001:db8::1 · Allclear</title>')
    check.end()
  })
})

describe('a check of a domain', () => {
  test('shows its addresses once resolved, and the reason for unchecked ones', async () => {
    const { check, body } = await open('example.com')
    const first = await body.until('id="pending"')
    expect(first).toContain('data-for="example.com" data-list="SURBL"')
    expect(first).not.toContain('Spamhaus')

    check.step({ kind: 'resolved', addresses: [address, '10.0.0.5', '203.0.113.8'], checked: [address] })
    const second = await body.until('Not checked')
    expect(second).toContain(`data-state="pending" data-for="${address}" data-list="Spamhaus ZEN"`)
    expect(textOf(await body.until('</ul></section>\n'))).toContain('10.0.0.5 is not a public address')
    expect(textOf(second)).toContain('203.0.113.8 exceeds the number')

    const report = domainReport('example.com', [ipReport(address)], {
      resolvedIps: [address, '10.0.0.5', '203.0.113.8'],
    })
    check.step({ kind: 'report', report })
    const whole = await body.until('no end')
    expect(nestingFaults(whole)).toEqual([])
    expect(repeatedIds(whole)).toEqual([])
  })

  test('continues when the domain has no address', async () => {
    const { check, body } = await open('example.com')
    check.step({ kind: 'resolved', addresses: [], checked: [] })
    check.step({ kind: 'report', report: domainReport('example.com', []) })
    expect(textOf(await body.until('no end'))).toContain('Addressesnone')
  })
})

describe('the report', () => {
  const failed = { error: 'timeout', note: 'It did not answer in time.' } as const
  const noIpv6 = { error: 'unsupported', note: 'It holds no IPv6 addresses.' } as const

  test('shows listings first, then missing answers, then the rest', () => {
    const html = reportOf(ipReport(address, answers({ DroneBL: listing, PSBL: failed, SpamCop: noIpv6 })))
    expect(namesInOrder(html)).toEqual(['DroneBL', 'PSBL', 'SpamCop', 'Spamhaus ZEN', 'Barracuda', 'Mailspike'])
  })

  test('shows the reason, meaning, codes and contest link of a listing', () => {
    const html = reportOf(ipReport(address, answers({ PSBL: listing })))
    expect(html).toContain('data-outcome="listed"')
    expect(html).toContain('<p dir="auto">Blocked - see https://lists.example/query/203.0.113.7</p>')
    expect(html).toContain('SBL: spam source')
    expect(html).toContain('<code>127.0.0.2</code>')
    expect(html).toContain('anyone may remove an entry')
    expect(html).toContain('href="https://lists.example/contest?target=203.0.113.7" rel="noopener noreferrer"')
    expect(textOf(html)).toContain('1 listed, 5 not listed')
    expect(textOf(html)).toContain('Find the cause first')
    expect(html).toContain('data-title="Listed: 203.0.113.7 · Allclear"')
  })

  test('shows no contest link for a clean address', () => {
    const html = reportOf(ipReport(address))
    expect(html).toContain('class="verdict" data-outcome="clean"')
    expect(textOf(html)).toContain('is clean: none of the 6 blacklists lists it.')
    expect(html).not.toContain('Contest')
    expect(textOf(html)).toContain('Nothing. If mail is still refused')
  })

  test('never calls an address clean when a list did not answer', () => {
    const html = reportOf(ipReport(address, answers({ PSBL: failed })))
    expect(html).toContain('class="verdict" data-outcome="incomplete"')
    expect(textOf(html)).toContain('0 listed, 5 not listed, 1 unknown')
    expect(textOf(html)).toContain('It did not answer in time.')
    expect(textOf(html)).toContain('this is not an all-clear')
    expect(textOf(html)).not.toContain('is clean')
    expect(textOf(html)).toContain('Look up on PSBL')
  })

  test('is inconclusive when no list answered', () => {
    const allFailed = Object.fromEntries(lists.ip.map(({ name }) => [name, failed]))
    const html = reportOf(ipReport(address, answers(allFailed)))
    expect(html).toContain('class="verdict" data-outcome="incomplete"')
    expect(textOf(html)).toContain('this check is inconclusive')
  })

  test('does not suggest repeating a check that would have the same result', () => {
    const html = reportOf(ipReport('2001:db8::1', answers({ PSBL: noIpv6 })))
    expect(textOf(html)).toContain('No known IPv6 data')
    expect(textOf(html)).toContain('checking again will not help')
  })

  test('shows the exact time in UTC, the location, the network, and links to itself and its JSON', () => {
    const html = reportOf(ipReport('2001:db8::1'))
    expect(html).toContain('<time datetime="2026-11-20T12:52:19.000Z">20 Nov 2026, 12:52:19 UTC</time>')
    expect(textOf(html)).toContain('Falkenstein, Germany')
    expect(textOf(html)).toContain('Example Hosting GmbH, AS64500')
    expect(html).toContain('href="/check/2001%3Adb8%3A%3A1"')
    expect(html).toContain('href="/api/blacklist-monitor/ip?target=2001%3Adb8%3A%3A1"')
  })

  test('shows "unknown" for unknown parts of the location', () => {
    const unknown = { country: null, city: null, isp: null, asn: null }
    const none = textOf(reportOf(ipReport(address, answers(), { geo: unknown })))
    expect(none).toContain('Locationunknown')
    expect(none).toContain('Networkunknown')
    const some = textOf(reportOf(ipReport(address, answers(), { geo: { ...unknown, country: 'Germany', asn: 'AS1' } })))
    expect(some).toContain('LocationGermany')
    expect(some).toContain('NetworkAS1')
  })

  test('on a domain shows the domain lists first, then every address with its outcome', () => {
    const reports = [ipReport('203.0.113.1'), ipReport('203.0.113.2', answers({ PSBL: listing }))]
    const html = reportOf(
      domainReport('example.com', reports, { results: [answer('SURBL'), answer('URIBL', listing)] }),
    )
    const headings = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, heading]) => heading)
    expect(headings).toEqual(['What to do now', 'The name example.com', '203.0.113.1', '203.0.113.2'])
    expect(html).toContain('class="address" data-outcome="clean"')
    expect(html).toContain('class="address" data-outcome="listed"')
    expect(textOf(html)).toContain('Addresses2 found, 2 checked')
    expect(html).toContain('/api/blacklist-monitor/domain?target=example.com')
  })

  test('on a domain whose addresses could not be resolved is not clean', () => {
    const html = reportOf(domainReport('example.com', [], { resolutionFailed: true }))
    expect(html).toContain('class="verdict" data-outcome="incomplete"')
    expect(textOf(html)).toContain('could not be looked up')
    expect(textOf(html)).toContain('Check again in a few minutes')
  })

  test('escapes untrusted text from a list', () => {
    const response = `<img src=x onerror=alert(1)> "quoted" \u0000\u001b[31m \u202egnp.exe`
    const html = reportOf(
      ipReport(address, answers({ PSBL: { ...listing, response, codes: ['<b>127.0.0.2</b>'], note: '</li>' } })),
    )
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;quoted&quot; \u{FFFD}\u{FFFD}[31m \u{FFFD}gnp.exe')
    expect(html).not.toContain('<img')
    expect(html).not.toContain('<b>')
    expect(nestingFaults(html)).toEqual([])
  })

  test('with its page, style and script is smaller than 60 kB', async () => {
    const sizes = await Promise.all(
      ['style.css', 'check.js', 'favicon.svg'].map(async (name) => {
        const response = await pages.app.request(pages.site.assets.url(name))
        return (await response.arrayBuffer()).byteLength
      }),
    )
    const { check, body } = await open(address)
    const results = answers({ PSBL: listing, SpamCop: listing, Barracuda: failed })
    for (const result of results) check.step({ kind: 'answer', target: address, result })
    check.step({ kind: 'report', report: ipReport(address, results) })
    const page = Buffer.byteLength(await body.until('no end'))
    expect(sizes.reduce((sum, size) => sum + size, page)).toBeLessThan(60_000)
  })
})

describe('printable text', () => {
  test.each([
    ['a plain reason', 'a plain reason'],
    [' two\r\nlines\tand\u2028more ', 'two lines and more'],
    ['\u0007bell \u009bcsi \u200bzero \ufefffront', '\u{FFFD}bell \u{FFFD}csi \u{FFFD}zero front'],
    ['right \u202e to \u2066 left', 'right \u{FFFD} to \u{FFFD} left'],
    ['half a pair \ud83d', 'half a pair \u{FFFD}'],
    ['грязь 🚫', 'грязь 🚫'],
    ['', ''],
  ])('%j becomes %j', (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is truncated to 400 characters, never inside a character', () => {
    expect(printable('🚫'.repeat(5000))).toBe(`${'🚫'.repeat(400)}…`)
    expect(printable('a'.repeat(400))).toBe('a'.repeat(400))
  })
})

/** Creates the pages with the given dependencies. */
function appThat(parts: Partial<Parameters<typeof checkPages>[0]>): Hono {
  return checkPages({
    site: pages.site,
    log: pino({ level: 'silent' }),
    checksPerDay: { free: 100, pro: 1000 },
    isSignUpOpen: false,
    lists: () => lists,
    resolvers: () => null,
    ownAddress: () => address,
    async start() {
      throw new Error('This test starts no check.')
    },
    ...parts,
  })
}
