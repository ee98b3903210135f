import type { Config } from '../core/config.ts'
import { readConfig } from '../core/config.ts'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { plainConfig } from '../database/connection/server-config.ts'
import { reasonOf } from '../network/reason.ts'
import { examineDatabase } from './database.ts'
import { examineDisk } from './disk.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'
import { examineMail } from './mail.ts'
import { examineResolver } from './resolver.ts'

const CONNECT_TIMEOUT_MS = 5 * SECOND

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Examines the resolvers, mail server, database server and disk in the settings of an environment. Skips those without a setting,
 * because this may not be the service’s machine.
 */
export async function examineSettings(env: Environment, now: () => Date): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig({ ...env })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return error.message.split('\n').map((line) => found('SETTINGS_INVALID', { reason: line }))
  }
  const { SMTP_URL, DATABASE_URL, DATABASE_CONNECTIONS, DATA_DIR } = config
  const resolvers = env['DNS_SERVERS'] ? config.DNS_SERVERS : []
  const all = await Promise.all([
    ...resolvers.map(({ address, port }) =>
      examineResolver(address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`),
    ),
    ...(SMTP_URL === undefined ? [] : [examineMail(SMTP_URL)]),
    ...(DATABASE_URL === undefined ? [] : [examineServer(DATABASE_URL, DATABASE_CONNECTIONS, now)]),
    examineDisk(DATA_DIR),
  ])
  return all.flat().filter((finding) => finding !== null)
}

async function examineServer(databaseUrl: string, connections: number, now: () => Date): Promise<Finding[]> {
  const config = plainConfig(databaseUrl)
  const client = new config.Client({
    ...config,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  })
  // Without a listener, a connection lost during the examination would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return await examineDatabase(client, now, { connections })
  } catch (error) {
    return [found('DATABASE_UNREACHABLE', { reason: reasonOf(error) })]
  } finally {
    await client.end().catch(() => {})
  }
}
