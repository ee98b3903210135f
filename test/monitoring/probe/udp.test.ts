import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { udp } from '../../../src/monitoring/probe/udp.ts'
import { zone } from '../../network/outbound/setup.ts'
import { freePort } from '../../support/free-port.ts'
import { runWith, startTools } from './run.ts'

/** Starts a server that answers each datagram with these, optionally from another port. */
async function serve(answers: (asked: Buffer) => readonly (string | Buffer)[], isForged = false) {
  const server = createSocket('udp4')
  const forger = createSocket('udp4')
  const asked: Buffer[] = []
  server.on('message', (message, { port }) => {
    asked.push(message)
    for (const answer of answers(message)) (isForged ? forger : server).send(answer, port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    forger.close()
  })
  return { port: server.address().port, asked }
}

async function run(given: object, timeoutMs = 5000, allowPrivate = true, signal = new AbortController().signal) {
  const { tools } = await startTools(zone({}), allowPrivate)
  const options = udp.options.parse({ host: '127.0.0.1', send: 'ping', ...given })
  return udp.run(options, runWith(tools, { timeoutMs, signal }))
}

describe('a datagram', () => {
  test.each<[object, readonly string[], string, RegExp]>([
    [{}, ['x'], 'UP', /^Answered 1 byte in \d+ ms$/],
    [{}, [''], 'UP', /^Answered 0 bytes in/],
    [{ expect: 'pong' }, ['no', 'a pong'], 'UP', /^Answered 6 bytes/],
    [{ expect: '\\xc3\\xa4' }, ['ä'], 'UP', /./],
    [{ expect: 'pong' }, ['no'], 'DOWN', /^Answered, but not as expected$/],
    [{ expect: 'pong' }, new Array(50).fill('no'), 'DOWN', /^Answered, but not as expected$/],
    [{}, [], 'DOWN', /^No answer within 0\.4 s$/],
  ])('with %j, answered by %j, is %s', async (given, answers, outcome, message) => {
    const { port } = await serve(() => answers)
    expect(await run({ port, ...given }, outcome === 'UP' ? 5000 : 400)).toMatchObject({
      outcome,
      message: expect.stringMatching(message),
    })
  })

  test('has the given bytes, and is sent again if there is no answer', async () => {
    let received = 0
    const { port, asked } = await serve(() => (++received === 2 ? ['x'] : []))
    expect(await run({ port, send: '\\xff\\x00ä\\n\\\\x' }, 2000)).toMatchObject({ outcome: 'UP' })
    const sent = Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('ä\n\\x')])
    expect(asked).toEqual([sent, sent])
  })

  test('to a port without a listener is DOWN at once', async () => {
    const port = await freePort()
    expect(await run({ port })).toMatchObject({ outcome: 'DOWN', message: `Nothing listens on port ${port} (ICMP)` })
  })

  test('ignores answers from another port', async () => {
    const { port } = await serve(() => ['x'], true)
    expect(await run({ port }, 300)).toMatchObject({ outcome: 'DOWN', suspect: '127.0.0.1' })
  })

  test('is not sent to a forbidden address, and an aborted run is UNKNOWN', async () => {
    const { port, asked } = await serve(() => [])
    expect(await run({ port }, 300, false)).toMatchObject({ outcome: 'UNKNOWN' })
    expect(asked).toEqual([])
    const leaving = new AbortController()
    const aborted = run({ port }, 60_000, true, leaving.signal)
    leaving.abort()
    expect(await aborted).toMatchObject({ outcome: 'UNKNOWN' })
  })

  test.each([[{ send: 'x'.repeat(513) }], [{ send: '\\xff'.repeat(513) }], [{ port: 25 }], [{ expect: '' }]])(
    'with %j is refused',
    (given) => {
      expect(udp.options.safeParse({ host: 'a.example', port: 53, send: '\\xff'.repeat(512), ...given }).success).toBe(
        false,
      )
    },
  )
})
