import { expect, test } from 'vitest'
import { decodeHuffman } from '../../../src/network/http2/huffman-code.ts'

const decoded = (hex: string) => decodeHuffman(Buffer.from(hex, 'hex'))

test.each([
  // RFC 7541, appendix C.4 and C.6.
  ['f1e3c2e5f23a6ba0ab90f4ff', 'www.example.com'],
  ['a8eb10649cbf', 'no-cache'],
  ['6402', '302'],
  ['d07abe941054d444a8200595040b8166e082a62d1bff', 'Mon, 21 Oct 2013 20:13:21 GMT'],
  [
    '94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
  ['', ''],
])('decodes %s', (hex, text) => {
  expect(decoded(hex)).toBe(text)
})

test.each([
  ['padding of a whole byte', 'f1e3c2e5f23a6ba0ab90f4ffff'],
  ['padding with zeros', '1800'],
  ['the end of the string', 'ffffffff'],
  ['an unfinished code', 'fffffc'],
])('refuses %s', (_, hex) => {
  expect(() => decoded(hex)).toThrow(expect.objectContaining({ reason: 'protocol' }))
})
