import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientAddress } from '../../../src/http/request/client-address.ts'

const proxies = new BlockList()
proxies.addSubnet('10.0.0.0', 8, 'ipv4')
proxies.addAddress('2001:db8::1', 'ipv6')

describe('without trusted proxies', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0::7', '2001:db8::7'],
    ['fe80::1%eth0', 'fe80::1'],
    [undefined, '0.0.0.0'],
    ['', '0.0.0.0'],
  ])('the socket %s is the caller %s', (socket, caller) => {
    expect(clientAddress(socket, undefined, null)).toBe(caller)
  })

  test('the socket is the caller whatever X-Forwarded-For says', () => {
    const claim = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(fc.ipV4(), fc.ipV6())).map((hops) => hops.join(', ')),
    )
    fc.assert(
      fc.property(fc.ipV4(), claim, (socket, forwardedFor) => {
        expect(clientAddress(socket, forwardedFor, null)).toBe(socket)
        expect(clientAddress(socket, forwardedFor, new BlockList())).toBe(socket)
      }),
    )
  })
})

describe('with trusted proxies', () => {
  test('a forged header has no effect from a caller that is not a proxy', () => {
    expect(clientAddress('192.0.2.7', '203.0.113.1', proxies)).toBe('192.0.2.7')
    expect(clientAddress('192.0.2.7', '203.0.113.1, 10.0.0.1', proxies)).toBe('192.0.2.7')
  })

  test.each([
    ['one hop', '192.0.2.7', '192.0.2.7'],
    ['a forged entry on the left', '203.0.113.1, 192.0.2.7', '192.0.2.7'],
    ['a forged proxy on the left', '10.0.0.9, 192.0.2.7', '192.0.2.7'],
    ['several proxies', '203.0.113.1, 192.0.2.7, 10.0.0.2,10.0.0.3', '192.0.2.7'],
    ['proxies of both families', '192.0.2.7, 2001:DB8:0::1', '192.0.2.7'],
    ['a mapped proxy', '192.0.2.7, ::ffff:10.0.0.2', '192.0.2.7'],
    ['a port', '192.0.2.7:61234', '192.0.2.7'],
    ['nothing but proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ])('%s: the caller is the first hop from the right that is not a proxy', (_, forwardedFor, caller) => {
    expect(clientAddress('10.0.0.1', forwardedFor, proxies)).toBe(caller)
    expect(clientAddress('::ffff:10.0.0.1', forwardedFor, proxies)).toBe(caller)
  })

  test.each([
    ['no header', undefined, '10.0.0.1'],
    ['an empty header', '', '10.0.0.1'],
    ['unknown', '192.0.2.7, unknown', '10.0.0.1'],
    ['an obfuscated name', '192.0.2.7, _hidden, 10.0.0.2', '10.0.0.2'],
    ['an empty entry', '192.0.2.7,,10.0.0.2', '10.0.0.2'],
  ])('%s ends the walk at the last valid address', (_, forwardedFor, caller) => {
    expect(clientAddress('10.0.0.1', forwardedFor, proxies)).toBe(caller)
  })

  test('the walk ends after a bounded number of proxies', () => {
    expect(clientAddress('10.0.0.1', `192.0.2.7${', 10.0.0.2'.repeat(100_000)}`, proxies)).toBe('10.0.0.2')
    expect(clientAddress('10.0.0.1', '9'.repeat(1_000_000), proxies)).toBe('10.0.0.1')
  })

  test('the entry of our own proxy always decides, whatever precedes it', () => {
    fc.assert(
      fc.property(fc.string(), (claim) => {
        expect(clientAddress('10.0.0.1', `${claim}, 192.0.2.7`, proxies)).toBe('192.0.2.7')
      }),
    )
  })
})
