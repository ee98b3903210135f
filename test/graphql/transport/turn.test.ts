import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { isTimeSliceOver } from '../../../src/core/concurrency/time-slice.ts'
import { takeInTurns, turnOf } from '../../../src/graphql/transport/turn.ts'

/** A socket that only emits messages, and records whether it is read. */
class Socket extends EventEmitter {
  readonly OPEN = 1
  readyState: 0 | 1 | 2 | 3 = 1
  isPaused = false
  pause() {
    this.isPaused = true
  }
  resume() {
    this.isPaused = false
  }
}

const work = () => {
  while (!isTimeSliceOver());
}
const nextIteration = () => new Promise((resolve) => setImmediate(resolve))

test('messages of many sockets of one address delay that of another by one or two slices, and keep their order', async () => {
  const taken: string[] = []
  const sockets: Socket[] = []
  const open = (address: string) => {
    const socket = new Socket()
    sockets.push(socket)
    takeInTurns(socket as never, address, (message) => {
      taken.push(message)
      work()
    })
    return socket
  }
  for (let count = 0; count < 20; count++) {
    const socket = open(`2001:db8::${count.toString(16)}`)
    for (let index = 0; index < 3; index++) socket.emit('message', Buffer.from(`${count}.${index}`))
  }
  open('192.0.2.2').emit('message', Buffer.from('other'))
  expect(taken).toHaveLength(1)
  expect(sockets.slice(1).every(({ isPaused }) => isPaused)).toBe(true)
  while (taken.length < 61) await nextIteration()
  await nextIteration()
  expect(taken.indexOf('other')).toBeLessThan(4)
  for (let count = 0; count < 20; count++) {
    const own = taken.filter((message) => message.startsWith(`${count}.`))
    expect(own).toEqual([0, 1, 2].map((index) => `${count}.${index}`))
  }
  expect(sockets.some(({ isPaused }) => isPaused)).toBe(false)
})

test('a socket that closes meanwhile takes no more messages', async () => {
  const taken: string[] = []
  const socket = new Socket()
  takeInTurns(socket as never, '192.0.2.1', (message) => taken.push(message))
  work()
  socket.emit('message', Buffer.from('a'))
  socket.readyState = 3
  while (socket.isPaused) await nextIteration()
  expect(taken).toEqual([])
})

test('an idle process makes nobody wait', async () => {
  await nextIteration()
  const socket = new Socket()
  const taken: string[] = []
  takeInTurns(socket as never, '192.0.2.1', (message) => taken.push(message))
  socket.emit('message', Buffer.from('a'))
  expect(taken).toEqual(['a'])
  await nextIteration()
  expect(turnOf('192.0.2.1')).toBeUndefined()
})
