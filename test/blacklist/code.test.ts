import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byBits, byTable, listing, policy, refusingWhenOdd, remark } from '../../src/blacklist/code.ts'

const table = byTable({
  '127.0.0.2': listing('Spam'),
  '127.0.0.3': listing('Spam'),
  '127.0.0.4': listing('Malware'),
  '127.0.0.10': policy('Policy'),
  '127.0.0.20': remark('Remark'),
})
const bits = byBits({ 4: remark('Four'), 8: listing('Eight'), 16: listing('Sixteen') })
const guarded = refusingWhenOdd(bits)

describe('a table of codes', () => {
  test.each([
    [['127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.2', '127.0.0.4'], { kind: 'listed', meaning: 'Spam; Malware', policy: false }],
    [['127.0.0.2', '127.0.0.3', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.99', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.10'], { kind: 'listed', meaning: 'Policy', policy: true }],
    [['127.0.0.20', '127.0.0.2'], { kind: 'listed', meaning: 'Spam', policy: false }],
    [['127.0.0.20'], { kind: 'notListed', note: 'Remark (not an accusation).' }],
    [['127.0.0.99'], { kind: 'invalid', note: 'This list documents no meaning of 127.0.0.99.' }],
    [['127.0.0.20', '127.0.0.99'], { kind: 'invalid', note: 'This list documents no meaning of 127.0.0.99.' }],
    [['127.0.1.2'], { kind: 'invalid', note: 'This list documents no meaning of 127.0.1.2.' }],
  ])('reads %j', (codes, judgement) => {
    expect(table(codes)).toEqual(judgement)
  })

  test('reads an entry as one of policy when nothing else is said', () => {
    expect(table(['127.0.0.10', '127.0.0.20'])).toEqual({ kind: 'listed', meaning: 'Policy', policy: true })
    expect(table(['127.0.0.10', '127.0.0.4'])).toEqual({ kind: 'listed', meaning: 'Policy; Malware', policy: false })
    expect(table(['127.0.0.10', '127.0.0.99'])).toEqual({ kind: 'listed', meaning: 'Policy', policy: true })
  })

  test('leaves it to the list what 127.0.0.1 means', () => {
    expect(table(['127.0.0.1'])).toMatchObject({ kind: 'invalid' })
    const own = byTable({ '127.0.0.1': listing('Its first class') })
    expect(own(['127.0.0.1'])).toEqual({ kind: 'listed', meaning: 'Its first class', policy: false })
  })
})

describe('a mask of bits', () => {
  test.each([
    ['127.0.0.8', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.24', { kind: 'listed', meaning: 'Eight; Sixteen', policy: false }],
    ['127.0.0.12', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.10', { kind: 'listed', meaning: 'Eight', policy: false }],
    ['127.0.0.4', { kind: 'notListed', note: 'Four (not an accusation).' }],
    ['127.0.0.6', { kind: 'invalid', note: 'This list documents no meaning of 127.0.0.6.' }],
    ['127.0.0.2', { kind: 'invalid', note: 'This list documents no meaning of 127.0.0.2.' }],
    ['127.0.0.0', { kind: 'invalid', note: 'This list documents no meaning of 127.0.0.0.' }],
  ])('reads %s', (code, judgement) => {
    expect(bits([code])).toEqual(judgement)
  })

  test('adds up what several answers say', () => {
    expect(bits(['127.0.0.8', '127.0.0.16'])).toEqual({ kind: 'listed', meaning: 'Eight; Sixteen', policy: false })
    expect(bits(['127.0.0.4', '127.0.0.0'])).toMatchObject({ kind: 'invalid' })
  })
})

describe('a refusal', () => {
  test.each([
    ['127.255.255.252', 'The list says that its zone name is misspelt.'],
    ['127.255.255.254', 'The list refuses queries that come through a public or unnamed resolver.'],
    ['127.255.255.255', 'The list refuses this resolver for asking too much.'],
    ['127.255.255.1', 'The list refuses to answer this resolver (127.255.255.1).'],
    ['127.255.255.0', 'The list refuses to answer this resolver (127.255.255.0).'],
  ])('is read from %s by every decoder', (code, note) => {
    for (const decode of [table, bits, guarded]) expect(decode([code])).toEqual({ kind: 'refused', note })
  })

  test('outweighs a listing that comes with it', () => {
    const note = 'The list refuses queries that come through a public or unnamed resolver.'
    expect(table(['127.0.0.2', '127.255.255.254'])).toEqual({ kind: 'refused', note })
  })

  test('is an odd last octet where the list says so', () => {
    const refused = (code: string) => ({ kind: 'refused', note: `The list refuses to answer this resolver (${code}).` })
    for (const code of ['127.0.0.1', '127.0.0.9', '127.0.0.255']) {
      expect(guarded([code])).toEqual(refused(code))
    }
    expect(guarded(['127.0.0.8'])).toEqual({ kind: 'listed', meaning: 'Eight', policy: false })
  })
})

test('an address outside 127/8 makes an answer invalid for every decoder, whatever comes with it', () => {
  const stranger = fc.ipV4().filter((address) => !address.startsWith('127.'))
  const others = fc.constantFrom([], ['127.0.0.2'], ['127.0.0.1'], ['127.255.255.254'])
  fc.assert(
    fc.property(stranger, others, (address, codes) => {
      const invalid = { kind: 'invalid', note: `${address} is not an answer that a blacklist gives.` }
      for (const decode of [table, bits, guarded]) {
        expect(decode([...codes, address])).toEqual(invalid)
        expect(decode([address, ...codes])).toEqual(invalid)
      }
    }),
  )
})
