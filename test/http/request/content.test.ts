import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { decodeContent, decodeText } from '../../../src/http/request/content.ts'

const body = Buffer.from('{"message":"Grüße 🎉"}')
const gzipped = gzipSync(body)

describe('the coding of a body', () => {
  test.each([
    ['gzip', gzipped],
    ['GZIP', gzipped],
    ['x-gzip', gzipped],
    ['identity, gzip', gzipped],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['gzip, br', brotliCompressSync(gzipped)],
    ['identity', body],
    ['', body],
  ])('%s is decoded', async (coding, bytes) => {
    expect(await decodeContent(Buffer.from(bytes), coding, 1000)).toEqual(body)
  })

  test.each(['compress', 'zstd, gzip', 'gzip, gzip, gzip', 'constructor'])('%s is refused', async (coding) => {
    const refused = decodeContent(Buffer.from(gzipped), coding, 1000)
    await expect(refused).rejects.toMatchObject({ status: 415 })
    const { res } = await refused.then(Promise.reject.bind(Promise), (error: HTTPException) => error)
    expect(res?.headers.get('accept-encoding')).toBe('gzip, deflate, br, identity')
  })

  test('is limited by the decoded size', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    await expect(decodeContent(Buffer.from(bomb), 'gzip', 100_000)).rejects.toMatchObject({ status: 413 })
    const twice = gzipSync(bomb)
    await expect(decodeContent(Buffer.from(twice), 'gzip, gzip', 100_000)).rejects.toMatchObject({ status: 413 })
  })

  test.each([
    ['cut', gzipped.subarray(0, -5)],
    ['not in it', body],
    ['empty', Buffer.alloc(0)],
  ])('of a body that is %s is an error of the caller', async (_, bytes) => {
    await expect(decodeContent(Buffer.from(bytes), 'gzip', 1000)).rejects.toThrow(Invalid)
  })
})

describe('the text of a body', () => {
  test.each([undefined, 'application/json', 'application/json; charset="UTF-8"', 'text/plain; charset=us-ascii'])(
    'is UTF-8 as %s',
    (type) => {
      expect(decodeText(body, type)).toBe('{"message":"Grüße 🎉"}')
      expect(decodeText(Buffer.concat([Buffer.from('\uFEFF'), body]), type)).toBe('{"message":"Grüße 🎉"}')
    },
  )

  test('is never guessed', () => {
    const latin = Buffer.from('Grüße', 'latin1')
    expect(() => decodeText(latin, 'application/json')).toThrow(Invalid)
    expect(() => decodeText(latin, 'application/json; charset=iso-8859-1')).toThrow(HTTPException)
    expect(() => decodeText(Buffer.from('{}', 'utf16le'), 'application/json; charset=utf-16')).toThrow(HTTPException)
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(() => decodeText(Buffer.from(bytes), undefined)).toThrow('not UTF-8')
    }
  })
})
