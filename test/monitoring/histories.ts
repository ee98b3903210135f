import { newId } from '../../src/core/id.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import type { MonitorState } from '../../src/generated/prisma/enums.ts'
import { watchId } from '../../src/monitoring/monitor/watches.ts'
import type { Span } from '../../src/monitoring/uptime/uptime.ts'

/** A monitor's history that a test writes. */
export interface WrittenHistory {
  readonly organizationId: string
  readonly serviceId?: string | null
  /** Consecutive states, each with its start; the last one is open. */
  readonly states: readonly (readonly [MonitorState, Date])[]
  readonly gaps?: readonly Span[]
  /** The last known result; null: none. */
  readonly lastKnownAt: Date | null
}

/** Writes a monitor with an interval of a minute and its history into the database. Returns its id. */
export async function writeMonitor(prisma: PrismaClient, history: WrittenHistory): Promise<string> {
  const [id = ''] = await writeMonitors(prisma, [history])
  return id
}

/** Writes many monitors with four statements. Returns their ids. */
export async function writeMonitors(prisma: PrismaClient, histories: readonly WrittenHistory[]): Promise<string[]> {
  const written = histories.map((history) => {
    const [state, stateSince] = history.states.at(-1) ?? ['PENDING', new Date(0)]
    return { ...history, id: newId('Monitor'), state, stateSince }
  })
  // Runs in one transaction, because the application's workers create watches for monitors that have none.
  await prisma.$transaction([
    prisma.monitor.createMany({
      data: written.map(({ id, organizationId, serviceId = null, states, state, stateSince }) => ({
        ...{
          id,
          organizationId,
          serviceId,
          name: 'Front page',
          kind: 'TCP',
          options: { host: 'host.example', port: 443 },
        },
        ...{ intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 2, recoveryThreshold: 1 },
        ...{ state, stateSince, createdAt: states[0]?.[1] ?? stateSince },
      })),
    }),
    prisma.watch.createMany({
      data: written.map(({ id: monitorId, state, stateSince, lastKnownAt }) => ({
        ...{ id: watchId(monitorId, 'local'), monitorId, region: 'local', state, stateSince, lastKnownAt },
      })),
    }),
    prisma.monitorInterval.createMany({
      data: written.flatMap(({ id: monitorId, states }) =>
        states.map(([state, startedAt], index) => {
          const endedAt = states[index + 1]?.[1] ?? null
          return { monitorId, startedAt, endedAt, state, cause: `${state} it was.` }
        }),
      ),
    }),
    prisma.monitorGap.createMany({
      data: written.flatMap(({ id: monitorId, gaps = [] }) =>
        gaps.map(({ from, to }) => ({ monitorId, startedAt: from, endedAt: to })),
      ),
    }),
  ])
  return written.map(({ id }) => id)
}
