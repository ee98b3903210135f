import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRdapClient } from '../../../src/network/outbound/rdap.ts'
import { startOutbound, zone } from './setup.ts'

const HOUR = 3_600_000
const limits = { timeoutMs: 5000, signal: new AbortController().signal }

/** Returns a registration as in RFC 9083 §5.3. */
const registration = (ldhName: string, more: object = {}) => ({
  objectClassName: 'domain',
  ldhName,
  status: ['client transfer prohibited'],
  events: [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
  ],
  ...more,
})

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>]

/** Creates a client whose list of registries and whose registry of `example` and `co.example` are on one server. */
async function start(answer: (domain: string) => Answer, list?: (base: string) => unknown) {
  const asked: string[] = []
  const reply = (response: ServerResponse, [status, body, headers = {}]: Answer) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer(({ url = '', headers }: IncomingMessage, response) => {
    asked.push(url)
    const base = `http://${headers.host}`
    const services = [
      [['example'], [`${base}/rdap`]],
      [['co.example'], [`${base}/co/`]],
      [['other'], ['ftp://192.0.2.1/', 7]],
      'nonsense',
    ]
    if (url === '/dns.json') reply(response, [200, list === undefined ? { version: '1.0', services } : list(base)])
    else reply(response, answer(url.replace(/^.*\//, '')))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const { outbound } = await startOutbound(zone({}))
  let at = Date.UTC(2026, 10, 23)
  const client = createRdapClient({
    outbound,
    bootstrapUrl: `http://127.0.0.1:${port}/dns.json`,
    now: () => new Date(at),
  })
  return { asked, of: (domain: string) => client.registrationOf(domain, limits), pass: (ms: number) => (at += ms) }
}

const known = { kind: 'registered', expiresAt: new Date('2027-08-13T04:00:00Z') }

describe('a registration', () => {
  test('is requested once in six hours, and the list of registries once a day', async () => {
    const { asked, of, pass } = await start((domain) => [200, registration(domain.toUpperCase())])
    const both = await Promise.all([of('shop.example'), of('shop.example')])
    expect(both).toEqual([1, 2].map(() => expect.objectContaining(known)))
    pass(6 * HOUR - 1)
    await of('shop.example')
    expect(asked).toEqual(['/dns.json', '/rdap/domain/shop.example'])
    pass(1)
    expect(await of('shop.example')).toMatchObject({ statuses: ['client transfer prohibited'] })
    expect(await of('shop.co.example')).toMatchObject(known)
    expect(asked.slice(2)).toEqual(['/rdap/domain/shop.example', '/co/domain/shop.co.example'])
    pass(18 * HOUR)
    await of('shop.example')
    expect(asked.slice(4)).toEqual(['/dns.json', '/rdap/domain/shop.example'])
  })

  test('at an overloaded registry is unknown until it may be requested again', async () => {
    let isBusy = true
    const { asked, of, pass } = await start((domain) =>
      isBusy ? [429, '', { 'retry-after': '7200' }] : [200, registration(domain)],
    )
    const waiting = { kind: 'unknown', why: expect.stringMatching(/asks to wait until 2026-11-23 02:00 UTC$/) }
    expect(await of('a.example')).toMatchObject(waiting)
    expect(await of('b.example')).toMatchObject(waiting)
    pass(HOUR)
    expect(await of('a.example')).toMatchObject(waiting)
    expect(asked).toEqual(['/dns.json', '/rdap/domain/a.example'])
    isBusy = false
    pass(HOUR)
    expect(await of('a.example')).toMatchObject(known)
  })

  test('is kept after a failure of the registry, until it has expired', async () => {
    let isBroken = false
    const { of, pass } = await start((domain) => (isBroken ? [503, ''] : [200, registration(domain)]))
    await of('a.example')
    isBroken = true
    pass(7 * HOUR)
    expect(await of('a.example')).toMatchObject(known)
    pass(300 * 24 * HOUR)
    expect(await of('a.example')).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/answered HTTP 503$/) })
  })

  test.each<[string, Answer, object]>([
    ['a 404', [404, {}], { kind: 'missing' }],
    ['no event', [200, registration('a.example', { events: [] })], { kind: 'registered', expiresAt: null }],
    [
      'no date',
      [200, registration('a.example', { events: [{ eventAction: 'expiration', eventDate: 'soon' }] })],
      { expiresAt: null },
    ],
    ['invalid events', [200, registration('a.example', { events: 'x', status: 7 })], { expiresAt: null, statuses: [] }],
    ['another domain', [200, registration('b.example')], { kind: 'unknown' }],
    ['no JSON', [200, '<html>'], { kind: 'unknown' }],
    ['brackets', [200, '['.repeat(200_000)], { kind: 'unknown' }],
    ['more than 256 KiB', [200, registration('a.example', { remarks: 'x'.repeat(300_000) })], { kind: 'unknown' }],
    ['redirects without end', [302, '', { location: '/rdap/domain/a.example' }], { kind: 'unknown' }],
  ])('is as expected when the answer is %s', async (_, answer, expected) => {
    const { of } = await start(() => answer)
    expect(await of('a.example')).toMatchObject(expected)
  })

  test.each<[string, unknown, RegExp]>([
    [
      'without its domain',
      { services: [[['net'], ['https://192.0.2.1/']]] },
      /^No registry of \.example supports RDAP$/,
    ],
    ['without an address', { services: [[['example'], ['ftp://192.0.2.1/']]] }, /^The list of registries/],
    ['that is invalid', 'x', /^The list of registries could not be fetched$/],
  ])('is unknown with a list of registries %s', async (_, list, why) => {
    const { asked, of, pass } = await start(
      (domain) => [200, registration(domain)],
      () => list,
    )
    expect(await of('a.example')).toEqual({ kind: 'unknown', why: expect.stringMatching(why) })
    pass(HOUR)
    await of('a.example')
    expect(asked).not.toContain('/rdap/domain/a.example')
  })
})
