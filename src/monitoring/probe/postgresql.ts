import { z } from 'zod'
import { described } from '../../core/described.ts'
import { ConversationError } from './conversation.ts'
import { clientProbe, limitReceived, passwordText, serverOptions, tlsOptions } from './server-probe.ts'

const name = z.string().trim().min(1, 'must not be empty').max(100)

const options = z.strictObject({
  ...serverOptions(5432),
  ...tlsOptions,
  user: described(name.default('postgres'), { label: 'User', description: 'The user to sign in as.' }),
  password: passwordText(1000),
  database: described(name.default('postgres'), { label: 'Database', description: 'The database to connect to.' }),
  query: described(z.string().trim().min(1, 'must not be empty').max(2000).default('SELECT 1'), {
    label: 'Query',
    description: 'The query that must succeed. Its result is ignored.',
    hint: 'It must succeed; its result is ignored.',
    isRare: true,
  }),
})

/** Asks for TLS: the length of the message and the code of SSLRequest (PostgreSQL's protocol 3.0, "Message Formats"). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/** Signs in and runs a query with the client library, over a connection of the outbound client. */
export const postgresql = clientProbe({
  kind: 'POSTGRESQL',
  options,
  words: { name: 'PostgreSQL', about: 'Signs in to a PostgreSQL server and runs a query.' },
  sentTexts: ({ query, ...sent }) => sent,
  async beforeTls(server) {
    server.send(SSL_REQUEST)
    const answer = (await server.bytes(1)).toString('latin1')
    if (answer === 'S') return
    throw new ConversationError(answer === 'N' ? 'The server does not support TLS' : 'The server refused to start TLS')
  },
  async talk(client, { host, port, user, password, database, query }) {
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
    const asked = new pg.Client({
      host,
      port,
      user,
      password: password ?? '',
      database,
      ssl: false,
      stream: () => stream,
    })
    asked.on('error', () => undefined)
    await asked.connect()
    const { rowCount } = await asked.query(query)
    return rowCount === 1 ? '1 row' : `${rowCount ?? 0} rows`
  },
})
