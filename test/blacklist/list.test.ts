import { describe, expect, test } from 'vitest'
import type { Judgement } from '../../src/blacklist/code.ts'
import { type Blacklist, blacklists, queryName } from '../../src/blacklist/list.ts'
import { parseTarget } from '../../src/blacklist/target.ts'

const lists = blacklists(undefined)
const octets = Array.from({ length: 256 }, (_, octet) => octet)

function list(id: string): Blacklist {
  const found = lists.find((each) => each.id === id)
  if (found === undefined) throw new Error(`There is no list ${id}`)
  return found
}

/** The last octets for which a list's answer 127.0.0.x is judged so. */
function octetsJudged(id: string, kind: Judgement['kind']): number[] {
  return octets.filter((octet) => list(id).decode([`127.0.0.${octet}`]).kind === kind)
}

describe('of 127.0.0.0 to 127.0.0.255', () => {
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
  ])('%s lists by its documented codes and no other', (id, listed) => {
    expect(octetsJudged(id, 'listed')).toEqual(listed)
  })

  test.each([
    ['spamhaus-zen', []],
    ['dronebl', [1, 2]],
    ['surbl-multi', [4, 32, 36]],
    ['uribl-black', []],
  ])('%s has codes that accuse nobody', (id, remarks) => {
    expect(octetsJudged(id, 'notListed')).toEqual(remarks)
  })

  test('the PBL’s codes are entries of policy', () => {
    const policies = octets.filter((octet) => {
      const judgement = list('spamhaus-zen').decode([`127.0.0.${octet}`])
      return judgement.kind === 'listed' && judgement.policy
    })
    expect(policies).toEqual([10, 11])
    expect(list('spamhaus-zen').decode(['127.0.0.4', '127.0.0.10'])).toMatchObject({ kind: 'listed', policy: false })
  })

  test('SURBL and URIBL refuse by every odd one', () => {
    const odd = octets.filter((octet) => octet & 1)
    expect(octetsJudged('surbl-multi', 'refused')).toEqual(odd)
    expect(octetsJudged('uribl-black', 'refused')).toEqual(odd)
  })

  test.each(lists.map(({ id }) => id))('%s lists nobody by 127.0.0.1', (id) => {
    expect(list(id).decode(['127.0.0.1']).kind).not.toBe('listed')
  })
})

describe.each(lists.map((each) => [each.id, each] as const))('%s', (_id, each) => {
  test('refuses by 127.255.255.0/24', () => {
    for (const octet of octets) {
      expect(each.decode([`127.255.255.${octet}`]).kind).toBe('refused')
      expect(each.decode(['127.0.0.2', `127.255.255.${octet}`]).kind).toBe('refused')
    }
  })

  test('is not believed when it answers addresses of parked domains, block pages or nothing', () => {
    for (const address of ['91.195.240.117', '146.112.61.108', '0.0.0.0', '10.0.0.1', '1.0.0.127', '128.0.0.2']) {
      expect(each.decode([address]).kind).toBe('invalid')
      expect(each.decode(['127.0.0.2', address]).kind).toBe('invalid')
    }
  })

  test('has names, an https page for contesting, an allowance and probes of its own', () => {
    expect(each.name).not.toBe('')
    expect(each.description).toMatch(/\.$/)
    for (const target of ['192.0.2.7', '2001:db8::7', 'example.com']) {
      expect(new URL(each.delistUrl(target)).protocol).toBe('https:')
    }
    expect(each.queriesPerDay).toBeGreaterThan(0)
    expect(each.probes.positive).toContain('2.0.0.127')
    expect(each.probes.negative).toBe('1.0.0.127')
  })

  test('names only what it holds', () => {
    const wrong = parseTarget(each.kind === 'ip' ? 'example.com' : '192.0.2.7')
    expect(each.labels(wrong)).toEqual([])
  })
})

test('the bits of SURBL are told by name, alone and together', () => {
  const { decode } = list('surbl-multi')
  expect(decode(['127.0.0.80'])).toEqual({ kind: 'listed', meaning: 'MW: malware; ABUSE: seen in spam', policy: false })
  expect(decode(['127.0.0.76'])).toEqual({
    kind: 'listed',
    meaning: 'PH: phishing; ABUSE: seen in spam',
    policy: false,
  })
  expect(decode(['127.0.0.36'])).toEqual({
    kind: 'notListed',
    note: 'DM: a disposable mail domain; CT: a click tracker (not an accusation).',
  })
  expect(decode(['127.0.0.254']).kind).toBe('listed')
  expect(decode(['127.0.0.2']).kind).toBe('invalid')
})

test('a botnet controller of Spamhaus (.30) is listed, and says what it is', () => {
  const meaning = 'BCL: a botnet controller'
  expect(list('spamhaus-zen').decode(['127.0.0.30'])).toEqual({ kind: 'listed', meaning, policy: false })
})

test('six lists of addresses and two of domains are asked, each with its own name', () => {
  expect(lists.map(({ kind }) => kind)).toEqual([...Array(6).fill('ip'), 'domain', 'domain'])
  expect(new Set(lists.map(({ id }) => id)).size).toBe(8)
  expect(new Set(lists.map(({ name }) => name)).size).toBe(8)
})

describe('a query', () => {
  const nameOf = (id: string, target: string) =>
    list(id)
      .labels(parseTarget(target))
      .map((label) => queryName(list(id), label))

  test('asks for an address in reverse', () => {
    expect(nameOf('spamhaus-zen', '192.0.2.7')).toEqual(['7.2.0.192.zen.spamhaus.org'])
    expect(nameOf('spamhaus-zen', '2001:db8::7')).toEqual([`7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.zen.spamhaus.org`])
  })

  test('asks SURBL for the full name, and URIBL for what was registered', () => {
    expect(nameOf('surbl-multi', 'a.b.example.co.uk')).toEqual(['a.b.example.co.uk.multi.surbl.org'])
    expect(nameOf('uribl-black', 'a.b.example.co.uk')).toEqual(['example.co.uk.black.uribl.com'])
    expect(nameOf('uribl-black', 'a.b.blogspot.com')).toEqual([
      'blogspot.com.black.uribl.com',
      'b.blogspot.com.black.uribl.com',
    ])
  })
})

describe('the key of a Spamhaus subscriber', () => {
  const key = 'abcdefghij0123456789klmnop'
  const [zen, ...others] = blacklists(key)

  test('is in what is asked', () => {
    if (zen === undefined) throw new Error('There are no lists')
    expect(queryName(zen, '2.0.0.127')).toBe(`2.0.0.127.${key}.zen.dq.spamhaus.net`)
  })

  test('is in nothing that is shown, and goes to nobody else', () => {
    const { zone: _zone, ...shown } = zen ?? {}
    expect(JSON.stringify([shown, zen?.delistUrl('192.0.2.7'), zen?.decode(['127.255.255.1'])])).not.toContain(key)
    expect(zen?.publicZone).toBe('zen.dq.spamhaus.net')
    expect(JSON.stringify(others)).not.toContain(key)
  })
})
