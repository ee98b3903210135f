import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { RequestRoute } from '../../src/core/request-route.ts'
import { examineAddress, examineProxy } from '../../src/diagnosis/route.ts'
import { clientAddress } from '../../src/http/request/client-address.ts'

function trusting(...ranges: string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = address.includes(':') ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}

/** Returns the route of a request with these headers and peer, at a service with these trusted proxies. */
function route(peer: string, forwardedFor: string | null, trusted: BlockList | null, more: Partial<RequestRoute> = {}) {
  const client = clientAddress(peer, forwardedFor ?? undefined, trusted)
  const host = 'status.example.com'
  const hasProxyHeader = forwardedFor !== null
  return { ...{ peer, client, host, forwardedFor, forwardedProto: null, hasProxyHeader }, ...more }
}

describe('the route of a request', () => {
  const local = ['127.0.0.1']
  test.each<[string, readonly string[] | null, string, string | null, Partial<RequestRoute>, string, string | null]>([
    ['no proxy', null, '198.51.100.7', null, {}, 'PROXY_NONE', null],
    ['an unknown peer', null, '', null, {}, 'PROXY_NONE', null],
    [
      'the machine itself, where its proxy is trusted',
      local,
      '127.0.0.1',
      null,
      { host: 'localhost:4000' },
      'PROXY_NONE',
      null,
    ],
    ['a visitor beside the trusted proxy', local, '127.0.0.1', null, { host: 'allclear.lan' }, 'PROXY_NONE', null],
    [
      'a trusted proxy on the internet that passes on a local name',
      ['198.51.100.7'],
      '198.51.100.7',
      null,
      { host: 'localhost' },
      'PROXY_ADDRESS_UNKNOWN',
      'X-Forwarded-For',
    ],
    [
      'a proxy that is not trusted',
      null,
      '127.0.0.1',
      '198.51.100.7',
      {},
      'PROXY_NOT_TRUSTED',
      'TRUST_PROXY=127.0.0.1',
    ],
    [
      'a proxy beside the trusted one',
      ['10.0.0.0/8'],
      '172.17.0.1',
      '198.51.100.7',
      {},
      'PROXY_NOT_TRUSTED',
      'TRUST_PROXY=10.0.0.0/8,172.17.0.1',
    ],
    ['a mapped peer', null, '::ffff:127.0.0.1', '198.51.100.7', {}, 'PROXY_NOT_TRUSTED', 'TRUST_PROXY=127.0.0.1'],
    ['a trusted proxy', local, '127.0.0.1', '198.51.100.7', {}, 'PROXY_OK', null],
    ['a trusted proxy before a visitor on the LAN', local, '127.0.0.1', '192.168.1.7', {}, 'PROXY_OK', null],
    [
      'a trusted proxy that passes on a forged header',
      local,
      '127.0.0.1',
      '10.0.0.9, 198.51.100.7',
      {},
      'PROXY_OK',
      null,
    ],
    ['a visitor on the machine of a trusted proxy', local, '127.0.0.1', '127.0.0.1', {}, 'PROXY_OK', null],
    ['a trusted proxy that writes ports', local, '127.0.0.1', '127.0.0.1:5000', {}, 'PROXY_OK', null],
    ['a trusted proxy without the header', local, '127.0.0.1', null, {}, 'PROXY_ADDRESS_UNKNOWN', 'X-Forwarded-For'],
    [
      'a proxy with another header',
      null,
      '10.0.0.2',
      null,
      { hasProxyHeader: true },
      'PROXY_ADDRESS_UNKNOWN',
      'X-Forwarded-For',
    ],
    [
      'a trusted proxy that hides addresses',
      local,
      '127.0.0.1',
      'unknown',
      {},
      'PROXY_ADDRESS_UNKNOWN',
      'X-Forwarded-For',
    ],
    [
      'a second proxy that is not trusted',
      local,
      '127.0.0.1',
      '198.51.100.7, 10.0.0.2',
      {},
      'PROXY_CHAIN_INCOMPLETE',
      'TRUST_PROXY=127.0.0.1,10.0.0.2',
    ],
    [
      'a load balancer in carrier-grade NAT that is not trusted',
      local,
      '127.0.0.1',
      '198.51.100.7, 100.64.0.2',
      {},
      'PROXY_CHAIN_INCOMPLETE',
      'TRUST_PROXY=127.0.0.1,100.64.0.2',
    ],
    ['a header of garbage', local, '127.0.0.1', ',,\u0000 <script>,', {}, 'PROXY_ADDRESS_UNKNOWN', 'X-Forwarded-For'],
    [
      'a header of a million characters',
      local,
      '127.0.0.1',
      '9.'.repeat(500_000),
      {},
      'PROXY_ADDRESS_UNKNOWN',
      'X-Forwarded-For',
    ],
    ['everybody trusted', ['0.0.0.0/0', '::/0'], '198.51.100.7', '1.2.3.4', {}, 'PROXY_ALL_TRUSTED', 'TRUST_PROXY='],
  ])('%s', (_, ranges, peer, forwardedFor, more, code, fix) => {
    const trusted = ranges && trusting(...ranges)
    const finding = examineProxy(route(peer, forwardedFor, trusted, more), trusted)
    expect(finding.code).toBe(code)
    if (fix === null) expect(finding.fix).toBeNull()
    else expect(finding.fix).toContain(fix)
  })

  test.each<[string, Partial<RequestRoute>, string, string | null]>([
    ['https://status.example.com', {}, 'ADDRESS_OK', null],
    ['https://status.example.com', { forwardedProto: 'https' }, 'ADDRESS_OK', null],
    ['https://status.example.com', { host: null }, 'ADDRESS_OK', null],
    ['https://status.example.com', { host: 'a b', forwardedProto: 'javascript' }, 'ADDRESS_OK', null],
    [
      'http://localhost:4000',
      { forwardedProto: 'https, http' },
      'ADDRESS_DIFFERENT',
      'BASE_URL=https://status.example.com',
    ],
    [
      'http://status.example.com',
      { forwardedProto: 'https' },
      'ADDRESS_DIFFERENT',
      'BASE_URL=https://status.example.com',
    ],
    ['https://old.example.com', {}, 'ADDRESS_DIFFERENT', 'BASE_URL=https://status.example.com'],
  ])('the public address %s, and %j', (baseUrl, more, code, fix) => {
    expect(examineAddress(baseUrl, route('127.0.0.1', null, null, more))).toMatchObject({ code, fix })
  })
})
