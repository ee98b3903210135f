import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/core/config.ts'
import { isOwnHost, strictTransportFor } from '../../../src/http/request/own-host.ts'

const config = (settings: NodeJS.ProcessEnv) => readConfig({ DNS_SERVERS: '127.0.0.1', ...settings })

describe('the host of a request', () => {
  const listed = config({
    BASE_URL: 'https://status.example.com',
    ALLOWED_HOSTS: 'allclear, NAS.lan., my_app, bücher.example',
  })
  const unset = config({})

  test.each([
    ['status.example.com', true],
    ['STATUS.example.com:8443', true],
    ['status.example.com.', true],
    ['status.example.com.:80', true],
    ['allclear:4000', true],
    ['nas.lan', true],
    ['my_app', true],
    ['xn--bcher-kva.example', true],
    [undefined, true],
    ['a.status.example.com', false],
    ['example.com', false],
    ['status.example.com.evil.example', false],
    ['evil.example', false],
    ['app', false],
    ['nas.lan.evil.example', false],
  ])('%s is our own: %s', (host, is) => {
    expect(isOwnHost(host, listed)).toBe(is)
    expect(isOwnHost(host, unset)).toBe(host === undefined)
  })

  test.each(['localhost', 'LOCALHOST:4000', 'localhost.', 'a.localhost', 'b.a.localhost:80'])(
    '%s is our own',
    (host) => {
      expect([isOwnHost(host, listed), isOwnHost(host, unset)]).toEqual([true, true])
    },
  )

  test.each([
    ...['127.0.0.1', '127.0.0.1:4000', '127.0.0.1.', '10.0.0.7', '203.0.113.9:80'],
    ...['[::1]', '[::1]:4000', '[2001:db8::1]', '[::ffff:127.0.0.1]:80', '[fe80::1]'],
    // Browsers and curl read these as addresses.
    ...['127.1', '2130706433', '0x7f.1', '0177.0.0.1'],
  ])('%s is an address, which no resolver can change', (host) => {
    expect([isOwnHost(host, listed), isOwnHost(host, unset)]).toEqual([true, true])
  })

  test.each([
    '127.0.0.1.evil.example',
    '127-0-0-1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
    '[::1',
    '1.2.3.4.5',
  ])('%s is not our own', (host) => expect([isOwnHost(host, listed), isOwnHost(host, unset)]).toEqual([false, false]))
})

describe('Strict-Transport-Security', () => {
  const year = 'max-age=31536000'
  const month = 'max-age=2592000'
  const site = { BASE_URL: 'https://status.example.com' }
  const proxied = { ...site, TRUST_PROXY: '127.0.0.1' }
  const lan = { BASE_URL: 'http://nas.lan:4000', TRUST_PROXY: '127.0.0.1' }

  test.each([
    // By BASE_URL alone, when nothing says otherwise.
    [site, 'status.example.com', undefined, year],
    [site, 'STATUS.example.com.', undefined, year],
    [site, 'status.example.com:443', undefined, year],
    [site, 'status.example.com', 'https', year],
    [site, 'status.example.com', 'http', null],
    [site, 'status.example.com:4000', undefined, null],
    [site, 'status.acme.example', undefined, null],
    [site, 'status.acme.example', 'https', null],
    // By a trusted proxy.
    [proxied, 'status.example.com', 'https', year],
    [proxied, 'status.acme.example', 'https', month],
    [proxied, 'status.acme.example', 'HTTPS, https', month],
    [proxied, 'status.acme.example', 'https, http', null],
    [proxied, 'status.acme.example', 'http', null],
    [proxied, 'status.acme.example', '', null],
    [proxied, 'status.acme.example', undefined, null],
    [proxied, 'status.acme.example:8443', 'https', null],
    [{ TRUST_PROXY: '127.0.0.1' }, 'status.example.com', 'https', month],
    [{ TRUST_PROXY: '192.0.2.1' }, 'status.example.com', 'https', null],
    [{}, 'status.example.com', 'https', null],
    // It would apply to every service on the machine.
    [{ ...proxied, BASE_URL: 'https://nas.lan:8443' }, 'nas.lan', 'https', null],
    [proxied, 'localhost', 'https', null],
    [proxied, 'a.localhost', 'https', null],
    [proxied, '127.0.0.1', 'https', null],
    [proxied, '[::1]', 'https', null],
    [proxied, undefined, 'https', null],
    // Plain http.
    [lan, 'nas.lan:4000', undefined, null],
    [lan, 'nas.lan', undefined, null],
    [lan, 'nas.lan', 'http', null],
    [{}, 'status.example.com', undefined, null],
  ])('with %j for %s over %s is %s', (settings, host, protocol, value) => {
    const headers = { ...(host && { host }), ...(protocol !== undefined && { 'x-forwarded-proto': protocol }) }
    const request = { headers, socket: { remoteAddress: '127.0.0.1' } } as Parameters<typeof strictTransportFor>[0]
    expect(strictTransportFor(request, config(settings))).toBe(value)
  })
})
