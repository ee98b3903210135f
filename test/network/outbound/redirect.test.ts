import { describe, expect, test } from 'vitest'
import { firstHop, nextHop } from '../../../src/network/outbound/redirect.ts'

const secrets = [
  { name: 'Authorization', value: 'Bearer s3cret' },
  { name: 'X-Api-Key', value: 's3cret' },
  // Some firewalls admit requests with a User-Agent that only the owner knows, so it may be a secret.
  { name: 'User-Agent', value: 's3cret' },
]

function hop(url: string, method = 'GET', body?: string) {
  return firstHop(
    { url, method, headers: secrets, body, maxBodyBytes: 1 },
    new Map([
      ['user-agent', ['us']],
      ['accept', ['*/*']],
    ]),
  )
}

function headersAfter(from: string, to: string): object {
  return Object.fromEntries(nextHop(hop(from), 302, to)?.headers ?? [])
}

const usual = { 'user-agent': ['us'], accept: ['*/*'] }

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('is followed with status %i', (status) => {
    expect(nextHop(hop('https://a.example/x/y?q'), status, '../z')?.url.href).toBe('https://a.example/z')
  })

  test('needs one of these statuses and a Location', () => {
    expect(nextHop(hop('https://a.example/'), 300, '/z')).toBeNull()
    expect(nextHop(hop('https://a.example/'), 304, '/z')).toBeNull()
    expect(nextHop(hop('https://a.example/'), 302, undefined)).toBeNull()
  })

  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('with status %i makes %s a %s, whose body is kept only with the method', (status, method, expected) => {
    const next = nextHop(hop('https://a.example/', method, method === 'HEAD' ? undefined : 'b'), status, '/z')
    expect(next?.method).toBe(expected)
    expect(next?.body?.toString()).toBe(expected === method && method !== 'HEAD' ? 'b' : undefined)
  })

  test('keeps all headers to the same origin, and to the same host on https', () => {
    const all = { ...usual, authorization: ['Bearer s3cret'], 'x-api-key': ['s3cret'], 'user-agent': ['s3cret'] }
    expect(headersAfter('https://a.example/', 'https://a.example:443/z')).toEqual(all)
    expect(headersAfter('http://a.example/', 'https://a.example/')).toEqual(all)
  })

  test.each([
    'https://b.example/',
    'http://a.example/',
    'https://a.example:8443/',
    'https://www.a.example/',
    '//b.example/',
  ])('keeps only default headers from https://a.example to %s', (to) => {
    expect(headersAfter('https://a.example/', to)).toEqual(usual)
  })

  test('does not send secrets to another port of an http host', () => {
    expect(headersAfter('http://a.example:8080/', 'https://a.example/')).toEqual(usual)
  })

  test('does not send secrets when it leads back from another host', () => {
    const away = nextHop(hop('https://a.example/'), 302, 'https://b.example/')
    const back = away && nextHop(away, 302, 'https://a.example/')
    expect(Object.fromEntries(back?.headers ?? [])).toEqual(usual)
  })

  test('is not followed to another host with a body', () => {
    expect(nextHop(hop('https://a.example/', 'POST', 'b'), 307, 'https://b.example/')).toBeNull()
  })

  test.each([
    ['file:///etc/passwd', 'The redirect target is a file: URL, not an http:// or https:// URL'],
    ['ftp://b.example/', 'The redirect target is a ftp: URL, not an http:// or https:// URL'],
    ['javascript:alert(1)', 'The redirect target is a javascript: URL, not an http:// or https:// URL'],
    ['http://', 'The redirect target is not a valid URL'],
    ['http://user:word@b.example/', 'The redirect target is a URL with credentials'],
    ['http://b.example:25/', 'The redirect target is on port 25, which is for mail'],
  ])('to %s is refused', (to, message) => {
    expect(() => nextHop(hop('https://a.example/'), 302, to)).toThrow(message)
  })
})

describe('a redirect to an address beyond ASCII', () => {
  test.each([
    ['/caf\xc3\xa9/seite', 'https://a.example/caf%C3%A9/seite'],
    ['/caf\xe9', 'https://a.example/caf%E9'],
    ['?q=\xc3\xa9#\xc3\xa9', 'https://a.example/?q=%C3%A9#%C3%A9'],
    ['/caf%C3%A9/\xc3\xa9', 'https://a.example/caf%C3%A9/%C3%A9'],
    ['//b\xc3\xbccher.example/', 'https://xn--bcher-kva.example/'],
  ])('keeps its bytes, as browsers do: %j', (location, href) => {
    expect(nextHop(hop('https://a.example/'), 302, location)?.url.href).toBe(href)
  })
})
