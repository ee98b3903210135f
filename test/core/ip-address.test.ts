import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addressFamily,
  addressRange,
  hopAddress,
  isDocumentation,
  isPublic,
  parseAddress,
  reversedLabels,
  subnet64,
} from '../../src/core/ip-address.ts'

describe('parseAddress', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001:0000', '2001:db8::1:0'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['0000:0000:0000:0000:0000:ffff:192.168.100.255', '192.168.100.255'],
    ['::ffff:127.0.0.2', '127.0.0.2'],
    ['::FFFF:7f00:2', '127.0.0.2'],
    ['::ffff:0:0', '0.0.0.0'],
  ])('reads %s as %s', (text, address) => {
    expect(parseAddress(text)).toBe(address)
  })

  test.each([
    ['::127.0.0.1', '::7f00:1'],
    ['::ffff:0:127.0.0.1', '::ffff:0:7f00:1'],
    ['::ffff:1', '::ffff:1'],
  ])('does not treat %s as a mapped address', (text, address) => {
    expect(parseAddress(text)).toBe(address)
  })

  test.each([
    ['no text', ''],
    ['a blank in front', ' 192.0.2.7'],
    ['a line end behind', '192.0.2.7\n'],
    ['a leading zero', '192.0.2.07'],
    ['octal', '0177.0.0.1'],
    ['hex', '0x7f.1'],
    ['an integer', '2130706433'],
    ['three numbers', '1.2.3'],
    ['a number over 255', '192.0.2.256'],
    ['a trailing dot', '192.0.2.7.'],
    ['fullwidth digits', '１２７．０．０．１'],
    ['brackets', '[::1]'],
    ['a zone', 'fe80::1%eth0'],
    ['a prefix length', '2001:db8::/32'],
    ['two gaps', '1::2::3'],
    ['nine groups', '1:2:3:4:5:6:7:8:9'],
    ['eight groups and a gap', '1:2:3:4:5:6:7::8'],
    ['five digits', '00001::'],
    ['octal behind a mapped prefix', '::ffff:010.0.0.1'],
    ['something enormous', ':'.repeat(1_000_000)],
  ])('refuses %s', (_, text) => {
    expect(parseAddress(text)).toBeNull()
  })

  test('normalizes every notation of an IPv4 address', () => {
    fc.assert(
      fc.property(octets, (bytes) => {
        const quad = bytes.join('.')
        const [a = 0, b = 0, c = 0, d = 0] = bytes
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        for (const spelling of [quad, `::ffff:${quad}`, `::FFFF:${hex}`, `0:0:0:0:0:ffff:${quad}`]) {
          expect(parseAddress(spelling)).toBe(quad)
        }
      }),
    )
  })

  test('normalizes every notation of an IPv6 address, idempotently', () => {
    fc.assert(
      fc.property(groups, fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }), (values, flips) => {
        const plain = parseAddress(values.map((value) => value.toString(16)).join(':'))
        const odd = values.map((value, index) => {
          const digits = value.toString(16).padStart(flips[index] ? 4 : 1, '0')
          return flips[index + 8] ? digits.toUpperCase() : digits
        })
        expect(parseAddress(odd.join(':'))).toBe(plain)
        expect(parseAddress(odd.join(':').replace(/(^|:)0+(:0+)*(:|$)/, '::'))).toBe(plain)
        expect(plain).not.toBeNull()
        expect(parseAddress(`${plain}`)).toBe(plain)
      }),
    )
  })
})

describe('hopAddress', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    [' 192.0.2.7\t', '192.0.2.7'],
    ['192.0.2.7:61234', '192.0.2.7'],
    ['::ffff:10.0.0.2', '10.0.0.2'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:DB8::7]:443', '2001:db8::7'],
  ])('reads %j as %s', (entry, address) => {
    expect(hopAddress(entry)).toBe(address)
  })

  test.each([
    ['nothing', ''],
    ['unknown', 'unknown'],
    ['an obfuscated name', '_hidden'],
    ['an odd spelling', '0x7f.1'],
    ['a zone', 'fe80::1%eth0'],
    ['an open bracket', '[2001:db8::7'],
    ['a long port', '192.0.2.7:612345'],
    ['something enormous', '9.'.repeat(500_000)],
  ])('finds no address in %s', (_, entry) => {
    expect(hopAddress(entry)).toBeNull()
  })
})

describe('addressRange', () => {
  test.each([
    ['public', ['1.1.1.1', '172.15.255.255', '172.32.0.0', '100.128.0.0', '223.255.255.255']],
    ['public', ['2001:4860:4860::8888', '2001:200::1', '2600::', '2a00:1450::1']],
    ['documentation', ['192.0.2.0', '198.51.100.7', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1']],
    ['private', ['10.0.0.0', '172.16.0.1', '172.31.255.255', '192.168.255.255']],
    ['loopback', ['127.0.0.1', '127.255.255.255', '::1']],
    ['link-local', ['169.254.169.254', 'fe80::1', 'febf::1']],
    ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255']],
    ['unique local', ['fc00::1', 'fdff::1', 'fd00:ec2::254']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
    ['unspecified', ['0.0.0.0', '::']],
    ['reserved', ['192.0.0.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '240.0.0.1', '255.255.255.255']],
    ['reserved', ['64:ff9b::808:808', '64:ff9b:1::1', '100::1', '2002:808:808::1', '2001::1', '2001:20::1']],
    ['reserved', ['::7f00:1', '::ffff:7f00:1', '::ffff:0:7f00:1', 'fec0::1', '1::', '4000::1', '5f00::1']],
  ] as const)('is %s for %j', (range, addresses) => {
    for (const address of addresses) expect(`${address} ${addressRange(address)}`).toBe(`${address} ${range}`)
  })

  test('allows connections only to public addresses', () => {
    expect(isPublic('9.9.9.9')).toBe(true)
    expect(isPublic('2620:fe::fe')).toBe(true)
    for (const address of [
      '192.0.2.1',
      '127.0.0.2',
      '10.0.0.1',
      '::ffff:9.9.9.9',
      '64:ff9b::9.9.9.9',
      'fe80::1%eth0',
    ]) {
      expect(isPublic(address)).toBe(false)
    }
  })

  test('recognizes documentation addresses', () => {
    expect(isDocumentation('192.0.2.1')).toBe(true)
    expect(isDocumentation('192.0.3.1')).toBe(false)
  })

  test.each(['', '2130706433', '0x08080808', '010.8.8.8', 'example.com'])('throws for %j', (text) => {
    expect(() => isPublic(text)).toThrow(TypeError)
  })
})

test('addressFamily distinguishes IPv4 and IPv6', () => {
  expect([addressFamily('192.0.2.7'), addressFamily('2001:db8::7')]).toEqual([4, 6])
})

describe('reversedLabels', () => {
  test.each([
    ['192.0.2.99', '99.2.0.192'],
    ['2001:db8:1:2:3:4:567:89ab', 'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2'],
    ['::ffff:7f00:2', '2.0.0.0.0.0.f.7.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0'],
  ])('turns %s into %s', (address, labels) => {
    expect(reversedLabels(address)).toBe(labels)
  })

  test('contains the whole address', () => {
    fc.assert(
      fc.property(groups, (values) => {
        const address = values.map((value) => value.toString(16)).join(':')
        const digits = reversedLabels(address).split('.').reverse()
        expect(digits).toHaveLength(32)
        expect(digits.join('')).toBe(values.map((value) => value.toString(16).padStart(4, '0')).join(''))
      }),
    )
  })
})

describe('subnet64', () => {
  test.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
    ['::1', '::/64'],
  ])('of %s is %s', (address, subnet) => {
    expect(subnet64(address)).toBe(subnet)
  })

  test('throws for an IPv4 address', () => {
    expect(() => subnet64('192.0.2.7')).toThrow()
  })

  test('is the same canonical text for addresses that share 64 bits', () => {
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const text = (values: readonly number[]) => values.map((value) => value.toString(16)).join(':')
        const subnet = subnet64(text(one))
        expect(subnet64(text([...one.slice(0, 4), ...other.slice(4)]))).toBe(subnet)
        expect(subnet).toBe(`${parseAddress(`${text(one.slice(0, 4))}::`)}/64`)
      }),
    )
  })
})

const octets = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 })
const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
