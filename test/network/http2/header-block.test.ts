import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createHeaderDecoder, writeHeaderBlock } from '../../../src/network/http2/header-block.ts'

const KIB = 1024
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const protocol = expect.objectContaining({ reason: 'protocol' })

describe('decodes a block', () => {
  // RFC 7541, appendix C.6: with a table of 256 bytes, so that fields are evicted.
  test('after blocks that changed the table', () => {
    const decode = createHeaderDecoder(16 * KIB)
    const resized = '3fe101'
    const first = `${resized}4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e
      919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`
    expect(decode(hex(first.replace(/\n\s*/, '')))).toEqual([
      [':status', '302'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ])
    expect(decode(hex('4883 640e ffc1 c0bf'))).toEqual([
      [':status', '307'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ])
    const third = `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
      e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`
    expect(decode(hex(third.replace(/\n\s*/, '')))).toEqual([
      [':status', '200'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
      ['location', 'https://www.example.com'],
      ['content-encoding', 'gzip'],
      ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
    ])
  })

  test('of literals that were written here, of any length', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\xff'), maxLength: 400 })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 10 }), (fields) => {
        expect(createHeaderDecoder(64 * KIB)(writeHeaderBlock(fields))).toEqual(fields)
      }),
    )
  })
})

test.each([
  ['a field with the number 0', '80'],
  ['a field that neither table has', 'be'],
  ['a name that neither table has', '7e00'],
  ['a table larger than allowed', '3fe21f'],
  ['a change of the table after a field', '8820'],
  ['a number without an end', 'ffffffffff'],
  ['a number that goes on at the end', 'ff'],
  ['a string that is longer than the block', '000561'],
  ['a name without a value', '000161'],
])('refuses %s', (_, block) => {
  expect(() => createHeaderDecoder(16 * KIB)(hex(block))).toThrow(protocol)
})

test('refuses more fields than allowed, however short the block', () => {
  const decode = createHeaderDecoder(16 * KIB)
  const name = 'x'.repeat(100)
  const added = Buffer.concat([Buffer.from([0x40, name.length]), Buffer.from(name), Buffer.from([0])])
  expect(decode(added)).toEqual([[name, '']])
  expect(decode(Buffer.alloc(124, 0xbe))).toHaveLength(124)
  expect(() => decode(Buffer.alloc(125, 0xbe))).toThrow(expect.objectContaining({ reason: 'too long' }))
})

test('decodes or refuses any bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 3 }), (blocks) => {
      const decode = createHeaderDecoder(KIB)
      try {
        for (const block of blocks) for (const field of decode(Buffer.from(block))) expect(field).toHaveLength(2)
      } catch (error) {
        expect(error).toMatchObject({ name: 'Http2Failure' })
      }
    }),
  )
})
