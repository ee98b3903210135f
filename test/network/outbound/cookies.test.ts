import { describe, expect, test } from 'vitest'
import { createCookies } from '../../../src/network/outbound/cookies.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

/** Returns the header Cookie for a URL after a response of another set these. */
function sentAfter(from: string, set: readonly string[], to: string, own: readonly string[] = []): string | null {
  const cookies = createCookies()
  cookies.store(new URL(from), set)
  return cookies.headerFor(new URL(to), own)
}

const site = 'https://www.shop.example/a/b'

describe('a cookie', () => {
  test.each([
    ['a=1', site, 'a=1'],
    ['a=1', 'https://www.shop.example/a/c', 'a=1'],
    ['a=1', 'https://www.shop.example/', null],
    ['a=1; Path=/', 'https://www.shop.example/', 'a=1'],
    ['a=1; Path=/x', site, null],
    ['a=1', 'https://other.example/a/b', null],
    ['a=1', 'https://shop.example/a/b', null],
    ['a=1', 'https://www2.shop.example/a/b', null],
    ['a=1; Domain=shop.example', 'https://pay.shop.example/a/b', 'a=1'],
    ['a=1; Domain=.shop.example', 'https://shop.example/a/b', 'a=1'],
    ['a=1; Domain=other.example', 'https://other.example/a/b', null],
    ['a=1; Domain=example', 'https://other.example/a/b', null],
    ['a=1; Secure', 'http://www.shop.example/a/b', null],
    ['a=1; Secure', site, 'a=1'],
    ['a=1; Max-Age=0', site, null],
    ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', site, null],
    ['a=1; HttpOnly; SameSite=Strict', site, 'a=1'],
    ['__Host-a=1; Path=/', site, null],
    ['__Host-a=1; Path=/; Secure', site, '__Host-a=1'],
    [`a=${'x'.repeat(5000)}`, site, null],
    ['', site, null],
    ['=', site, null],
  ])('%j of a page is sent to %s: %j', (set, to, sent) => {
    expect(sentAfter(site, [set], to)).toBe(sent)
  })

  test('of a public suffix is not sent to its other domains', () => {
    expect(sentAfter('https://a.co.uk/', ['a=1; Domain=co.uk'], 'https://b.co.uk/')).toBeNull()
    expect(sentAfter('https://a.github.io/', ['a=1; Domain=github.io'], 'https://b.github.io/')).toBeNull()
  })

  test('of an address is sent to this address only', () => {
    expect(sentAfter('http://127.0.0.1/', ['a=1'], 'http://127.0.0.1/')).toBe('a=1')
    expect(sentAfter('http://127.0.0.1/', ['a=1'], 'http://127.0.0.2/')).toBeNull()
    expect(sentAfter('http://[::1]/', ['a=1'], 'http://[::1]/')).toBe('a=1')
  })

  test('that is secure is not accepted from a plain connection', () => {
    expect(sentAfter('http://shop.example/', ['a=1; Secure'], 'https://shop.example/')).toBeNull()
  })

  test('of a server joins those of the caller, and replaces the same name', () => {
    expect(sentAfter(site, ['a=2'], site, ['a=1; b=1'])).toBe('b=1; a=2')
    expect(sentAfter(site, [], site, ['a=1; b=1'])).toBe('a=1; b=1')
    expect(sentAfter(site, ['a=2'], 'https://other.example/', [])).toBeNull()
  })

  test('is one of fifty, in a header of at most 8190 characters', () => {
    const many = Array.from({ length: 1000 }, (_, index) => `c${index}=1`)
    expect(sentAfter(site, many, site)?.split('; ').length).toBe(50)
    const large = Array.from({ length: 50 }, (_, index) => `c${index}=${'x'.repeat(1000)}`)
    const sent = sentAfter(site, large, site) ?? ''
    expect([sent.length > 7000, sent.length <= 8190]).toEqual([true, true])
  })
})

/** Starts a site that wants a cookie, and sets it with a redirect. Returns what it was asked. */
async function startGate(location: (port: number) => string, set = 'seen=1') {
  const requests: string[] = []
  const { port } = await startTcpServer((socket) => {
    socket.once('data', (chunk) => {
      requests.push(String(chunk))
      const isKnown = /^cookie: .*seen=1/im.test(String(chunk))
      const redirect = `HTTP/1.1 302 Found\r\nLocation: ${location(port)}\r\nSet-Cookie: ${set}\r\n`
      socket.end(`${isKnown ? 'HTTP/1.1 200 OK\r\n' : redirect}Content-Length: 0\r\n\r\n`)
    })
  })
  return { port, requests }
}

describe('a request to a site that redirects to itself with a cookie', () => {
  const ask = async (port: number, headers: readonly { name: string; value: string }[] = []) => {
    const { outbound } = await startOutbound(zone({ 'a.example.com': ['127.0.0.1'], 'b.example.com': ['127.0.0.1'] }))
    const request = { url: `http://a.example.com:${port}/`, headers, maxRedirects: 3, maxBodyBytes: 100 }
    return [await outbound.request(request, ample), await outbound.request(request, ample)]
  }

  test('sends the cookie, and forgets it afterwards', async () => {
    const { port, requests } = await startGate(() => '/')
    expect(await ask(port)).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(requests.map((each) => /^cookie: (.*)\r$/im.exec(each)?.[1])).toEqual([
      undefined,
      'seen=1',
      undefined,
      'seen=1',
    ])
  })

  test('keeps its own cookies', async () => {
    const { port, requests } = await startGate(() => '/')
    await ask(port, [{ name: 'Cookie', value: 'own=1' }])
    expect(requests.slice(0, 2).map((each) => /^cookie: (.*)\r$/im.exec(each)?.[1])).toEqual(['own=1', 'own=1; seen=1'])
  })

  test('sends it to no other host', async () => {
    const { port, requests } = await startGate((at) => `http://b.example.com:${at}/`)
    const [first] = await ask(port, [{ name: 'Cookie', value: 'own=1' }])
    expect(first).toMatchObject({ status: 200 })
    const sent = requests.map((each) => [/^host: ([^:]*)/im.exec(each)?.[1], /^cookie: (.*)\r$/im.exec(each)?.[1]])
    expect(sent.slice(0, 2)).toEqual([
      ['a.example.com', 'own=1'],
      ['b.example.com', undefined],
    ])
  })
})
