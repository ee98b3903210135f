import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  type DecodedPacket,
  decode,
  encode,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet'
import type { DnsServer } from '../../src/core/config.ts'
import { freePort } from './free-port.ts'

/** A query as the server received it. */
export interface SeenQuery {
  readonly name: string
  readonly type: string
  readonly id: number
  readonly transport: 'udp' | 'tcp'
  /** The port it came from. */
  readonly port: number
  readonly packet: DecodedPacket
}

/** One message to send. Defaults: the id and question of the query, NOERROR and no records. */
export interface Reply {
  /** 0 to 15, such as `rcodes.refused`. */
  readonly rcode?: number
  readonly answers?: readonly Answer[]
  readonly authorities?: readonly Answer[]
  readonly additionals?: readonly Answer[]
  readonly truncated?: boolean
  readonly authoritative?: boolean
  readonly id?: number
  readonly question?: Question
  /** Leaves the question out, as servers do that do not understand a query. */
  readonly withoutQuestion?: boolean
  /** Bytes to send as they are, instead of all the above. */
  readonly bytes?: Uint8Array
  /** The address of a forged sender: another socket. UDP only. */
  readonly forged?: boolean
  /** Sent one byte at a time, until the other side hangs up. TCP only. */
  readonly drips?: boolean
}

/** The server's answer to a query: messages to send, in order; none drops the query. Await a gate to delay. */
export type Behaviour = (query: SeenQuery) => Reply | readonly Reply[] | Promise<Reply | readonly Reply[]>

/** A DNS server on loopback whose answers and failures the test controls. */
export interface TestDnsServer extends DnsServer {
  /** Every query so far, in order of arrival. */
  readonly queries: readonly SeenQuery[]
  /** Resolves when `count` queries have arrived in total. */
  seen(count: number): Promise<void>
  /** Replaces the behaviour from now on. */
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

export const rcodes = { formatError: 1, servfail: 2, nxdomain: 3, notImplemented: 4, refused: 5 } as const

/** A reply with addresses or texts, one record each. */
export function answer(query: SeenQuery, values: readonly string[], ttl = 300): Reply {
  return { answers: values.map((data) => ({ name: query.name, type: query.type, ttl, data }) as Answer) }
}

/** An SOA record for the authority section of a negative answer. */
export function soa(name: string, ttl: number, minimum: number): Answer {
  const data = { mname: `ns.${name}`, rname: `hostmaster.${name}`, serial: 1, refresh: 600, retry: 300, expire: 86_400 }
  return { name, type: 'SOA', ttl, data: { ...data, minimum } }
}

/** The truncated reply over UDP, when the full one is for TCP. */
export const truncated: Reply = { truncated: true }

/** Never answers. */
export const silence: Behaviour = () => []

/** A promise that the test resolves. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Starts a server on a free port of 127.0.0.1, for UDP and TCP. */
export async function startDnsServer(initial: Behaviour = silence): Promise<TestDnsServer> {
  const queries: SeenQuery[] = []
  const arrivals = new Set<() => void>()
  const connections = new Set<Socket>()
  const udp = createSocket('udp4')
  const forger = createSocket('udp4')
  const tcp = createServer()
  let behaviour = initial

  async function repliesTo(packet: DecodedPacket, port: number, transport: 'udp' | 'tcp') {
    const [question] = packet.questions ?? []
    if (question === undefined) throw new Error('A query without a question')
    const query = { name: question.name, type: question.type, id: packet.id ?? 0, transport, port, packet }
    queries.push(query)
    for (const notice of arrivals) notice()
    const replies = await behaviour(query)
    return ([] as Reply[]).concat(replies).map((reply) => ({
      bytes: reply.bytes ?? encodeReply(query, question, reply),
      forged: reply.forged,
      drips: reply.drips,
    }))
  }

  udp.on('message', async (message, from) => {
    for (const { bytes, forged } of await repliesTo(decode(message), from.port, 'udp')) {
      if (stopped !== null) return
      const sender = forged ? forger : udp
      await new Promise((resolve) => sender.send(bytes, from.port, from.address, resolve))
    }
  })
  tcp.on('connection', (socket) => {
    connections.add(socket)
    let received = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => connections.delete(socket))
    socket.on('data', async (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const query = decode(received.subarray(2))
      received = Buffer.alloc(0)
      for (const { bytes, drips } of await repliesTo(query, socket.remotePort ?? 0, 'tcp')) {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(bytes.length)
        const message = Buffer.concat([length, bytes])
        if (drips) await drip(socket, message)
        else socket.write(message)
      }
    })
  })

  let stopped: Promise<void> | null = null
  const port = await freePort()
  udp.bind(port, '127.0.0.1')
  tcp.listen(port, '127.0.0.1')
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')])

  async function stop() {
    for (const connection of connections) connection.destroy()
    const closed = [new Promise((resolve) => tcp.close(resolve)), once(udp, 'close'), once(forger, 'close')]
    udp.close()
    forger.close()
    await Promise.all(closed)
  }

  return {
    address: '127.0.0.1',
    port,
    queries,
    seen: (count) =>
      new Promise((resolve) => {
        const notice = () => {
          if (queries.length < count) return
          arrivals.delete(notice)
          resolve()
        }
        arrivals.add(notice)
        notice()
      }),
    behave(next) {
      behaviour = next
    },
    close() {
      stopped ??= stop()
      return stopped
    },
  }
}

async function drip(socket: Socket, message: Uint8Array): Promise<void> {
  for (const byte of message) {
    if (socket.destroyed) return
    socket.write(Buffer.of(byte))
    await sleep(1)
  }
}

/** Returns the bytes of a reply, for tests that corrupt them. */
export function encodeReply(query: SeenQuery, question: Question, reply: Reply): Buffer {
  const authority = reply.authoritative ? AUTHORITATIVE_ANSWER : RECURSION_AVAILABLE
  const truncation = reply.truncated ? TRUNCATED_RESPONSE : 0
  return encode({
    type: 'response',
    id: reply.id ?? query.id,
    flags: RECURSION_DESIRED | authority | truncation | (reply.rcode ?? 0),
    questions: reply.withoutQuestion ? [] : [reply.question ?? question],
    answers: [...(reply.answers ?? [])],
    authorities: [...(reply.authorities ?? [])],
    additionals: [...(reply.additionals ?? [])],
  })
}
