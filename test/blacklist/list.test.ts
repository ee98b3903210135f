import { describe, expect, test } from 'vitest'
import { type Blacklist, blacklists, queryName } from '../../src/blacklist/list.ts'
import type { DecodedAnswer } from '../../src/blacklist/return-code.ts'
import { parseTarget } from '../../src/blacklist/target.ts'

const lists = blacklists(undefined)
const octets = Array.from({ length: 256 }, (_, octet) => octet)

function list(id: string): Blacklist {
  const found = lists.find((each) => each.id === id)
  if (found === undefined) throw new Error(`There is no list ${id}`)
  return found
}

/** Returns the last octets for which a list's answer 127.0.0.x decodes to this kind. */
function octetsDecodedAs(id: string, kind: DecodedAnswer['kind']): number[] {
  return octets.filter((octet) => list(id).decode([`127.0.0.${octet}`]).kind === kind)
}

describe('among 127.0.0.0 to 127.0.0.255', () => {
  const drone = [3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 255]
  test.each([
    ['spamhaus-zen', [2, 3, 4, 5, 6, 7, 9, 10, 11, 30]],
    ['spamcop', [2]],
    ['barracuda', [2]],
    ['psbl', [2]],
    ['mailspike', [2, 10, 11, 12]],
    ['dronebl', drone],
    ['surbl-multi', octets.filter((octet) => (octet & 1) === 0 && (octet & (8 | 16 | 64 | 128)) !== 0)],
    ['uribl-black', [2]],
  ])('%s lists only with its documented codes', (id, listed) => {
    expect(octetsDecodedAs(id, 'listed')).toEqual(listed)
  })

  test.each([
    ['spamhaus-zen', []],
    ['dronebl', [1, 2]],
    ['surbl-multi', [4, 32, 36]],
    ['uribl-black', []],
  ])('%s has informational codes', (id, informational) => {
    expect(octetsDecodedAs(id, 'notListed')).toEqual(informational)
  })

  test('the PBL’s codes are policy entries', () => {
    const policies = octets.filter((octet) => {
      const decoded = list('spamhaus-zen').decode([`127.0.0.${octet}`])
      return decoded.kind === 'listed' && decoded.policy
    })
    expect(policies).toEqual([10, 11])
    expect(list('spamhaus-zen').decode(['127.0.0.4', '127.0.0.10'])).toMatchObject({ kind: 'listed', policy: false })
  })

  test('SURBL and URIBL refuse with every odd code', () => {
    const odd = octets.filter((octet) => octet & 1)
    expect(octetsDecodedAs('surbl-multi', 'refused')).toEqual(odd)
    expect(octetsDecodedAs('uribl-black', 'refused')).toEqual(odd)
  })

  test.each(lists.map(({ id }) => id))('%s does not list with 127.0.0.1', (id) => {
    expect(list(id).decode(['127.0.0.1']).kind).not.toBe('listed')
  })
})

describe.each(lists.map((each) => [each.id, each] as const))('%s', (_id, each) => {
  test('refuses with 127.255.255.0/24', () => {
    for (const octet of octets) {
      expect(each.decode([`127.255.255.${octet}`]).kind).toBe('refused')
      expect(each.decode(['127.0.0.2', `127.255.255.${octet}`]).kind).toBe('refused')
    }
  })

  test('is invalid when it answers with addresses of parked domains or block pages, or without an address', () => {
    for (const address of ['91.195.240.117', '146.112.61.108', '0.0.0.0', '10.0.0.1', '1.0.0.127', '128.0.0.2']) {
      expect(each.decode([address]).kind).toBe('invalid')
      expect(each.decode(['127.0.0.2', address]).kind).toBe('invalid')
    }
  })

  test('has its own names, https contest page, query limit and test points', () => {
    expect(each.name).not.toBe('')
    expect(each.description).toMatch(/\.$/)
    for (const target of ['192.0.2.7', '2001:db8::7', 'example.com']) {
      expect(new URL(each.delistUrl(target)).protocol).toBe('https:')
    }
    expect(each.queriesPerDay).toBeGreaterThan(0)
    expect(each.testPoints.positive).toContain('2.0.0.127')
    expect(each.testPoints.negative).toBe('1.0.0.127')
  })

  test('returns labels only for its own kind of target', () => {
    const wrong = parseTarget(each.kind === 'ip' ? 'example.com' : '192.0.2.7')
    expect(each.labels(wrong)).toEqual([])
  })
})

test('SURBL’s bits decode to their names, alone and together', () => {
  const { decode } = list('surbl-multi')
  expect(decode(['127.0.0.80'])).toEqual({ kind: 'listed', meaning: 'MW: malware; ABUSE: seen in spam', policy: false })
  expect(decode(['127.0.0.76'])).toEqual({
    kind: 'listed',
    meaning: 'PH: phishing; ABUSE: seen in spam',
    policy: false,
  })
  expect(decode(['127.0.0.36'])).toEqual({
    kind: 'notListed',
    note: 'DM: disposable mail domain; CT: click tracker (informational, not a listing).',
  })
  expect(decode(['127.0.0.254']).kind).toBe('listed')
  expect(decode(['127.0.0.2']).kind).toBe('invalid')
})

test('Spamhaus’s botnet controller code (.30) is a listing with its meaning', () => {
  const meaning = 'BCL: botnet controller'
  expect(list('spamhaus-zen').decode(['127.0.0.30'])).toEqual({ kind: 'listed', meaning, policy: false })
})

test('there are six IP lists and two domain lists with unique names', () => {
  expect(lists.map(({ kind }) => kind)).toEqual([...Array(6).fill('ip'), 'domain', 'domain'])
  expect(new Set(lists.map(({ id }) => id)).size).toBe(8)
  expect(new Set(lists.map(({ name }) => name)).size).toBe(8)
})

describe('a query', () => {
  const nameOf = (id: string, target: string) =>
    list(id)
      .labels(parseTarget(target))
      .map((label) => queryName(list(id), label))

  test('reverses an address', () => {
    expect(nameOf('spamhaus-zen', '192.0.2.7')).toEqual(['7.2.0.192.zen.spamhaus.org'])
    expect(nameOf('spamhaus-zen', '2001:db8::7')).toEqual([`7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.zen.spamhaus.org`])
  })

  test('sends the full name to SURBL and the registrable domain to URIBL', () => {
    expect(nameOf('surbl-multi', 'a.b.example.co.uk')).toEqual(['a.b.example.co.uk.multi.surbl.org'])
    expect(nameOf('uribl-black', 'a.b.example.co.uk')).toEqual(['example.co.uk.black.uribl.com'])
    expect(nameOf('uribl-black', 'a.b.blogspot.com')).toEqual([
      'blogspot.com.black.uribl.com',
      'b.blogspot.com.black.uribl.com',
    ])
  })
})

describe('the Spamhaus DQS key', () => {
  const key = 'abcdefghij0123456789klmnop'
  const [zen, ...others] = blacklists(key)

  test('is part of the query', () => {
    if (zen === undefined) throw new Error('There are no lists')
    expect(queryName(zen, '2.0.0.127')).toBe(`2.0.0.127.${key}.zen.dq.spamhaus.net`)
  })

  test('is never shown or sent to another list', () => {
    const { zone: _zone, ...shown } = zen ?? {}
    expect(JSON.stringify([shown, zen?.delistUrl('192.0.2.7'), zen?.decode(['127.255.255.1'])])).not.toContain(key)
    expect(zen?.publicZone).toBe('zen.dq.spamhaus.net')
    expect(JSON.stringify(others)).not.toContain(key)
  })
})
