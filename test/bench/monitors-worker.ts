import pino from 'pino'
import { connectPorts } from '../../src/app/ports.ts'
import { readConfig } from '../../src/core/config.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { SECOND } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { createAgenda } from '../../src/database/lease/agenda.ts'
import { probeResult } from '../../src/monitoring/result/probe-result.ts'
import { createResultWriter } from '../../src/monitoring/result/result-writer.ts'
import { createScheduler } from '../../src/monitoring/schedule/scheduler.ts'
import { reconcileMonitors } from '../../src/monitoring/state/reconcile-monitors.ts'
import { reconcileStalenessInTurn } from '../../src/monitoring/state/staleness-job.ts'

/**
 * A worker of the bench `monitors`: it claims, stores and reconciles as the service does, but its probes answer at once,
 * so that the database and the work around probes are measured. Sends its figures to its parent when it gets a message.
 */
connectPorts()
const now = () => new Date()
const log = pino({ level: 'fatal' })
const config = readConfig({ DATABASE_URL: process.env['DATABASE_URL'], ROLE: 'worker' })
const database = await openDatabase({ dataDir: '', databaseUrl: config.DATABASE_URL, log })
const ctx = { config, db: database.prisma, actor: { kind: 'system' as const }, clientAddress: null, now, log }
const metrics = createMetrics()
const agenda = createAgenda({ pool: database.pool, now, log })
const resultWriter = createResultWriter({
  db: ctx.db,
  reconcile: (organizationId, ids) => reconcileMonitors(ctx, organizationId, ids),
  metrics,
  now,
  log,
})
let late: number[] = []
const observed = { ...metrics, lateness: { observe: (seconds: number) => void late.push(seconds) } }
const scheduler = createScheduler({
  ctx,
  pool: database.pool,
  resultWriter,
  metrics: observed as unknown as typeof metrics,
  agenda,
  run: async () => probeResult('UP', 'HTTP 200 after 12 ms.', { latencyMs: 12, detail: { status: 200 } }),
})
scheduler.start()
agenda.start()
const staleness = setInterval(() => void reconcileStalenessInTurn(ctx).catch((error) => log.error(error)), 5 * SECOND)
let busy = process.cpuUsage()
process.on('message', async (message) => {
  if (message === 'figures') {
    const { user, system } = process.cpuUsage(busy)
    process.send?.({ late, cpuMs: (user + system) / 1000 })
    late = []
    busy = process.cpuUsage()
    return
  }
  clearInterval(staleness)
  await scheduler.close()
  await resultWriter.close()
  await agenda.stop()
  await database.close()
  process.exit(0)
})
process.send?.('ready')
