/**
 * Starts the service with a demo organization (`npm run demo`). Stores its data in the folder `demo` of DATA_DIR,
 * never on the server of DATABASE_URL, to keep invented incidents apart from real ones.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createLog } from './app/log.ts'
import { connectPorts } from './app/ports.ts'
import { readSettings, refuseToStart, serve } from './app/serve.ts'
import type { Config } from './core/config.ts'
import { endWithShell } from './core/process/second-process.ts'
import { openDatabase } from './database/client.ts'
import type { Demo } from './demo/organization.ts'
import { prepareDemo } from './demo/organization.ts'

endWithShell(process.env['npm_lifecycle_event'])
connectPorts()
const settings = readSettings()
const config: Config = {
  ...settings,
  // Chosen before the service listens, because the demo's monitors probe the service itself.
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

function guide(baseUrl: string, { slug, incidentId, secret, person, archivedSlug }: Demo): string {
  const message = 'The new node has all its data, and webhooks are **on time** again.'
  const mutation = `mutation { postIncidentUpdate(input: { incidentId: "${incidentId}", status: MONITORING, message: "${message}" }) { ... on IncidentUpdate { id } ... on Error { code message } } }`
  return `
  The status page    ${baseUrl}/status/${slug}
  The console        ${baseUrl}/console
                     ${person.email}, password ${person.password}
  GraphiQL           ${baseUrl}/graphql
${archivedSlug === null ? '' : `  The old demo    ${baseUrl}/status/${archivedSlug}\n`}
  An API key, valid for a week:

  ${secret}

  Open the status page, run this in another terminal, and watch the page update. Replace MONITORING with RESOLVED to close the incident.

curl ${baseUrl}/graphql -H 'content-type: application/json' -H 'authorization: Bearer ${secret}' \\
  -d '${JSON.stringify({ query: mutation })}'

`
}
