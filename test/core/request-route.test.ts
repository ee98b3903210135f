import { describe, expect, test } from 'vitest'
import { isLocalCaller } from '../../src/core/request-route.ts'
import { routeOf } from '../../src/http/request/caller.ts'

/** Returns whether a request from this address with these headers counts as local. */
function isLocal(remoteAddress: string, headers: Record<string, string>): boolean {
  return isLocalCaller(routeOf({ socket: { remoteAddress }, headers } as Parameters<typeof routeOf>[0], remoteAddress))
}

describe('a caller is local', () => {
  test.each([
    ['127.0.0.1', 'localhost:4000'],
    ['::1', '[::1]:4000'],
    ['::ffff:127.0.0.1', '127.0.0.1:4000'],
    ['192.168.1.7', '192.168.1.2'],
    ['10.0.0.7', 'allclear'],
    ['fd00::7', 'allclear.lan'],
    ['fe80::1%eth0', 'ALLCLEAR.local:80'],
  ])('from %s, asking for %s', (address, host) => {
    expect(isLocal(address, { host })).toBe(true)
  })

  test.each([
    ['203.0.113.7', { host: 'localhost' }],
    ['100.64.0.7', { host: 'localhost' }],
    ['127.0.0.1', { host: '100.64.0.7' }],
    ['127.0.0.1', { host: 'status.example.com' }],
    ['172.17.0.1', { host: '203.0.113.80' }],
    ['127.0.0.1', { host: 'localhost', 'x-forwarded-for': '203.0.113.7' }],
    ['127.0.0.1', { host: 'localhost', forwarded: 'for=203.0.113.7' }],
    ['127.0.0.1', { host: 'localhost', via: '1.1 proxy' }],
    ['127.0.0.1', { host: 'localhost', 'x-real-ip': '203.0.113.7' }],
  ])('but not from %s with %j', (address, headers) => {
    expect(isLocal(address, headers)).toBe(false)
  })
})
