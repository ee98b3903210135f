import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bitmaskDecoder,
  informational,
  listing,
  policy,
  refuseOddOctets,
  tableDecoder,
} from '../../src/blacklist/return-code.ts'

const table = tableDecoder({
  '127.0.0.2': listing('Spam'),
  '127.0.0.3': listing('Spam'),
  '127.0.0.4': listing('Malware'),
  '127.0.0.10': policy('Policy'),
  '127.0.0.20': informational('Remark'),
})
const bits = bitmaskDecoder({ 4: informational('Four'), 8: listing('Eight'), 16: listing('Sixteen') })
const guarded = refuseOddOctets(bits)

describe('a table of codes', () => {
  test.each([
    [['127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.2', '127.0.0.4'], { kind: 'listed', meaning: 'Spam; Malware', policy: false }],
    [['127.0.0.2', '127.0.0.3', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.99', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.10'], { kind: 'listed', meaning: 'Policy', policy: true }],
    [['127.0.0.20', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.20'], { kind: 'notListed', note: 'Remark (informational, not a listing).' }],
    [['127.0.0.99'], { kind: 'invalid', note: 'This list does not document 127.0.0.99.' }],
    [['127.0.0.20', '127.0.0.99'], { kind: 'invalid', note: 'This list does not document 127.0.0.99.' }],
    [['127.0.1.2'], { kind: 'invalid', note: 'This list does not document 127.0.1.2.' }],
  ])('reads %j', (codes, expected) => {
    expect(table(codes)).toEqual(expected)
  })

  test('returns a policy entry when there is no other listing', () => {
    expect(table(['127.0.0.10', '127.0.0.20'])).toEqual({ kind: 'listed', meaning: 'Policy', policy: true })
    expect(table(['127.0.0.10', '127.0.0.4'])).toEqual({ kind: 'listed', meaning: 'Policy; Malware', policy: false })
    expect(table(['127.0.0.10', '127.0.0.99'])).toEqual({ kind: 'listed', meaning: 'Policy', policy: true })
  })

  test('lets each list define 127.0.0.1', () => {
    expect(table(['127.0.0.1'])).toMatchObject({ kind: 'invalid' })
    const own = tableDecoder({ '127.0.0.1': listing('Its first class') })
    expect(own(['127.0.0.1'])).toEqual({ kind: 'listed', meaning: 'Its first class', policy: false })
  })
})

describe('a bitmask', () => {
  test.each([
    ['127.0.0.8', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.24', { kind: 'listed', meaning: 'Eight; Sixteen', policy: false }],
    ['127.0.0.12', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.10', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.4', { kind: 'notListed', note: 'Four (informational, not a listing).' }],
    ['127.0.0.6', { kind: 'invalid', note: 'This list does not document 127.0.0.6.' }],
    ['127.0.0.2', { kind: 'invalid', note: 'This list does not document 127.0.0.2.' }],
    ['127.0.0.0', { kind: 'invalid', note: 'This list does not document 127.0.0.0.' }],
  ])('reads %s', (code, expected) => {
    expect(bits([code])).toEqual(expected)
  })

  test('combines several answers', () => {
    expect(bits(['127.0.0.8', '127.0.0.16'])).toEqual({ kind: 'listed', meaning: 'Eight; Sixteen', policy: false })
    expect(bits(['127.0.0.4', '127.0.0.0'])).toMatchObject({ kind: 'invalid' })
  })
})

describe('a refusal', () => {
  test.each([
    ['127.255.255.252', 'The list reports a misspelt zone name.'],
    ['127.255.255.254', 'The list refuses queries from public or unnamed resolvers.'],
    ['127.255.255.255', 'The list refuses this resolver because it sends too many queries.'],
    ['127.255.255.1', 'The list refuses this resolver (127.255.255.1).'],
    ['127.255.255.0', 'The list refuses this resolver (127.255.255.0).'],
  ])('is decoded from %s by every decoder', (code, note) => {
    for (const decode of [table, bits, guarded]) expect(decode([code])).toEqual({ kind: 'refused', note })
  })

  test('takes precedence over a listing in the same answer', () => {
    const note = 'The list refuses queries from public or unnamed resolvers.'
    expect(table(['127.0.0.2', '127.255.255.254'])).toEqual({ kind: 'refused', note })
  })

  test('is an odd last octet for a list that defines it', () => {
    const refused = (code: string) => ({ kind: 'refused', note: `The list refuses this resolver (${code}).` })
    for (const code of ['127.0.0.1', '127.0.0.9', '127.0.0.255']) {
      expect(guarded([code])).toEqual(refused(code))
    }
    expect(guarded(['127.0.0.8'])).toEqual({ kind: 'listed', meaning: 'Eight', policy: false })
  })
})

test('an address outside 127/8 makes an answer invalid for every decoder', () => {
  const stranger = fc.ipV4().filter((address) => !address.startsWith('127.'))
  const others = fc.constantFrom([], ['127.0.0.2'], ['127.0.0.1'], ['127.255.255.254'])
  fc.assert(
    fc.property(stranger, others, (address, codes) => {
      const invalid = { kind: 'invalid', note: `${address} is not a valid blacklist answer.` }
      for (const decode of [table, bits, guarded]) {
        expect(decode([...codes, address])).toEqual(invalid)
        expect(decode([address, ...codes])).toEqual(invalid)
      }
    }),
  )
})
