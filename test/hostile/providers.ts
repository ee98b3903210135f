import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { doorsOf } from '../support/runs.ts'
import { bomb } from './bomb.ts'
import { type HostileCase, mutate, query, type Target } from './case.ts'
import { flood } from './flood.ts'

/** Answers a request; the argument is its text. */
type Talk = (socket: Socket, request: string) => void

/** The behaviour of a provider. */
interface Answer {
  readonly name: string
  readonly talk: Talk
}

/** The channels that send to a server of the organization's choice, by the server's URL. */
const channels: Readonly<Record<string, (url: string) => object>> = {
  webhook: (url) => ({ webhook: { url: `${url}/a-secret-path` } }),
  ntfy: (url) => ({ ntfy: { server: url, topic: 'ops', token: 'tk_secret12345' } }),
  gotify: (url) => ({ gotify: { server: url, token: 'Asecret1234567' } }),
  matrix: (url) => ({ matrix: { server: url, roomId: '!a:example.org', accessToken: 'syt_secret12345' } }),
  mattermost: (url) => ({ mattermost: { url: `${url}/hooks/abcdefghijklmnopqrstuvwxyz` } }),
}
const kinds = Object.keys(channels)

/** The secrets in those addresses. */
const secrets = /a-secret-path|tk_secret12345|Asecret1234567|syt_secret12345|abcdefghijklmnopqrstuvwxyz/

let tried = 0

/**
 * A case of a provider that answers tests of channels of these kinds this way. Each sends one request: redirects are
 * not followed.
 */
function providing({ name, talk }: Answer, kinds: readonly string[]): HostileCase {
  return {
    name: `a channel’s provider answers with ${name}`,
    statuses: [200],
    waits: true,
    async send(target) {
      const sockets = new Set<Socket>()
      let asked = 0
      const server = createServer((socket) => {
        sockets.add(socket.on('error', () => {}))
        asked += 1
        socket.once('data', (request: Buffer) => talk(socket, request.toString('latin1')))
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      try {
        await Promise.all(kinds.map((kind) => testChannel(target, channels[kind]?.(url) ?? {})))
        if (asked !== kinds.length) throw new Error(`It was asked ${asked} times.`)
        return 200
      } finally {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
    },
  }
}

/**
 * Creates a channel, tests and deletes it.
 * @throws Error when the answer shows a secret, or characters that hide or reorder text.
 */
async function testChannel({ probers, ...given }: Target, address: object): Promise<void> {
  const target = { ...given, probers, key: probers[tried++ % probers.length] ?? given.key }
  const input = { name: 'Hostile', address }
  const { id } = await mutate<{ id: string }>(target, 'createAlertChannel', input, '... on AlertChannel { id }')
  const document = `mutation ($id: ID!) { testAlertChannel(id: $id) { __typename
    ... on TestAlertChannelPayload { delivered status message answer } } deleteAlertChannel(id: $id) { __typename } }`
  const { testAlertChannel: tested } = await query<{
    testAlertChannel: { __typename: string; message: string; answer: string | null }
  }>(target, document, { id })
  const { __typename, message, answer } = tested
  if (__typename !== 'TestAlertChannelPayload') throw new Error(`It became ${__typename}.`)
  const text = `${message} ${answer ?? ''}`
  if (text.length > 600 || secrets.test(text) || /[\p{Cc}\p{Cf}]/u.test(text)) throw new Error(JSON.stringify(text))
}

/** Sends a text, then a part of it every tenth of a second until the client hangs up. */
async function drip(socket: Socket, head: string, piece: string): Promise<void> {
  socket.write(head)
  while (!socket.destroyed && socket.write(piece)) await sleep(100)
}

const answer = (status: string, headers: string, body = ''): Talk => {
  const length = Buffer.byteLength(body)
  return (socket) => void socket.end(`HTTP/1.1 ${status}\r\n${headers}content-length: ${length}\r\n\r\n${body}`)
}
const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
const json = 'content-type: application/json\r\n'
const packed = bomb(100)
const quiet = (name: string, text: string): Answer => ({ name, talk: (socket) => void socket.end(text) })
const flooding = (name: string, head: string, piece: string): Answer => ({
  name,
  talk: (socket) => {
    socket.write(head)
    flood(socket, Buffer.from(piece, 'latin1'))
  },
})

const redirecting = (status: string, where: string, toOf: (host: string) => string): Answer => ({
  name: `a redirect (${status}) to ${where}`,
  talk: (socket, request) => {
    const [, host = ''] = /host: (\S+)/i.exec(request) ?? []
    const to = toOf(host)
    answer(`${status} Elsewhere`, `location: ${to}\r\nrefresh: 0; url=${to}\r\n`)(socket, request)
  },
})

const answers: readonly Answer[] = [
  flooding('a body without end', `${ok}\r\n`, 'x'.repeat(60_000)),
  flooding('a header without end', `${ok}x: `, 'x'.repeat(60_000)),
  flooding('headers without end', ok, 'x: y\r\n'.repeat(10_000)),
  flooding('chunks of one byte without end', chunked, '1\r\nx\r\n'.repeat(10_000)),
  flooding('a chunk whose extension has no end', `${chunked}1;x=`, 'x'.repeat(60_000)),
  flooding('trailers without end', `${chunked}1\r\nx\r\n0\r\n`, 'x: y\r\n'.repeat(10_000)),
  flooding('100 Continue without end', '', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2000)),
  flooding('early hints without end', '', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(10_000)}\r\n\r\n`.repeat(5)),
  flooding('an unrequested protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', 'x'.repeat(60_000)),
  flooding('a status line without end', 'HTTP/1.1 200 ', 'x'.repeat(60_000)),
  flooding('no HTTP', '', '\0\x01\xff'.repeat(20_000)),
  { name: '60 headers of 1,000 letters', talk: answer('200 OK', `x: ${'x'.repeat(1000)}\r\n`.repeat(60)) },
  { name: '2,000 headers', talk: answer('200 OK', 'x: y\r\n'.repeat(2000)) },
  {
    name: 'a body that unpacks to 100 MB',
    talk: (socket) => {
      socket.write(`${ok}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`)
      socket.end(packed)
    },
  },
  { name: '4 kB of brackets as JSON', talk: answer('429 Slow Down', json, '['.repeat(4096)) },
  {
    name: 'pauses that no clock has',
    talk: answer(
      '429 Slow Down',
      `${json}retry-after: 1${'0'.repeat(300)}\r\n`,
      '{"retry_after_ms":1e999,"retry_after":-1e308}',
    ),
  },
  {
    name: 'a pause until the end of time',
    talk: answer('503 Busy', 'retry-after: Fri, 31 Dec 275759 00:00:00 GMT\r\n'),
  },
  {
    name: 'what it was sent',
    talk: (socket, request) => {
      const [head = '', body = ''] = request.split('\r\n\r\n')
      answer('400 Bad', json, `${head.slice(0, 1500)}${body}`)(socket, request)
    },
  },
  {
    name: 'text with hidden characters and changes of direction',
    talk: answer(
      '400 Bad',
      'content-type: text/plain; charset=utf-16\r\n',
      '\u202e\u200b\0\x1b[2J\ud800<b>'.repeat(200),
    ),
  },
  ...(['301', '302', '303', '307', '308', '300'] as const).flatMap((status) => [
    redirecting(status, 'a metadata service', () => 'http://169.254.169.254/latest/meta-data/'),
    redirecting(status, 'itself', (host) => `http://${host}/again`),
  ]),
  quiet('a length below zero', `${ok}content-length: -1\r\n\r\nx`),
  quiet('two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nxy`),
  quiet('a length and chunks', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
  quiet('a chunk of 16 exabytes', `${chunked}ffffffffffffffff\r\nx`),
  quiet('status 0', 'HTTP/1.1 000 None\r\n\r\n'),
  quiet('status 999', 'HTTP/1.1 999 More\r\ncontent-length: 0\r\n\r\n'),
  quiet('status 1e3', 'HTTP/1.1 1e3 OK\r\n\r\n'),
  quiet('HTTP 9.9', 'HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n'),
  quiet('nothing', ''),
  quiet('a second answer', `${ok}content-length: 1\r\n\r\nx${ok}content-length: 1\r\n\r\ny`),
  { name: 'a reset', talk: (socket) => void socket.resetAndDestroy() },
]

/** Sends a byte from time to time, so that the answer takes as long as allowed. */
const dripping: Answer = {
  name: 'a byte now and then',
  talk: (socket, request) => {
    const heads = [`${ok}content-length: 4000\r\n\r\n`, `${ok}x: `, 'HTTP/1.1 ', chunked, '']
    const head = heads[request.length % heads.length] ?? ''
    void drip(socket, head, head === chunked ? '1\r\nx\r\n' : '1')
  },
}

/** Answers of servers to an organization's alerts. */
export const providers: readonly HostileCase[] = [
  providing(dripping, kinds),
  ...doorsOf(answers, kinds).map(([answered, tried]) => providing(answered, tried)),
]
