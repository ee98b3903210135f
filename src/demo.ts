/**
 * The service with an organization to look at, as `npm run demo` starts it. Its data is in a folder of its own, `demo` in
 * DATA_DIR, and never on the server of DATABASE_URL: invented incidents have no place among real ones.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { openDatabase } from './database/client.ts'
import type { Demo } from './demo/organization.ts'
import { prepareDemo } from './demo/organization.ts'
import { createLog } from './log.ts'
import { readSettings, refuseToStart, serve } from './serve.ts'

const settings = readSettings()
const config: Config = {
  ...settings,
  // Known before it listens, for its monitors watch the demo itself.
  PORT: settings.PORT || (await freePort()),
  DATA_DIR: join(settings.DATA_DIR, 'demo'),
  DATABASE_URL: undefined,
  ALLOW_PRIVATE_NETWORKS: true,
}
const log = createLog(config.LOG_LEVEL)
const demo = await prepare(config, log).catch(refuseToStart(log))
const { baseUrl } = await serve(config, log)
process.stdout.write(guide(baseUrl, demo))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, settings.HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

async function prepare(config: Config, log: Logger): Promise<Demo> {
  const database = await openDatabase({ dataDir: config.DATA_DIR, databaseUrl: config.DATABASE_URL, log })
  try {
    return await prepareDemo({ config, db: database.prisma, now: () => new Date(), log })
  } finally {
    await database.close()
  }
}

function guide(baseUrl: string, { slug, incidentId, secret, retiredSlug }: Demo): string {
  const message = 'The new node has all its data, and webhooks are **on time** again.'
  const mutation = `mutation { postIncidentUpdate(input: { incidentId: "${incidentId}", status: MONITORING, message: "${message}" }) { ... on IncidentUpdate { id } ... on Error { code message } } }`
  return `
  The status page    ${baseUrl}/status/${slug}
  GraphiQL           ${baseUrl}/graphql
${retiredSlug === null ? '' : `  The demo before    ${baseUrl}/status/${retiredSlug}\n`}
  A key to change things with, good for a week:

  ${secret}

  Keep the page open, paste this into another terminal, and see it change; with RESOLVED in place of MONITORING all is well.

curl ${baseUrl}/graphql -H 'content-type: application/json' -H 'authorization: Bearer ${secret}' \\
  -d '${JSON.stringify({ query: mutation })}'

`
}
