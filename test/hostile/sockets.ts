import { on, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { HostileCase, Target } from './case.ts'
import { hostileVariables } from './documents.ts'

/** The close code of a socket; 200: it stays open; 0: it was cut off. */
type End = number

/** How long to watch a socket that may stay open, and to wait for one that has to be closed, in milliseconds. */
const WATCHED = 500
const PATIENCE = 60_000

/** A case of messages on one websocket. */
function saying(name: string, ends: readonly End[], say: (socket: WebSocket, target: Target) => void): HostileCase {
  return {
    name: `a websocket with ${name}`,
    statuses: ends,
    async send(target) {
      const socket = new WebSocket(`${target.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      socket.on('error', () => {})
      const closed = once(socket, 'close').then(([code]) => Number(code))
      await once(socket, 'open')
      say(socket, target)
      const end = await Promise.race([closed, sleep(ends.includes(200) ? WATCHED : PATIENCE, 200, { ref: false })])
      socket.terminate()
      return end
    },
  }
}

const init = JSON.stringify({ type: 'connection_init' })
const subscribe = (id: number, query: string, variables: object = {}) =>
  JSON.stringify({ id: String(id), type: 'subscribe', payload: { query, variables } })
/** Opens a connection of the protocol; a socket that subscribes before the acknowledgement is closed with 4401. */
function acknowledged(socket: WebSocket, then: () => void): void {
  socket.once('message', then)
  socket.send(init)
}
const times = (count: number, each: (index: number) => void) => {
  for (let index = 0; index < count; index++) each(index)
}

/** The sockets of one address that send at once, and the documents on each. */
const SOCKETS = 300
const DOCUMENTS = 3

/** Opens sockets, sends expensive documents on all of them at once, and waits for all answers. */
async function askAtOnce(target: Target, query: string): Promise<End> {
  const opened = await Promise.all(
    Array.from({ length: SOCKETS }, async () => {
      const socket = new WebSocket(`${target.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      socket.on('error', () => {})
      await once(socket, 'open')
      socket.send(init)
      await once(socket, 'message')
      return socket
    }),
  )
  const answered = opened.map(async (socket) => {
    let answers = 0
    for await (const _ of on(socket, 'message')) {
      answers += 1
      if (answers === DOCUMENTS) break
    }
  })
  for (const [index, socket] of opened.entries())
    times(DOCUMENTS, (id) => socket.send(subscribe(id, `${query} #${index}.${id}`)))
  await Promise.all(answered)
  for (const socket of opened) socket.terminate()
  return 200
}

const unknownFields = `{ ${Array.from({ length: 450 }, (_, n) => `a${n}: nam${n}(id: ${n})`).join(' ')} }`

/** Frames and messages of websockets. */
export const sockets: readonly HostileCase[] = [
  saying('a message of 10 MB', [1009, 1006, 0], (socket) => socket.send('x'.repeat(10 ** 7))),
  saying('100,000 fragments of a message', [1008, 1009, 1006, 200, 4400], (socket) => {
    times(100_000, () => socket.send('x', { fin: false }))
  }),
  saying('what is no UTF-8', [1007, 1006], (socket) => socket.send(Buffer.alloc(10_000, 0xff), { binary: false })),
  saying('20,000 pings', [200, 1006], (socket) => times(20_000, () => socket.ping('x'.repeat(125)))),
  saying('10,000 messages that are none', [4400, 1006], (socket) => times(10_000, () => socket.send('{'))),
  saying('10,000 pings of the protocol', [200, 1006], (socket) => {
    socket.send(init)
    times(10_000, () => socket.send('{"type":"ping"}'))
  }),
  saying('connectionParams that nest 30,000 deep', [1009, 4400, 4403, 1006], (socket) => {
    socket.send(`{"type":"connection_init","payload":{"authorization":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`)
  }),
  saying('connectionParams of 10,000 members', [1009, 4400, 4403, 1006], (socket) => {
    const payload = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`authorization${n}`, 'x']))
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
  }),
  {
    name: '300 websockets with three invalid documents each, at once',
    statuses: [200],
    send: (target) => askAtOnce(target, unknownFields),
  },
  ...hostileVariables.map(([name, { query, variables }]) =>
    saying(`${name} in variables, twice`, [200, 1006], (socket) => {
      acknowledged(socket, () => times(2, (id) => socket.send(subscribe(id, query, variables))))
    }),
  ),
  saying('2,000 subscriptions', [200, 1006], (socket, { slug }) => {
    const query = `subscription { statusPageEvents(slug: "${slug}") { cursor } }`
    acknowledged(socket, () => times(2000, (id) => socket.send(subscribe(id, query))))
  }),
  saying('2,000 queries at once', [200, 1006, 1008], (socket, { slug }) => {
    const query = `{ statusPage(slug: "${slug}") { name } }`
    acknowledged(socket, () => times(2000, (id) => socket.send(subscribe(id, query))))
  }),
]
