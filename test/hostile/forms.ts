import { once } from 'node:events'
import { connect } from 'node:net'
import { requestLimits } from '../../src/core/input-limits.ts'
import type { HostileCase, Target } from './case.ts'
import { ask, asNewVisitor } from './case.ts'
import { asMember, form, own } from './console.ts'

const DASHES = '-'.repeat(70)
/** As much as a form without files may have. */
const LARGEST = 250_000

const filledWith = (text: string, size = LARGEST) => text.repeat(Math.floor(size / text.length))
const part = (headers: string, content = '') => `--x\r\n${headers}\r\n\r\n${content}\r\n`
const named = (name: string, content = 'a') => part(`content-disposition: form-data; name="${name}"`, content)
const whole = `${named('email')}${part('content-disposition: form-data; name="f"; filename="g"', 'h')}--x--\r\n`

/** Multipart bodies and their boundaries. */
const multiparts: readonly (readonly [what: string, boundary: string, body: string])[] = [
  ['a boundary of dashes, and dashes', DASHES, filledWith('-')],
  ['a boundary of dashes, and beginnings of it', DASHES, filledWith(`\r\n--${'-'.repeat(69)}x`)],
  ['a boundary of dashes, and halves of it', DASHES, filledWith(`\r\n${'-'.repeat(36)}`)],
  ['a boundary of two letters in turns, and beginnings of it', 'ab'.repeat(35), filledWith(`\r\n--${'ab'.repeat(34)}`)],
  ['carriage returns', 'x', filledWith('\r')],
  ['a boundary of one letter, and beginnings of it', 'x', filledWith('\r\n--')],
  ['no end', 'x', named('a', filledWith('\r\n-'))],
  ['empty parts', 'x', filledWith('--x\r\n\r\n\r\n')],
  ['delimiters only', 'x', filledWith('\r\n--x')],
  ['ends only', 'x', filledWith('\r\n--x--')],
  ['a preamble', 'x', `${filledWith('p\r\n')}\r\n${whole}`],
  ['an epilogue', 'x', `${whole}${filledWith('e\r\n--x')}`],
  ['parts without names', 'x', `${filledWith(part('content-disposition: form-data'))}--x--`],
  ['2,000 headers in a part', 'x', `${part(filledWith('a: b\r\n', 12_000))}--x--`],
  ['a header of 200 kB', 'x', `${part(`a: ${filledWith('b', 200_000)}`)}--x--`],
  ['headers without an end', 'x', `--x\r\n${filledWith('content-disposition: form-data; name="a"\r\n')}`],
  ...[';a="\\"', '; ', '=', ';name="', ';name*=', ';filename="\\', ";filename*=UTF-8''%ff"].map(
    (text) =>
      [
        `parameters such as ${text}`,
        'x',
        `${part(`content-disposition: form-data${filledWith(text, 15_000)}`).repeat(16)}--x--`,
      ] as const,
  ),
  ['a part in a part in a part', 'x', `${filledWith('--x\r\ncontent-type: multipart/mixed; boundary=x\r\n\r\n')}--x--`],
  [
    'a charset that is none',
    'x',
    `${filledWith(part('content-disposition: form-data; name="a"\r\ncontent-type: text/plain; charset=utf-99'))}--x--`,
  ],
  ['names of inherited members', 'x', `${named('__proto__')}${named('constructor')}${named('toString')}--x--`],
  ['names of 10,000 letters', 'x', `${filledWith(named('n'.repeat(10_000)))}--x--`],
  ['an empty boundary', '', filledWith('--\r\n\r\n')],
  ['a quoted boundary without an end', '"x', whole],
  ['a boundary of 12 kB', 'x'.repeat(12_000), whole],
  ['a type of 12 kB of parameters', `${filledWith(';a="b\\"', 12_000)}`, whole],
  ['zeros', 'x', filledWith('\0')],
  ['what is no UTF-8', 'x', `${named('email', filledWith('\x80\xff', 100_000))}--x--`],
]

const typeOf = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` })

/** A form to sign in, from a new visitor. */
const signingIn = (what: string, boundary: string, body: string | Buffer): HostileCase => ({
  name: `a form: ${what}`,
  // A long Content-Type is refused before the form is read.
  statuses: typeOf(boundary)['content-type'].length > requestLimits.shortHeader.most ? [431] : [422, 429],
  send: ({ url }) => ask(url, '/sign-in', form(Buffer.from(body), { ...own, ...asNewVisitor(), ...typeOf(boundary) })),
})

/** Sends the beginning of a request on many connections, and closes them after a while. */
function leavingOpen(name: string, count: number, textOf: (target: Target) => string): HostileCase {
  return {
    name,
    statuses: [0],
    async send(target) {
      const { hostname, port } = new URL(target.url)
      const sockets = Array.from({ length: count }, () =>
        connect({ port: Number(port), host: hostname }).on('error', () => {}),
      )
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      for (const socket of sockets) socket.write(textOf(target))
      await ask(target.url, '/healthz', {})
      for (const socket of sockets) socket.destroy()
      return 0
    },
  }
}

const head = (path: string, headers: Readonly<Record<string, string>>) =>
  `POST ${path} HTTP/1.1\r\n${Object.entries({ ...own, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** A body of 1-byte chunks. */
const byteByByte = (text: string) => `${Array.from(text, (letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`

/** Forms of several parts: what browsers send with files, and what they never do. */
export const forms: readonly HostileCase[] = [
  ...multiparts.map((each) => signingIn(...each)),
  ...Array.from({ length: 20 }, (_, index) => Math.floor((whole.length * index) / 20)).map((length) =>
    signingIn(`the first ${length} bytes of one`, 'x', whole.slice(0, length)),
  ),
  ...multiparts.slice(0, 6).map(([what, boundary, body]) =>
    asMember(`a note: ${what}, for 10 MB`, [422], async ({ incidentIds }) => `incidents/${incidentIds[1]}/notes`, {
      ...form(filledWith(body, 10 ** 7), { ...own, ...typeOf(boundary) }),
    }),
  ),
  leavingOpen(
    '300 forms of dashes whose connections stay open',
    300,
    () => `${head('/sign-in', { ...typeOf(DASHES), 'content-length': String(LARGEST) })}${filledWith('-')}`,
  ),
  leavingOpen('300 forms that never come', 300, () =>
    head('/sign-in', { ...typeOf('x'), 'content-length': String(LARGEST) }),
  ),
  leavingOpen('8 uploads that never come', 8, ({ key, incidentIds }) =>
    head(`/api/v1/incidents/${incidentIds[1]}/files`, {
      ...typeOf('x'),
      authorization: `Bearer ${key}`,
      'content-length': '5000000',
    }),
  ),
  leavingOpen(
    'a form of 250,000 chunks of one byte',
    1,
    () => `${head('/sign-in', { ...typeOf('x'), 'transfer-encoding': 'chunked' })}${byteByByte(filledWith('\r'))}`,
  ),
]
