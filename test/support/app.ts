import type { Logger } from 'pino'
import { inject } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { startApp } from '../../src/app/start.ts'
import type { Blacklist } from '../../src/blacklist/list.ts'
import type { Config, DnsServer } from '../../src/core/config.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Clock } from '../../src/core/time.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { atTheEnd } from './at-the-end.ts'
import { borrowDatabase } from './database.ts'
import { silent, temporaryDirectory } from './scratch.ts'
import { operatorToken } from './service-data.ts'

/** The settings of a service under test: a free port, its own data, little geo data, and `dns` as the whole DNS. */
export function testConfig(dns: DnsServer, dataDir: string, settings: NodeJS.ProcessEnv = {}): Config {
  return readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DNS_SERVERS: `${dns.address}:${dns.port}`,
    ADMIN_TOKEN: operatorToken,
    DEFAULT_TIER: 'free',
    ...inject('geoFiles'),
    ...settings,
  })
}

/** The whole service, for the test file or the test that calls this; stopped afterwards. */
export async function testApp(options: {
  readonly dns: DnsServer
  readonly settings?: NodeJS.ProcessEnv
  readonly now?: Clock
  readonly lists?: readonly Blacklist[]
  readonly log?: Logger
  /** A database to use, which the caller provides. */
  readonly database?: DatabaseHandle
}): Promise<App> {
  const { dns, settings = {}, database, ...rest } = options
  const directory = await temporaryDirectory()
  const own = database ?? settings['DATABASE_URL']
  const borrowed = own === undefined ? await borrowDatabase() : null
  const given = database ?? borrowed?.database
  const app = await startApp({
    log: silent,
    ...rest,
    config: testConfig(dns, directory.path, settings),
    // The database is released after the service has closed everything else.
    ...(given && { openDatabase: async () => ({ ...given, close: async () => {} }) }),
  })
  atTheEnd(async () => {
    await app.close()
    await borrowed?.release()
    await directory.remove()
  })
  return app
}
