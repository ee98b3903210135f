import type { Logger } from 'pino'
import { inject } from 'vitest'
import type { App } from '../../src/app.ts'
import { startApp } from '../../src/app.ts'
import type { Blacklist } from '../../src/blacklist/list.ts'
import type { Config, DnsServer } from '../../src/config.ts'
import { readConfig } from '../../src/config.ts'
import type { Clock } from '../../src/time.ts'
import { atTheEnd } from './at-the-end.ts'
import { copyDataDir, serverDatabase, serverUrl } from './database.ts'
import { silent, temporaryDirectory } from './scratch.ts'

/** The operator's token of every service under test. */
export const operatorToken = 'op_token-of-the-tests'

/** The settings of a service under test: a free port, its own data, little geo data, and `dns` as the whole of the DNS. */
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

/** Where a service under test keeps its data: a copy of the suite's migrated, empty database. */
export async function testData(): Promise<{ dataDir: string; settings: NodeJS.ProcessEnv; remove(): Promise<void> }> {
  const { path: dataDir, remove } = await temporaryDirectory()
  const template = inject('databaseTemplate')
  if (serverUrl === undefined) {
    copyDataDir(template, dataDir)
    return { dataDir, settings: {}, remove }
  }
  const own = await serverDatabase(serverUrl, template)
  return {
    dataDir,
    settings: { DATABASE_URL: own.url },
    remove: async () => {
      await own.remove()
      await remove()
    },
  }
}

/** The whole service, for the test file or the test that calls this; stopped after it. */
export async function testApp(options: {
  readonly dns: DnsServer
  readonly settings?: NodeJS.ProcessEnv
  readonly now?: Clock
  readonly lists?: readonly Blacklist[]
  readonly log?: Logger
}): Promise<App> {
  const { dns, settings: given, ...rest } = options
  const { dataDir, settings, remove } = await testData()
  const app = await startApp({ log: silent, ...rest, config: testConfig(dns, dataDir, { ...settings, ...given }) })
  atTheEnd(async () => {
    await app.close()
    await remove()
  })
  return app
}
