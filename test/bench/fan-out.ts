import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { temporaryDirectory } from '../support/scratch.ts'
import type { Order, Ready, Usage } from './fan-out-server.ts'
import { line, median, roundsOf, title, verdict } from './report.ts'
import { startNode, stopNode } from './service.ts'
import { frameOf, upgradeRequest } from './websocket.ts'

const counts = [1000, 5000]
const warmUps = 5
const rounds = roundsOf(15)
/** Connections per loopback address, below the service's limit per address. */
const perAddress = 500

const shared = `subscription ($slug: String!) {
  statusPageEvents(slug: $slug) { cursor kind at incident { id title status impact startedAt } page { status { description } } }
}`
/** The same, by a path whose execution is not shared. */
const alone = `subscription ($slug: String!) { ...Same } fragment Same on Subscription ${shared.slice(shared.indexOf('{'))}`

/** The cost of one way of sending. */
interface Figures {
  /** Median milliseconds from the command to the first delivery, and to the last. */
  readonly first: number
  readonly last: number
  /** Microseconds of the server's processor time per delivery, including the update itself. */
  readonly cpu: number
}

/** (f) One incident update to many websockets: shared execution beside raw sending of the same bytes, and unshared. */
export async function fanOut(): Promise<void> {
  title(
    `(f) Fan-out of an incident update, ${rounds} rounds by turns after ${warmUps} warm-ups, everything counted; the clients are another process`,
  )
  for (const count of counts) {
    const [together, raw] = await measure(count, shared)
    line(`${count} clients, shared: ${reported(together)}; raw: ${reported(raw)}`)
    verdict(`${count} clients: milliseconds to the first delivery`, together.first, { most: 15 })
    const [cpu, last] = [together.cpu / raw.cpu, together.last / raw.last]
    if (count > 1000) {
      verdict(`${count} clients: processor time, over raw`, cpu, { most: 1.5 })
      verdict(`${count} clients: milliseconds to the last delivery, over raw`, last, { most: 1.5 })
      continue
    }
    // The update itself takes as long as a thousand deliveries.
    line(`${count} clients, over raw: ${cpu.toFixed(2)} of the processor time, ${last.toFixed(2)} to the last delivery`)
    const [apart] = await measure(count, alone)
    line(
      `${count} clients, each executed on its own: ${reported(apart)}: ${(apart.cpu / together.cpu).toFixed(1)} times the processor time`,
    )
  }
}

const reported = ({ first, last, cpu }: Figures) =>
  `${first.toFixed(1)} ms to the first, ${last.toFixed(1)} ms to the last, ${cpu.toFixed(1)} µs a delivery`

/** Measures an update to subscribers of `query`, and the same bytes to as many bare websockets of the same process. */
async function measure(count: number, query: string): Promise<readonly [subscribed: Figures, raw: Figures]> {
  const disk = await temporaryDirectory()
  const child = startNode('dist/fan-out-server.js', [], { DATA_DIR: disk.path })
  const [{ url, bareUrl, slug }] = (await once(child, 'message')) as [Ready]
  const subscribers = await openClients(url, count, query, slug)
  const update: Order = { do: 'update' }
  // The subscriptions are established once an event has reached all.
  const length = await settle(child, subscribers, update)
  const bare = await openClients(bareUrl, count, null, slug)
  const broadcast: Order = { do: 'broadcast', text: 'x'.repeat(length) }
  const samples = { subscribed: [] as Figures[], raw: [] as Figures[] }
  for (let round = 0; round < warmUps + rounds; round++) {
    samples.subscribed.push(await sample(child, subscribers, update))
    samples.raw.push(await sample(child, bare, broadcast))
  }
  for (const { socket } of [...subscribers, ...bare]) socket.destroy()
  await stopNode(child)
  await disk.remove()
  const middle = (figures: readonly Figures[]): Figures => {
    const measured = figures.slice(warmUps)
    const of = (name: keyof Figures) => median(measured.map((figure) => figure[name]))
    return { first: of('first'), last: of('last'), cpu: of('cpu') }
  }
  return [middle(samples.subscribed), middle(samples.raw)]
}

async function sample(child: ChildProcess, clients: readonly Client[], order: Order): Promise<Figures> {
  const before = await ask(child, { do: 'usage' })
  const begun = performance.now()
  const { firstAt, lastAt } = await deliveredTo(clients, child, order)
  const { cpu } = await ask(child, { do: 'usage' })
  return { first: firstAt - begun, last: lastAt - begun, cpu: (cpu - before.cpu) / clients.length }
}

/** A connection that counts what it receives, without parsing it. */
interface Client {
  readonly socket: Socket
  received: number
  /** Called when data arrived. */
  reported: (at: number) => void
}

async function openClients(url: string, count: number, query: string | null, slug: string): Promise<Client[]> {
  const clients: Client[] = []
  for (let begun = 0; begun < count; begun += 100) {
    const batch = Array.from({ length: Math.min(100, count - begun) }, (_, index) =>
      openClient(url, `127.0.0.${2 + Math.floor((begun + index) / perAddress)}`, query, slug),
    )
    clients.push(...(await Promise.all(batch)))
  }
  return clients
}

async function openClient(url: string, localAddress: string, query: string | null, slug: string): Promise<Client> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
  const client: Client = { socket, received: 0, reported: () => {} }
  socket.write(upgradeRequest)
  await once(socket, 'data')
  if (query !== null) {
    socket.write(frameOf({ type: 'connection_init' }))
    await once(socket, 'data')
    socket.write(frameOf({ id: '1', type: 'subscribe', payload: { query, variables: { slug } } }))
  }
  socket.on('data', (bytes) => {
    client.received += bytes.length
    client.reported(performance.now())
  })
  return client
}

/** Sends to every client. Returns the length of the message, without its frame. */
async function settle(child: ChildProcess, clients: readonly Client[], order: Order): Promise<number> {
  for (const client of clients) client.received = 0
  await deliveredTo(clients, child, order)
  return Math.min(...clients.map(({ received }) => received)) - 4
}

/** Sends, and waits until every client has received something. */
async function deliveredTo(
  clients: readonly Client[],
  child: ChildProcess,
  order: Order,
): Promise<{ firstAt: number; lastAt: number }> {
  let waiting = clients.length
  let firstAt = 0
  const delivered = new Promise<number>((resolve) => {
    for (const client of clients) {
      client.reported = (at) => {
        client.reported = () => {}
        firstAt ||= at
        waiting -= 1
        if (waiting === 0) resolve(at)
      }
    }
  })
  await ask(child, order)
  return { lastAt: await delivered, firstAt }
}

async function ask(child: ChildProcess, order: Order): Promise<Usage> {
  child.send(order)
  const [usage] = (await once(child, 'message')) as [Usage]
  return usage
}
