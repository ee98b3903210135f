import { describe, expect, test } from 'vitest'
import { createChunkReader } from '../../../src/network/outbound/response-chunks.ts'
import { startScript } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

async function ask(body: string, { head = HEAD, maxBodyBytes = 1000, method = 'GET' } = {}) {
  const { port } = await startScript(Buffer.from(head + body, 'latin1'))
  const { outbound } = await startOutbound(zone({}))
  return outbound.request({ url: `http://127.0.0.1:${port}/`, method, maxBodyBytes }, ample)
}

const lineEnd = 'lines end without a carriage return'
const chunks = 'the chunks of the body have an unusual form'

/** Bodies that curl 7.88 reads as `ok`. */
const readable: readonly (readonly [name: string, body: string, oddities: readonly string[]])[] = [
  ['strict lines', '2\r\nok\r\n0\r\n\r\n', []],
  ['trailers', '2\r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n', []],
  ['an extension after spaces', '2 ; a="b"\r\nok\r\n0;c\r\n\r\n', []],
  ['bare LF everywhere', '2\nok\n0\n\n', [lineEnd]],
  ['bare LF after a size', '2\nok\r\n0\r\n\r\n', [lineEnd]],
  ['bare LF after data', '2\r\nok\n0\r\n\r\n', [lineEnd]],
  ['bare LF after the last size', '2\r\nok\r\n0\n\r\n', [lineEnd]],
  ['bare LF at the end', '2\r\nok\r\n0\r\n\n', [lineEnd]],
  ['bare LF after trailers', '2\nok\n0\nA: b\nC: d\n\n', [lineEnd]],
  ['bare LF after an extension', '2;a=b\nok\n0;x\n\n', [lineEnd]],
  ['spaces after a size', '2  \r\nok\r\n0 \r\n\r\n', [chunks]],
  ['two CR after data', '2\r\nok\r\r\n0\r\n\r\n', [chunks]],
  ['control characters in an extension', '2;\xe9\x01\r=1\r\nok\r\n0\r\n\r\n', [chunks]],
  ['several chunks', '1\no\n1\r\nk\n00\n\n', [lineEnd]],
]

describe('a body in chunks with', () => {
  test.each(readable)('%s is read, and what is odd is said', async (_, body, oddities) => {
    const answer = await ask(body)
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok'), complete: true, oddities })
  })

  test.each([
    ['no end', '2\nok\n'],
    ['no line after the last size', '2\nok\n0\n'],
    ['no line after trailers', '2\nok\n0\nA: b\n'],
    ['carriage returns alone', '2\rok\r0\r\r'],
  ])('%s fails as incomplete', async (_, body) => {
    const message = 'Connection closed before the response was complete'
    expect(await ask(body)).toMatchObject({ reason: 'closed', fault: 'theirs', message })
  })

  test.each([
    ['no size', '2\nok\n\n\n'],
    ['letters for a size', '2\nok\nxyz\n\n'],
    ['a trailer without a colon', '2\nok\n0\nAbc\n\n'],
  ])('%s fails as invalid, also together with the head', async (_, body) => {
    const message = 'The response is not valid HTTP'
    expect(await ask(body)).toMatchObject({ reason: 'protocol', fault: 'theirs', message })
  })

  test('extensions of more than 16 KiB fails', async () => {
    const many = `1;${'a'.repeat(9000)}\nx\n`
    expect(await ask(`${many}${many}0\n\n`)).toMatchObject({ reason: 'protocol', fault: 'theirs' })
    expect(await ask(`1;${'a'.repeat(20_000)}`)).toMatchObject({ reason: 'protocol', fault: 'theirs' })
  })

  test('bare LF is read up to the limit', async () => {
    const body = `${'2\nab\n'.repeat(100)}0\n\n`
    expect(await ask(body, { maxBodyBytes: 199 })).toMatchObject({ complete: false, body: { length: 199 } })
    expect(await ask(body, { maxBodyBytes: 200 })).toMatchObject({ complete: true, body: { length: 200 } })
  })

  test.each(['gzip, Chunked', 'chunked'])('the coding %s is known by its last name', async (coding) => {
    const head = `HTTP/1.1 200 OK\nTransfer-Encoding: ${coding}\n\n`
    expect(await ask('2\nok\n0\n\n', { head })).toMatchObject({ body: Buffer.from('ok'), oddities: [lineEnd] })
  })

  test('a length is not mistaken for chunks', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n'
    const exactly = { body: Buffer.from('2\nok\n0\n\n'), oddities: [] }
    expect(await ask('2\nok\n0\n\n', { head })).toMatchObject(exactly)
  })
})

describe('the reader of chunks', () => {
  /** Returns what becomes of a body that arrives in pieces of a size. */
  function repair(body: string, size: number): string {
    const read = createChunkReader(new Set())
    const bytes = Buffer.from(body, 'latin1')
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      read(bytes.subarray(index * size, (index + 1) * size)).toString('latin1'),
    )
    return pieces.join('')
  }

  test.each(readable)('gives strict chunks for %s, however it arrives', (_, body) => {
    const trailers = body.includes('A: b') ? 'A: b\r\nC: d\r\n' : ''
    expect(repair(body, body.length)).toBe(`2\r\nok\r\n0\r\n${trailers}\r\n`)
    for (const size of [1, 2, 3, 5, 7])
      expect(['2\r\nok', '1\r\no\r\n1\r\nk'].map((data) => `${data}\r\n0\r\n${trailers}\r\n`)).toContain(
        repair(body, size),
      )
  })

  test('changes no data, whatever it holds', () => {
    const data = '\r\n0\n\n5\r\n\n'
    expect(repair(`9\n${data}\n0\n\n`, 100)).toBe(`9\r\n${data}\r\n0\r\n\r\n`)
  })

  test('ignores what follows the end, and ends with an unreadable line', () => {
    expect(repair('1\r\nx\r\n0\r\n\r\nmore\n', 100)).toBe('1\r\nx\r\n0\r\n\r\n')
    expect(repair('1\nx\nxyz\n1\nx\n0\n\n', 100)).toBe('1\r\nx\r\nunreadable\r\n')
  })

  test('makes one chunk of many', () => {
    expect(repair(`${'1\r\nx\r\n'.repeat(1000)}0\r\n\r\n`, 10_000)).toBe(`3e8\r\n${'x'.repeat(1000)}\r\n0\r\n\r\n`)
  })
})
