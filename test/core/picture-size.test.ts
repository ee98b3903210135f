import { expect, test } from 'vitest'
import { pictureSize } from '../../src/core/picture-size.ts'
import { gif, jpeg, png, svg, textFile, webp } from '../support/pictures.ts'

test.each([
  ['png', png(640, 480)],
  ['jpg', jpeg(640, 480)],
  ['webp', webp(640, 480)],
  ['gif', gif(640, 480)],
] as const)('the header of a %s contains its size', (format, file) => {
  expect(pictureSize(file)).toEqual({ format, width: 640, height: 480 })
})

test.each([
  ['an empty file', new Uint8Array()],
  ['text', textFile('<html><script>alert(1)</script>')],
  ['SVG', svg()],
  ['a PNG that ends in its header', png(640, 480).slice(0, 18)],
  ['a JPEG that ends in a segment', jpeg(640, 480).slice(0, 24)],
  ['a JPEG with a scan before its frame', new Uint8Array([0xff, 0xd8, 0xff, 0xda, 0, 2, 0, 0, 0, 0, 0, 0, 0])],
  ['a JPEG with a segment of impossible length', new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 1, 0, 0, 0, 0, 0, 0])],
  ['a JPEG of other bytes', new Uint8Array(5_000_000).fill(1).fill(0xff, 0, 1).fill(0xd8, 1, 2)],
])('%s is not a picture', (_name, file) => {
  expect(pictureSize(file)).toBeNull()
})

test('the frame of a JPEG is found after fill bytes and many segments', () => {
  const segments = Array.from({ length: 10_000 }, () => [0xff, 0xff, 0xfe, 0, 2]).flat()
  const file = new Uint8Array([0xff, 0xd8, ...segments, 0xff, 0xc2, 0, 11, 8, 0, 9, 0, 7, 0, 0, 0])
  expect(pictureSize(file)).toEqual({ format: 'jpg', width: 7, height: 9 })
})
