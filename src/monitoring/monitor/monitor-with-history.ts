import type { Context } from '../../core/context.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Monitor, Prisma } from '../../generated/prisma/client.ts'
import type { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import { monitorEvent } from '../monitor-events.ts'

/** A period in which a monitor was in a state; `endedAt` null: it still is. */
export interface PastState {
  readonly startedAt: Date
  readonly endedAt: Date | null
  readonly state: MonitorState
  readonly cause: string
}

/** The counts of an hour, with the number of latencies in each bucket of the histogram. */
interface PastHour {
  readonly hour: Date
  readonly up: number
  readonly degraded: number
  readonly down: number
  readonly unknown: number
  readonly latencies: readonly number[]
}

/** A monitor with its past. */
export interface MonitorWithHistory {
  readonly monitor: Pick<
    Prisma.MonitorUncheckedCreateInput,
    | 'id'
    | 'serviceId'
    | 'name'
    | 'intervalSeconds'
    | 'timeoutMs'
    | 'failureThreshold'
    | 'recoveryThreshold'
    | 'createdAt'
    | 'stateSince'
  > & { readonly kind: MonitorKind; readonly options: Prisma.InputJsonObject; readonly state: MonitorState }
  readonly watch?: Prisma.WatchUncheckedCreateWithoutMonitorInput
  readonly states: readonly PastState[]
  readonly gap: { readonly startedAt: Date; readonly endedAt: Date }
  readonly hours?: readonly PastHour[]
}

/** Creates a monitor with a past that it has not probed, as for the demo, whose three months cannot run in a second. */
export function createWithHistory(
  ctx: ChangeContext,
  organizationId: string,
  { monitor, watch, states, gap, hours = [] }: MonitorWithHistory,
): Promise<Monitor> {
  return change(ctx, organizationId, async ({ db }): Promise<ChangeResult<Monitor>> => {
    const created = await db.monitor.create({
      data: {
        ...{ ...monitor, organizationId },
        ...(watch && { watches: { create: watch } }),
        intervals: { createMany: { data: [...states] } },
        gaps: { create: gap },
      },
    })
    if (hours.length > 0) await createHours(db, created.id, hours)
    return [created, monitorEvent('MONITOR_CREATED', created)]
  })
}

/** Inserts the hours with one statement. With Prisma, so many rows and numbers take a second. */
async function createHours(db: Context['db'], monitorId: string, hours: readonly PastHour[]): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "MonitorHour" ("monitorId", hour, up, degraded, down, unknown, latencies)
    SELECT ${monitorId}, each.* FROM jsonb_to_recordset(${JSON.stringify(hours)}::jsonb)
      AS each (hour timestamptz, up int, degraded int, down int, unknown int, latencies int[])`
}

/** Changes the options of all monitors of a kind with one of these names whose URL ends like this, in any organization. */
export async function retargetByName(
  { db }: Pick<Context, 'db'>,
  {
    names,
    urlEnd,
    options,
  }: { readonly names: readonly string[]; readonly urlEnd: string; readonly options: Prisma.InputJsonObject },
): Promise<void> {
  const ending = { path: ['url'], string_ends_with: urlEnd }
  await db.monitor.updateMany({ where: { kind: 'HTTP', name: { in: [...names] }, options: ending }, data: { options } })
}
