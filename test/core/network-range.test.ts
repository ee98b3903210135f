import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/core/ip-address.ts'
import { isInRanges, parseRange } from '../../src/core/network-range.ts'

test.each([
  ['192.0.2.7', '192.0.2.7/32'],
  ['192.0.2.7/24', '192.0.2.0/24'],
  [' 10.0.0.0/8 ', '10.0.0.0/8'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::1', '2001:db8::1/128'],
  ['2001:db8:0:1::5/48', '2001:db8::/48'],
  ['::/0', '::/0'],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
  ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ['::ffff:192.0.2.7/95', null],
  ['192.0.2.0/33', null],
  ['2001:db8::/129', null],
  ['192.0.2.0/', null],
  ['192.0.2.0/-1', null],
  ['192.0.2.0/24/24', null],
  ['192.0.2.0/2e1', null],
  ['192.0.2', null],
  ['0300.0.2.1', null],
  ['fe80::1%eth0', null],
  ['example.com', null],
  ['', null],
])('%s is the network %s', (text, network) => {
  expect(parseRange(text)).toBe(network)
})

describe('a client is in a network', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.0/24', '::ffff:192.0.2.1', true],
    ['192.0.2.0/24', '::192.0.2.1', false],
    ['::ffff:192.0.2.0/120', '192.0.2.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '192.0.2.1', false],
    ['2001:db8:1::/48', '2001:db8:1:ffff::1', true],
    ['2001:db8:1::/48', '2001:db8:2::1', false],
    ['2001:db8::1', '2001:db8:0:0:0:0:0:1', true],
  ])('%s %s: %s', (range, client, is) => {
    expect(isInRanges([parseRange(range) ?? ''], parseAddress(client) ?? '')).toBe(is)
  })
})

const ipv4 = fc.ipV4()
const ipv6 = fc.ipV6().filter((text) => parseAddress(text)?.includes(':') === true)

test.each([
  ['IPv4', ipv4, 32],
  ['IPv6', ipv6, 128],
] as const)('%s agrees with ipaddr.js', (_family, anyAddress, longest) => {
  fc.assert(
    fc.property(anyAddress, anyAddress, fc.nat(longest), fc.boolean(), (network, other, bits, near) => {
      const range = parseRange(`${network}/${bits}`) ?? ''
      // Random addresses are rarely near.
      const client = parseAddress(near ? network : other) ?? ''
      const [one, two] = [ipaddr.parse(client), ipaddr.parse(parseAddress(network) ?? '')]
      expect(isInRanges([range], client)).toBe(one.kind() === two.kind() && one.match([two, bits] as never))
    }),
  )
})
