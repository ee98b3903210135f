import { z } from 'zod'
import { SECOND } from '../../core/time.ts'
import type { Connection } from '../../network/outbound.ts'
import { oneLine } from '../probe-result.ts'
import { Trouble } from './conversation.ts'
import { unreachableResult } from './host.ts'
import type { ProbeRun } from './probe.ts'
import {
  type DescribedProbe,
  judged,
  serverOptions,
  serverWords,
  tlsOptions,
  tlsWords,
  troubled,
} from './server-probe.ts'

/** How much a server may send, in bytes. */
const MAX_BYTES = 256 * 1024

const name = z.string().trim().min(1, 'must not be empty').max(100)

const options = z.strictObject({
  ...serverOptions(5432),
  ...tlsOptions,
  user: name.default('postgres'),
  /** A secret. */
  password: z.string().max(1000).optional(),
  database: name.default('postgres'),
  query: z.string().trim().min(1, 'must not be empty').max(2000).default('SELECT 1'),
})

type Options = z.output<typeof options>

const words = {
  name: 'PostgreSQL',
  about: 'Signs in to a PostgreSQL server, and runs a query.',
  options: {
    ...serverWords,
    ...tlsWords,
    user: { label: 'User', description: 'The user to sign in as.' },
    password: { label: 'Password', description: 'The password to sign in with.' },
    database: { label: 'Database', description: 'The database to connect to.' },
    query: {
      label: 'Query',
      description: 'The query that must succeed; what it returns does not matter.',
      hint: 'Must succeed; what it returns does not matter.',
      isRare: true,
    },
  },
} as const

/** Signs in and runs a query with the client library, over a connection that we have made. */
export const postgresql: DescribedProbe<typeof options> = {
  ...{ kind: 'POSTGRESQL', options, words, secrets: [['password']] },
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { host: 'example.com' },
  subject: 'host',
  target: ({ host, port }) => ({ host, port }),
  recipient: ({ host, port, tls }) => `postgresql ${tls ? 'tls' : 'tcp'} ${host} ${port}`,
  async run(given, run) {
    const { host, port } = given
    const connected = await run.tools.outbound.connect({ host, port }, run)
    if (connected.kind === 'failed') return unreachableResult(host, connected)
    const started = performance.now() - connected.phases.total
    try {
      const rows = await ask(given, connected, run)
      return judged(given, connected, rows === 1 ? '1 row' : `${rows} rows`, performance.now() - started)
    } catch (error) {
      return troubled(error instanceof Trouble ? error : new Trouble('The query failed'), connected, run)
    } finally {
      connected.socket.destroy()
    }
  },
}

/** Returns how many rows the query gives. @throws Trouble. */
async function ask(given: Options, { socket, phases }: Connection, run: ProbeRun): Promise<number> {
  const { host, port, tls, verifyCertificate, user, password, database, query } = given
  let trouble: Trouble | null = null
  const end = (message: string, isAborted = false) => {
    trouble ??= new Trouble(message, isAborted)
    socket.destroy()
  }
  const onAbort = () => end('The probe was aborted', true)
  let received = 0
  socket.on('data', ({ length }: Buffer) => {
    received += length
    if (received > MAX_BYTES) end('The server sends more than 256 KiB')
  })
  const timer = setTimeout(() => end(`No answer within ${run.timeoutMs / SECOND} s`), run.timeoutMs - phases.total)
  run.signal.addEventListener('abort', onAbort)
  if (run.signal.aborted) onAbort()
  try {
    const { default: pg } = await import('pg')
    // The library connects what it is given: this socket already is.
    const stream = Object.assign(socket, {
      connect: () => {
        setImmediate(() => socket.emit('connect'))
        return socket
      },
    })
    const ssl = tls ? { rejectUnauthorized: verifyCertificate } : false
    const client = new pg.Client({ host, port, user, password: password ?? '', database, ssl, stream: () => stream })
    client.on('error', () => undefined)
    await client.connect()
    const { rowCount } = await client.query(query)
    return rowCount ?? 0
  } catch (error) {
    throw trouble ?? new Trouble(oneLine(error instanceof Error ? error.message : 'The query failed', 300))
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', onAbort)
  }
}
