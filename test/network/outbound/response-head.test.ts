import { describe, expect, test } from 'vitest'
import { createHeadReader, ONLY_HTTP2, UnreadableHead } from '../../../src/network/outbound/response-head.ts'
import { startScript } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

const HEADERS = 'Content-Length: 2\r\n'

async function ask(response: string | Buffer) {
  const { port } = await startScript(typeof response === 'string' ? Buffer.from(response, 'latin1') : response)
  const { outbound } = await startOutbound(zone({}))
  return outbound.request({ url: `http://127.0.0.1:${port}/`, maxBodyBytes: 1000 }, ample)
}

const lineEnd = 'lines end without a carriage return'
const name = 'the name of a header has invalid characters'
const length = 'the length of the body is stated more than once or in an unusual form'
const status = 'the status line has an unusual form'

describe('a response head that curl reads', () => {
  test.each([
    ['bare LF', 'HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nok', [lineEnd]],
    ['some bare LF', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 2\r\n\nok', [lineEnd]],
    ['HTTP/1.0 with bare LF', 'HTTP/1.0 200 OK\nA: b\n\nok', [lineEnd]],
    ['a space before the colon', `HTTP/1.1 200 OK\r\nA : b\r\n${HEADERS}\r\nok`, [name]],
    ['a space in a name', `HTTP/1.1 200 OK\r\nMy header: x\r\nA: b\r\n${HEADERS}\r\nok`, [name]],
    ['letters beyond ASCII in a name', `HTTP/1.1 200 OK\r\n\xc3\xa9: x\r\nA: b\r\n${HEADERS}\r\nok`, [name]],
    ['no name', `HTTP/1.1 200 OK\r\n: x\r\nA: b\r\n${HEADERS}\r\nok`, [name]],
    ['a folded header', `HTTP/1.1 200 OK\r\nA:\r\n b\r\n${HEADERS}\r\nok`, ['a header continues on the next line']],
    ['control characters', `HTTP/1.1 200 OK\r\nA: b\x01\r\n${HEADERS}\r\nok`, ['a header has control characters']],
    ['CR in a value', `HTTP/1.1 200 OK\r\nA: b\rc\r\n${HEADERS}\r\nok`, ['a header has control characters']],
    ['two equal lengths', `HTTP/1.1 200 OK\r\nA: b\r\n${HEADERS}${HEADERS}\r\nok`, [length]],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2, 2\r\n\r\nok', [length]],
    ['a length with a sign', 'HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: +2\r\n\r\nok', [length]],
    [
      'a length beside chunks',
      `HTTP/1.1 200 OK\r\nA: b\r\n${HEADERS}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      [length],
    ],
    ['identity', `HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: identity\r\n${HEADERS}\r\nok`, [length]],
    ['two spaces', `HTTP/1.1  200 OK\r\nA: b\r\n${HEADERS}\r\nok`, [status]],
    ['small letters', `http/1.1 200 OK\r\nA: b\r\n${HEADERS}\r\nok`, [status]],
    ['no space after the status', `HTTP/1.1 200OK\r\nA: b\r\n${HEADERS}\r\nok`, [status]],
    ['no reason', `HTTP/1.1 200\r\nA: b\r\n${HEADERS}\r\nok`, []],
    ['a reason in UTF-8', `HTTP/1.1 200 \xc3\xa9\r\nA: b\r\n${HEADERS}\r\nok`, []],
    ['bytes after the body', `HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n${HEADERS}\r\nok and more`, []],
    [
      'an interim response with bare LF',
      `HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 200 OK\r\nA: b\r\n${HEADERS}\r\nok`,
      [],
    ],
  ])('with %s is read, and what is odd is said', async (_, response, oddities) => {
    const answer = await ask(response)
    if (answer.kind === 'failed') throw new Error(answer.message)
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok'), complete: true, oddities })
    if (/^A/m.test(response)) expect(answer.headers['a']).toMatch(/^b/)
  })

  test('with 290 KiB of headers is read, and its size is said', async () => {
    const lines = Array.from({ length: 290 }, (_, index) => `X-${index}: ${'x'.repeat(1015)}\r\n`).join('')
    expect(await ask(`HTTP/1.1 200 OK\r\n${lines}${HEADERS}\r\nok`)).toMatchObject({
      headers: { 'x-289': expect.any(String) },
      body: Buffer.from('ok'),
      oddities: [expect.stringMatching(/^the headers have 2\d\d KiB$/)],
    })
  })

  test('with one line of 99 KiB is read', async () => {
    const answer = await ask(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(99 * 1024)}\r\n${HEADERS}\r\nok`)
    if (answer.kind === 'failed') throw new Error(answer.message)
    expect([answer.body.toString(), answer.headers['x']?.length]).toEqual(['ok', 99 * 1024])
  })
})

describe('a response head that curl does not read', () => {
  test.each([
    ['no colon', 'HTTP/1.1 200 OK\r\nAbc\r\n\r\n', 'The response is not valid HTTP: a header has no colon'],
    ['NUL', 'HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n', 'The response is not valid HTTP: a header has a NUL character'],
    ['no status', 'HTTP/1.1 OK\r\n\r\n', 'The response is not valid HTTP'],
    ['two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'The response is not valid HTTP'],
    ['another protocol', 'ICY 200 OK\r\n\r\n', 'The response is not valid HTTP'],
    ['no head', 'hello', 'The response is not valid HTTP'],
    ['zeros', '\0'.repeat(20), 'The response is not valid HTTP'],
  ])('because of %s is refused', async (_, response, message) => {
    expect(await ask(response)).toMatchObject({ reason: 'protocol', message })
  })

  test('because of an end within it is refused', async () => {
    expect(await ask('HTTP/1.1 200 OK\r\nA: b')).toMatchObject({ reason: 'closed' })
  })

  test.each([
    ['SETTINGS', '000000040000000000'],
    ['SETTINGS with values', '000012040000000000000300000080000400010000000500ffffff'],
    ['GOAWAY', '0000080700000000000000000000000001'],
  ])('because it is HTTP/2, beginning with %s, is named', async (_, hex) => {
    expect(await ask(Buffer.from(hex, 'hex'))).toMatchObject({
      reason: 'protocol',
      fault: 'theirs',
      message: ONLY_HTTP2,
    })
  })
})

test('a head in single bytes is read in linear time', () => {
  const read = createHeadReader()
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${`X: ${'x'.repeat(50_000)}\r\n`.repeat(5)}\r\n`)
  const started = process.cpuUsage()
  const results = Array.from(bytes, (byte) => read(Buffer.from([byte])))
  const { user } = process.cpuUsage(started)
  expect(results.filter((each) => each !== null)).toEqual([expect.objectContaining({ status: 200, head: bytes })])
  expect(user).toBeLessThan(5_000_000)
  expect(() => createHeadReader()(Buffer.from('SSH-2.0'))).toThrow(UnreadableHead)
})
