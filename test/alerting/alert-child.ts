/**
 * A process that sends due alerts until it is killed or none is left. Arguments: the database's directory or URL, and how far its
 * clock is ahead, in milliseconds.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createQuota } from '../../src/account/quota.ts'
import { alertDeliveries } from '../../src/alerting/alert-deliveries.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { openDatabase } from '../../src/database/client.ts'
import { createThirdPartyRate } from '../../src/network/third-party-rate.ts'
import { createDeliveryWorker } from '../../src/notification/queue/worker.ts'
import { outbound, seal, site } from '../notification/setup.ts'
import { testContext } from '../support/context.ts'
import { silent } from '../support/scratch.ts'

const [where = '', ahead = '0'] = process.argv.slice(2)
const databaseUrl = where.startsWith('postgresql:') ? where : undefined
const database = await openDatabase({ dataDir: where, databaseUrl, log: silent })
const now = () => new Date(Date.now() + Number(ahead))
const ctx = testContext(database.prisma, { now })
const tools = { outbound, mailer: null, now }
const usage = createQuota(database.pool)
const { pool } = database
const worker = createDeliveryWorker(
  { ctx, pool, seal, usage, rate: createThirdPartyRate(), metrics: createMetrics() },
  alertDeliveries({ ctx, pool, seal, tools, site }),
)
worker.start()
while ((await database.prisma.alertDelivery.count({ where: { status: 'PENDING' } })) > 0) await sleep(100)
await worker.close()
await database.close()
process.stdout.write('done\n')
process.exit(0)
