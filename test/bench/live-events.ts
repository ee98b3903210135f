import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import type { DnsServer } from '../../src/core/config.ts'
import type { BenchOrganization } from './organization.ts'
import { newOrganization, updateOf } from './organization.ts'
import { ownDatabase } from './postgres.ts'
import { isShort, line, median, roundsOf, title, verdict } from './report.ts'
import { startService } from './service.ts'
import { afterPings, frameOf, PING, pong, upgradeRequest } from './websocket.ts'

const organizations = 20
const watchers = 25
const services = 5
const warmUps = 2
const rounds = roundsOf(9)

const query = `subscription ($slug: String!) {
  statusPageEvents(slug: $slug) { cursor kind at incident { id title status impact startedAt } page { status { description } } }
}`

type Watched = BenchOrganization & { readonly incidentId: string; readonly sockets: readonly Socket[] }

/**
 * (p) The main thread's cost of events when each of many pages has a few viewers, compared with the same updates
 * without viewers.
 */
export async function liveEvents(dns: DnsServer, dataDir: string): Promise<void> {
  await measure(dns, dataDir, null)
  if (isShort) return
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(p) Live events on PostgreSQL: skipped (${database})`)
  await measure(dns, dataDir, database.url).finally(() => database.remove())
}

async function measure(dns: DnsServer, dataDir: string, url: string | null): Promise<void> {
  const where = url === null ? 'the embedded database' : 'PostgreSQL'
  title(
    `(p) An update to ${watchers} watchers in each of ${organizations} organizations on ${where}, medians of ${rounds} rounds`,
  )
  const service = await startService(dns, dataDir, {
    ...(url !== null && { DATABASE_URL: url }),
    DEFAULT_TIER: 'team',
    LOG_LEVEL: 'fatal',
  })
  try {
    const groups = { watched: await open(service.port, watchers), alone: await open(service.port, 0) }
    const costs: Record<keyof typeof groups, number[]> = { watched: [], alone: [] }
    for (let round = 0; round < warmUps + rounds; round++) {
      for (const name of ['watched', 'alone'] as const) {
        const before = await mainThreadTime(service.pid)
        for (const page of groups[name]) await update(page, round)
        costs[name].push(((await mainThreadTime(service.pid)) - before) / organizations)
      }
    }
    const [watched, alone] = [median(costs.watched.slice(warmUps)), median(costs.alone.slice(warmUps))]
    line(`${watched.toFixed(2)} ms of main thread an update that is watched, ${alone.toFixed(2)} ms one that is not`)
    verdict(`ms of main thread a live event, ${where}`, watched - alone, { most: 1.5 })
    for (const { sockets } of groups.watched) for (const socket of sockets) socket.destroy()
  } finally {
    await service.stop()
  }
}

/** Creates organizations, each with so many viewers. */
async function open(port: number, count: number): Promise<Watched[]> {
  const pages: Watched[] = []
  for (let number = 0; number < organizations; number++) {
    const organization = await newOrganization(port, services)
    const address = `127.0.0.${2 + Math.floor(number / 10)}`
    const sockets = Array.from({ length: count }, () => watch(port, address, organization.slug))
    pages.push({ ...organization, sockets: await Promise.all(sockets) })
  }
  return pages
}

async function update({ run, incidentId, sockets }: Watched, round: number): Promise<void> {
  const reported = Promise.all(sockets.map(nextMessage))
  await run(updateOf(incidentId, `Round ${round}`))
  await reported
}

async function watch(port: number, localAddress: string, slug: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.write(upgradeRequest)
  await once(socket, 'data')
  socket.write(frameOf({ type: 'connection_init' }))
  await once(socket, 'data')
  socket.write(frameOf({ id: '1', type: 'subscribe', payload: { query, variables: { slug } } }))
  socket.on('data', ([type]) => {
    if (type === PING) socket.write(pong)
  })
  return socket
}

async function nextMessage(socket: Socket): Promise<void> {
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    if (afterPings(chunk).length > 0) return
  }
}

/** Milliseconds of processor time that the main thread of a process has used, as counted by the kernel. */
async function mainThreadTime(pid: number): Promise<number> {
  const [nanoseconds = ''] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(nanoseconds) / 1e6
}
