/**
 * The server of the fan-out bench: GraphQL over an embedded database in DATA_DIR, and a bare websocket server that
 * sends the same bytes. It receives commands over its channel and answers with figures.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { openDatabase } from '../../src/database/client.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { testContext } from '../support/context.ts'
import { startLiveService } from '../support/live-service.ts'
import { newTenant } from '../support/log-writers.ts'
import { silent } from '../support/scratch.ts'

/** Commands of the bench: an update of the incident, the same bytes over bare sockets, or the figures. */
export type Order =
  | { readonly do: 'update' }
  | { readonly do: 'broadcast'; readonly text: string }
  | { readonly do: 'usage' }

/** The server's first message. */
export interface Ready {
  readonly url: string
  readonly bareUrl: string
  readonly slug: string
}

/** Processor time of the process in microseconds. */
export interface Usage {
  readonly cpu: number
}

const database = await openDatabase({
  dataDir: process.env['DATA_DIR'] ?? '',
  databaseUrl: undefined,
  log: silent,
})
const { prisma: db } = database
const service = await startLiveService(database)
const organizationId = await newTenant(db)
const ctx = testContext(db, {
  actor: { kind: 'apiKey', keyId: 'key_bench', organizationId, scope: 'WRITE', checkPlan: 'FREE' },
})
const incident = await createIncident(ctx, {
  title: 'Elevated error rates',
  status: 'INVESTIGATING',
  impact: 'MAJOR',
  message: 'We are looking into it.',
})

const bare = new WebSocketServer({ port: 0, host: '127.0.0.1' })
await once(bare, 'listening')
const sockets = new Set<WebSocket>()
bare.on('connection', (socket) => sockets.add(socket))

process.on('message', async (order: Order) => {
  if (order.do === 'update') {
    await postIncidentUpdate(ctx, { incidentId: incident.id, status: 'MONITORING', message: 'x'.repeat(400) })
  }
  if (order.do === 'broadcast') for (const socket of sockets) socket.send(order.text)
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu: user + system } satisfies Usage)
})
// A server that listens on a host has an address with a port.
const { port } = bare.address() as AddressInfo
process.send?.({
  url: service.url,
  bareUrl: `http://127.0.0.1:${port}`,
  slug: organizationId.slice(4),
} satisfies Ready)
