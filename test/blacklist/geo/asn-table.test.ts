import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { type AsnData, addressWords, packAsnTable, readAsnTable } from '../../../src/blacklist/geo/asn-table.ts'
import { randomAccessTo } from '../../../src/blacklist/geo/paged-file.ts'

const tableOf = (data: AsnData) => randomAccessTo(packAsnTable(data))
const holders = [
  { number: 64500, name: 'Åland Net' },
  { number: 4_294_967_294, name: '' },
  { number: 64502, name: 'Zürich "Net", Ltd' },
]
const none = { starts: [], holders: [] }

test('an address has one or four words', () => {
  expect(addressWords('1.2.3.4')).toEqual([0x0102_0304])
  expect(addressWords('255.255.255.255')).toEqual([0xffff_ffff])
  expect(addressWords('2001:db8::ffff:1')).toEqual([0x2001_0db8, 0, 0, 0xffff_0001])
  expect(() => addressWords('1.2.3')).toThrow()
  expect(() => addressWords('')).toThrow()
})

test('a holder has the addresses from one boundary up to the next', () => {
  const ipv4 = { starts: [0x0100_0000, 0x0100_0100, 0x0100_0200, 0xff00_0000], holders: [1, 0, 2, 3] }
  const find = readAsnTable(tableOf({ ipv4, ipv6: none, holders }))

  expect(find('0.255.255.255')).toBeNull()
  expect(find('1.0.0.0')).toEqual({ asn: 'AS64500', isp: 'Åland Net' })
  expect(find('1.0.0.255')).toEqual({ asn: 'AS64500', isp: 'Åland Net' })
  expect(find('1.0.1.0')).toBeNull()
  expect(find('1.0.2.0')).toEqual({ asn: 'AS4294967294', isp: null })
  expect(find('255.255.255.255')).toEqual({ asn: 'AS64502', isp: 'Zürich "Net", Ltd' })
  expect(find('2001:db8::1')).toBeNull()
})

test('an IPv6 boundary may lie inside a /64', () => {
  const starts = [addressWords('2001:db8::'), addressWords('2001:db8::8000'), addressWords('2001:db8:0:1::')].flat()
  const find = readAsnTable(tableOf({ ipv4: none, ipv6: { starts, holders: [1, 3, 0] }, holders }))

  expect(find('2001:db7:ffff:ffff:ffff:ffff:ffff:ffff')).toBeNull()
  expect(find('2001:db8::7fff')?.asn).toBe('AS64500')
  expect(find('2001:db8::8000')?.asn).toBe('AS64502')
  expect(find('2001:db8::ffff:ffff:ffff:ffff')?.asn).toBe('AS64502')
  expect(find('2001:db8:0:1::')).toBeNull()
})

test('an empty table has no holders', () => {
  const find = readAsnTable(tableOf({ ipv4: none, ipv6: none, holders: [] }))
  expect([find('8.8.8.8'), find('2001:db8::1')]).toEqual([null, null])
})

test('the search matches a scan for any boundaries', () => {
  const word = fc.oneof(fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff), fc.nat(0xffff_ffff))
  const address = fc.tuple(word, word, word, word)
  const boundaries = fc.uniqueArray(fc.tuple(address, fc.nat(3)), {
    selector: ([start]) => start.join(),
    maxLength: 40,
  })
  const value = (words: readonly number[]) => words.reduce((sum, each) => (sum << 32n) + BigInt(each), 0n)

  fc.assert(
    fc.property(boundaries, fc.array(address), (unsorted, others) => {
      const sorted = unsorted.toSorted(([a], [b]) => (value(a) < value(b) ? -1 : 1))
      const ipv6 = { starts: sorted.flatMap(([start]) => start), holders: sorted.map(([, holder]) => holder) }
      const find = readAsnTable(tableOf({ ipv4: none, ipv6, holders }))
      for (const words of [...sorted.map(([start]) => start), ...others]) {
        const scanned = sorted.findLast(([start]) => value(start) <= value(words))?.[1] ?? 0
        const expected = scanned === 0 ? undefined : `AS${holders[scanned - 1]?.number}`
        expect(find(spell(words))?.asn).toBe(expected)
      }
    }),
  )
})

function spell(words: readonly number[]): string {
  return new ipaddr.IPv6(words.flatMap((word) => [word >>> 16, word & 0xffff])).toString()
}
