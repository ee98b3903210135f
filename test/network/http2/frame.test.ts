import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contentOf, createFrameReader, frameFlag, frameType, writeFrame } from '../../../src/network/http2/frame.ts'

const protocol = expect.objectContaining({ reason: 'protocol' })

test('frames are read however their bytes are split', () => {
  const frame = fc.record({
    type: fc.nat({ max: 255 }),
    flags: fc.nat({ max: 255 }),
    stream: fc.nat({ max: 0x7fff_ffff }),
    payload: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 5 }), fc.integer({ min: 1, max: 40 }), (frames, size) => {
      const bytes = Buffer.concat(frames.map(writeFrame))
      const read = createFrameReader()
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      )
      expect(chunks.flatMap((chunk) => [...read(chunk)])).toEqual(frames)
    }),
  )
})

test('a frame of more than 16 KiB is refused before it has arrived', () => {
  const frame = writeFrame({ type: frameType.data, payload: Buffer.alloc(16_384) })
  expect([...createFrameReader()(frame)]).toHaveLength(1)
  const longer = writeFrame({ type: frameType.data, payload: Buffer.alloc(16_385) })
  expect(() => [...createFrameReader()(longer.subarray(0, 9))]).toThrow(protocol)
})

test.each([
  ['without padding', frameType.data, 0, [1, 2, 3], [1, 2, 3]],
  ['with padding', frameType.data, frameFlag.padded, [2, 1, 0, 0], [1]],
  ['of padding alone', frameType.data, frameFlag.padded, [2, 0, 0], []],
  ['with a priority', frameType.headers, frameFlag.priority, [0, 0, 0, 0, 16, 9], [9]],
  ['with both', frameType.headers, frameFlag.padded | frameFlag.priority, [1, 0, 0, 0, 0, 16, 9, 0], [9]],
  ['of data, which have no priority', frameType.data, frameFlag.priority, [1, 2], [1, 2]],
])('the content of a frame %s', (_, type, flags, payload, content) => {
  expect([...contentOf({ type, flags, stream: 1, payload: Buffer.from(payload) })]).toEqual(content)
})

test.each([
  ['padding', frameFlag.padded, [3, 0, 0]],
  ['an absent padding', frameFlag.padded, []],
  ['a priority', frameFlag.priority, [0, 0, 0, 0]],
])('a frame that is too short for %s is refused', (_, flags, payload) => {
  const frame = { type: frameType.headers, flags, stream: 1, payload: Buffer.from(payload) }
  expect(() => contentOf(frame)).toThrow(protocol)
})
