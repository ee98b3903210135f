import { z } from 'zod'
import { clientProbe, limitReceived, serverOptions, serverWords, tlsOptions, tlsWords } from './server-probe.ts'

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

const words = {
  name: 'PostgreSQL',
  about: 'Signs in to a PostgreSQL server and runs a query.',
  options: {
    ...serverWords,
    ...tlsWords,
    user: { label: 'User', description: 'The user to sign in as.' },
    password: { label: 'Password', description: 'The password to sign in with.' },
    database: { label: 'Database', description: 'The database to connect to.' },
    query: {
      label: 'Query',
      description: 'The query that must succeed. Its result is ignored.',
      hint: 'It must succeed; its result is ignored.',
      isRare: true,
    },
  },
} as const

/** Signs in and runs a query with the client library, over a connection of the outbound client. */
export const postgresql = clientProbe({
  ...{ kind: 'POSTGRESQL', options, words, secrets: [['password']] },
  async talk(client, { host, port, tls, verifyCertificate, user, password, database, query }) {
    limitReceived(client)
    const { socket } = client
    const { default: pg } = await import('pg')
    // The library calls `connect` on the socket, which is already connected.
    const stream = Object.assign(socket, {
      connect: () => {
        setImmediate(() => socket.emit('connect'))
        return socket
      },
    })
    const ssl = tls ? { rejectUnauthorized: verifyCertificate } : false
    const asked = new pg.Client({ host, port, user, password: password ?? '', database, ssl, stream: () => stream })
    asked.on('error', () => undefined)
    await asked.connect()
    const { rowCount } = await asked.query(query)
    return rowCount === 1 ? '1 row' : `${rowCount ?? 0} rows`
  },
})
