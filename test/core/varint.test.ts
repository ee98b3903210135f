import { expect, test } from 'vitest'
import { varint } from '../../src/core/varint.ts'

test.each([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 1]],
  // RFC 7541, appendix C.1.2, beyond its prefix of five bits.
  [1337 - 31, [0x9a, 0x0a]],
  // The largest length of MQTT 3.1.1, table 2.4.
  [268_435_455, [0xff, 0xff, 0xff, 0x7f]],
])('encodes %i', (value, bytes) => {
  expect(varint(value)).toEqual(bytes)
})
