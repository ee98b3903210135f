/**
 * A process that sends due deliveries until it is killed or none is left. Arguments: the database's directory or URL,
 * how far its clock is ahead, in milliseconds, and the URL of an SMTP server.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createQuota } from '../../src/account/quota.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { openDatabase } from '../../src/database/client.ts'
import { createThirdPartyRate } from '../../src/network/third-party-rate.ts'
import { createMailer } from '../../src/notification/channel/mailer.ts'
import { subscriberDeliveries } from '../../src/notification/delivery/subscriber-deliveries.ts'
import { createDeliveryWorker } from '../../src/notification/queue/worker.ts'
import { testContext } from '../support/context.ts'
import { silent } from '../support/scratch.ts'
import { outbound, seal, site } from './setup.ts'

const [where = '', ahead = '0', smtp] = process.argv.slice(2)
const databaseUrl = where.startsWith('postgresql:') ? where : undefined
const database = await openDatabase({ dataDir: where, databaseUrl, log: silent })
const now = () => new Date(Date.now() + Number(ahead))
const ctx = testContext(database.prisma, { now })
const mailer = createMailer({ SMTP_URL: smtp, MAIL_FROM: 'status@allclear.example' }, site)
const tools = { outbound, mailer, now }
const usage = createQuota(database.pool)
const { pool } = database
const worker = createDeliveryWorker(
  { ctx, pool, seal, usage, rate: createThirdPartyRate(), metrics: createMetrics() },
  subscriberDeliveries({ ctx: { ...ctx, seal }, pool, tools, site }),
)
worker.start()
while ((await database.prisma.delivery.count({ where: { status: 'PENDING' } })) > 0) await sleep(100)
await worker.close()
await database.close()
process.stdout.write('done\n')
process.exit(0)
