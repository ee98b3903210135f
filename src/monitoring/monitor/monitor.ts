import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { EditContext } from '../../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { privateTargetRule, readByPrivateTargetRule } from '../../account/private-targets/rule.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { typeOfId } from '../../core/id.ts'
import { changedFields, hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { onlyResult } from '../../core/outcome.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { invalid, validate } from '../../core/validation.ts'
import { updateRows } from '../../database/update-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Monitor, Tier } from '../../generated/prisma/client.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { requireServices } from '../../status/ownership.ts'
import type { MonitoringContext } from '../context.ts'
import { leaveGroups, requireGroupMembers } from '../group/group-store.ts'
import { heartbeatDueAfterEdit } from '../heartbeat/heartbeat.ts'
import { heartbeatTokenPurpose, newHeartbeatToken } from '../heartbeat/heartbeat-token.ts'
import { monitorEvent, ownMonitor, statusEvents } from '../monitor-events.ts'
import { setParents } from '../state/dependency-store.ts'
import { leaveIncident } from '../state/incident.ts'
import { reconcileGroups } from '../state/reconcile-monitors.ts'
import { enterState } from '../uptime/state-intervals.ts'
import { enoughKnownAt, regionsNeeded } from '../watch/staleness.ts'
import { agreement, dependsOnIds, insertMonitors, monitorName, readNewMonitor } from './new-monitor.ts'
import type { Configuration } from './options.ts'
import { changeOptions, openOptions, optionFields, optionKeyOf, sealOptions } from './options.ts'
import { probeSettingsEdit, probeSettingsOf } from './probe-settings.ts'
import { requireProbeLimits } from './target.ts'
import { deleteWatches, resetWatches } from './watches.ts'

type MonitorContext = Context & Pick<MonitoringContext, 'seal'>

/**
 * Creates a monitor and starts it. The thresholds of a heartbeat are always 1, because it has a grace period. Requires
 * a key with scope WRITE.
 * @throws Invalid, NotFound when the organization does not have the service or a monitor to depend on, TierLimitReached
 * when its tier allows no more monitors (including paused ones), and RateLimited when it has used too many ports today.
 */
export async function createMonitor(ctx: MonitorContext & ChangeContext, input: unknown): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = await readByPrivateTargetRule(ctx, organizationId, (rule) => readNewMonitor(rule, input))
  return change(ctx, organizationId, async (tx) => {
    const { monitors, events } = await insertMonitors(tx, organizationId, [given])
    return [await ownMonitor(tx, organizationId, onlyResult(monitors).id), ...events]
  })
}

/** The input of `updateMonitor`. */
export const monitorEdit = named(
  z.object({
    id: idOf('The monitor to change.'),
    name: monitorName.optional(),
    serviceId: idOf('Null detaches it from its service.').nullish(),
    ...probeSettingsEdit,
    agreement: described(agreement, {
      description: 'The number of regions that must find it down. Null: a strict majority of the reporting regions.',
    }),
    dependsOnIds: described(dependsOnIds, {
      description: 'The monitors that it depends on, replacing the current ones.',
    }),
    ...optionFields,
    version: versionInput,
  }),
  { name: 'UpdateMonitor', about: 'Omitted fields stay unchanged, and so does the kind.' },
)

/**
 * Updates the given fields of a monitor. Its kind cannot change. A `serviceId` of null detaches it from its service.
 * Options replace all options, but secrets given as null are kept. When the options change, earlier results no longer
 * count (except those of a group's members), and running probes are discarded. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict when the monitor was changed after the given version, ManagedByFile, and
 * RateLimited when the organization has used too many ports today.
 */
export async function updateMonitor(ctx: MonitorContext & EditContext, input: unknown): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, name, serviceId, agreement, dependsOnIds, ...given } = validate(monitorEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownMonitor(tx, organizationId, id)
    requireVersion(before, version)
    if (typeof serviceId === 'string') await requireServices(tx, organizationId, [serviceId])
    const tier = await tierOf(tx, organizationId)
    const settings = probeSettingsOf(given, { kind: before.kind, tier, before })
    const known = openOptions(ctx.seal, before)
    const configuration = await readByPrivateTargetRule(tx, organizationId, (rule) => changeOptions(rule, given, known))
    const watchesOther = !isDeepStrictEqual(configuration, known)
    const hasOtherParents = dependsOnIds != null && (await setParents(tx, before, dependsOnIds))
    const changed = [
      ...changedFields(before, { name, serviceId, agreement, ...settings }),
      ...(watchesOther ? [optionKeyOf(before.kind)] : []),
      ...(hasOtherParents ? ['dependsOnIds'] : []),
    ]
    if (changed.length === 0) return [before]
    await requireUnlocked(tx, organizationId, id, changed)
    if (watchesOther || settings.intervalSeconds < before.intervalSeconds) {
      await requireTargets(tx, before, configuration, { ...settings, tier })
    }
    const monitor = await tx.db.monitor.update({
      where: { id },
      data: {
        name,
        serviceId,
        agreement,
        ...settings,
        ...(watchesOther && { options: sealOptions(ctx.seal, id, configuration) }),
        version: { increment: 1 },
      },
    })
    const events = await reconcileEdit(tx, before, monitor, watchesOther || (await lacksReports(tx, before, monitor)))
    return [await ownMonitor(tx, organizationId, id), monitorEvent('MONITOR_UPDATED', monitor), ...events]
  })
}

/**
 * Updates monitors like `updateMonitor`. Uses bulk statements for those whose probes stay the same and do not become
 * more frequent.
 * @throws the errors of `updateMonitor`, for the first refused monitor.
 */
export async function updateMonitors(ctx: MonitorContext & EditContext, inputs: readonly unknown[]): Promise<void> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given: MonitorEdit[] = []
  for (const input of inputs) {
    await yieldAfterTimeSlice(organizationId)
    given.push(validate(monitorEdit, input))
  }
  await change(ctx, organizationId, async (tx) => {
    const known = await readMonitors(tx, organizationId, given)
    const tier = await tierOf(tx, organizationId)
    const rule = await privateTargetRule(tx, organizationId)
    const rows: SimpleEdit[] = []
    for (const edit of given) {
      await yieldAfterTimeSlice(organizationId)
      const before = known.get(edit.id)
      const row = before === undefined ? null : simpleEdit(ctx, before, edit, { tier, rule })
      if (row === null) await updateMonitor(tx, edit)
      else if (row.changed.length > 0) {
        await requireUnlocked(tx, organizationId, edit.id, row.changed)
        rows.push(row)
      }
    }
    await updateRows(
      tx.db,
      'Monitor',
      rows.map(({ row }) => row),
    )
    const ids = rows.map(({ row }) => row.id)
    await tx.db.watch.updateMany({ where: { monitorId: { in: ids }, dueAt: { not: null } }, data: { dueAt: tx.now() } })
    return [undefined, ...rows.map(({ row }) => monitorEvent('MONITOR_UPDATED', row))]
  })
}

type MonitorEdit = z.output<typeof monitorEdit>

/** An edit after which probes stay the same and do not become more frequent. */
interface SimpleEdit {
  readonly row: Pick<Monitor, 'id' | 'name'> & ReturnType<typeof probeSettingsOf>
  /** The names of the changed members. */
  readonly changed: readonly string[]
}

/** Returns an edit that can be written in bulk; null: the edit needs more than that. */
function simpleEdit(
  ctx: MonitorContext,
  before: Monitor,
  { id, version, name = before.name, serviceId, agreement, dependsOnIds, ...given }: MonitorEdit,
  { tier, rule }: { readonly tier: Tier; readonly rule: PrivateTargetRule },
): SimpleEdit | null {
  if (before.kind === 'HEARTBEAT' || dependsOnIds != null || hasChanges(before, { serviceId, agreement })) return null
  requireVersion(before, version)
  const settings = probeSettingsOf(given, { kind: before.kind, tier, before })
  const options = openOptions(ctx.seal, before)
  const isOften = settings.intervalSeconds < before.intervalSeconds
  if (isOften || !isDeepStrictEqual(changeOptions(rule, given, options), options)) return null
  return { row: { id, name, ...settings }, changed: changedFields(before, { name, ...settings }) }
}

/** The number of rows read per turn of the event loop. */
const PART = 50

async function readMonitors({ db }: Context, organizationId: string, given: readonly { readonly id: string }[]) {
  const ids = given.map(({ id }) => id).filter((id) => typeOfId(id) === 'Monitor')
  const known = new Map<string, Monitor>()
  for (let start = 0; start < ids.length; start += PART) {
    const found = await db.monitor.findMany({ where: { organizationId, id: { in: ids.slice(start, start + PART) } } })
    for (const monitor of found) known.set(monitor.id, monitor)
  }
  return known
}

/** Checks the target of an edited monitor. @throws NotFound, Invalid, RateLimited. */
async function requireTargets(
  tx: Context,
  { id, organizationId }: Monitor,
  configuration: Configuration,
  { tier, intervalSeconds }: { readonly tier: Tier; readonly intervalSeconds: number },
): Promise<void> {
  if (configuration.kind === 'GROUP') return requireGroupMembers(tx, { id, organizationId }, configuration.options)
  return requireProbeLimits(tx, { organizationId, tier }, configuration, { id, intervalSeconds })
}

/** Returns whether more regions must agree than have ever reported. */
async function lacksReports({ db }: Context, before: Monitor, after: Monitor): Promise<boolean> {
  if (regionsNeeded(after.agreement) <= regionsNeeded(before.agreement)) return false
  const watches = await db.watch.findMany({ where: { monitorId: after.id } })
  return enoughKnownAt(watches, after.agreement) === null
}

/** Updates watches, incidents and services after an edit. Returns the new events. */
async function reconcileEdit(tx: EditContext, before: Monitor, after: Monitor, isOther: boolean): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  // The reports of a heartbeat stay valid when its grace changes, and so do the results of a group's members.
  const isReset = isOther && after.kind !== 'HEARTBEAT' && after.kind !== 'GROUP' && after.pausedBy === null
  if (after.serviceId !== before.serviceId) events.push(...(await leaveIncident(tx, before, 'MOVED')))
  else if (isReset) events.push(...(await leaveIncident(tx, before, 'CHANGED')))
  if (isReset) {
    await resetWatches(tx, after)
    await enterState(tx, after, 'PENDING', tx.now())
  } else {
    await makeDueNow(tx, after)
  }
  const afterReset = { ...after, state: 'PENDING', unknownSince: null } as const
  events.push(...(await statusEvents(tx, before, isReset ? afterReset : after)))
  const isOtherGroup = isOther && after.kind === 'GROUP'
  if (!isReset && !isOtherGroup) return events
  const changedAt = isOtherGroup ? tx.now() : undefined
  return [...events, ...(await reconcileGroups(tx, after.organizationId, [after.id], changedAt))]
}

/**
 * Makes the next probe due now, so that running probes with the old settings are discarded. Makes a heartbeat due when
 * it is late by the new settings.
 */
async function makeDueNow(tx: EditContext, monitor: Monitor): Promise<void> {
  const now = tx.now()
  const watches = await tx.db.watch.findMany({ where: { monitorId: monitor.id, dueAt: { not: null } } })
  for (const watch of watches) {
    const dueAt = monitor.kind === 'HEARTBEAT' ? await heartbeatDueAfterEdit(tx, monitor, watch) : now
    await tx.db.watch.update({ where: { id: watch.id }, data: { dueAt } })
  }
}

/**
 * Deletes a monitor with its history. Returns the deleted monitor. Requires a key with scope WRITE.
 * @throws NotFound when the organization has no such monitor, and ManagedByFile.
 */
export async function deleteMonitor(ctx: EditContext, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    const left = await leaveIncident(tx, monitor, 'DELETED')
    // Deletes the watches first, because results lock rows in this order.
    await deleteWatches(tx, monitor)
    const groups = await leaveGroups(tx, monitor)
    await tx.db.monitor.delete({ where: { id } })
    const events = [monitorEvent('MONITOR_DELETED', monitor), ...left, ...(await statusEvents(tx, monitor, null))]
    const updated = groups.map((group) => monitorEvent('MONITOR_UPDATED', group))
    const groupIds = groups.map((group) => group.id)
    return [monitor, ...events, ...updated, ...(await reconcileGroups(tx, organizationId, groupIds, tx.now()))]
  })
}

/**
 * Replaces the token of a heartbeat. The old one stops working. Requires a key with scope WRITE.
 * @throws NotFound, and Invalid when the monitor is of another kind.
 */
export async function rotateHeartbeatToken(ctx: MonitorContext & ChangeContext, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { kind } = await ownMonitor(tx, organizationId, id)
    if (kind !== 'HEARTBEAT')
      throw invalid([{ path: ['id'], message: `must be a heartbeat monitor; this monitor is of kind ${kind}` }])
    const data = { ...newHeartbeatToken(ctx.seal, id), version: { increment: 1 } }
    const monitor = await tx.db.monitor.update({ where: { id }, data })
    return [monitor, monitorEvent('MONITOR_UPDATED', monitor)]
  })
}

/**
 * Returns the token of a heartbeat; null: the monitor is of another kind. Only for callers who may change the monitor.
 */
export function heartbeatToken(seal: SecretBox, { id, heartbeatToken }: Monitor): string | null {
  return heartbeatToken === null ? null : seal.open(heartbeatToken, heartbeatTokenPurpose(id))
}
