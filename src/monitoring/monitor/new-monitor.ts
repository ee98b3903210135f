import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { privateTargetRule } from '../../account/private-targets/rule.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, idText, named } from '../../core/described.ts'
import { TierLimitReached } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { isRefused, type Outcome, outcomeOf, resultsOf, thenAll } from '../../core/outcome.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { nameText, validate } from '../../core/validation.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { findServiceIds, notFound } from '../../status/ownership.ts'
import type { MonitoringContext } from '../context.ts'
import { requireGroupMembers } from '../group/group-store.ts'
import { newHeartbeatToken } from '../heartbeat/heartbeat-token.ts'
import { monitorEvent, newMonitorEvents } from '../monitor-events.ts'
import { MAX_PARENTS } from '../state/dependency.ts'
import { setParents } from '../state/dependency-store.ts'
import { reconcileGroups } from '../state/reconcile-monitors.ts'
import { createFirstIntervals } from '../uptime/state-intervals.ts'
import { optionFields, readOptions, sealOptions } from './options.ts'
import { newProbeSettings, probeSettingsOf } from './probe-settings.ts'
import { probeLimitRefusals } from './target.ts'
import { createFirstWatches } from './watches.ts'

type MonitorContext = Context & Pick<MonitoringContext, 'seal'>

/** The schema of the number of regions that must agree. */
export const agreement = described(z.int().min(1).max(100).nullish(), {
  description: 'The number of regions that must find it down. Default: a strict majority of the reporting regions.',
})
/** The schema of the ids of monitors that a monitor depends on. */
export const dependsOnIds = described(z.array(idText).max(MAX_PARENTS).nullish(), {
  description: 'Up to 10 monitors that it depends on. While one of them is down, its state is unknown.',
})
/** The schema of a monitor's name. */
export const monitorName = described(nameText, { description: 'The monitor’s name.' })

/** The input of `createMonitor`. */
export const newMonitor = named(
  z.object({
    name: monitorName,
    serviceId: idOf('The service whose status it affects.').nullish(),
    ...newProbeSettings,
    agreement,
    dependsOnIds,
    ...optionFields,
  }),
  { name: 'CreateMonitor', about: 'What to probe, how often, and when it counts as down.' },
)

type NewMonitor = ReturnType<typeof readNewMonitor>

/** Validates the input of a new monitor. @param rule whether its organization may reach private networks. @throws Invalid. */
export function readNewMonitor(rule: PrivateTargetRule, input: unknown) {
  const valid = validate(newMonitor, input)
  return { ...valid, configuration: readOptions(rule, valid) }
}

/** An inserted monitor. */
type Inserted = Pick<Monitor, 'id' | 'organizationId' | 'name' | 'kind' | 'serviceId' | 'state' | 'stateSince'>

/** Creates monitors like `createMonitor`, in bulk. Returns the outcome of each input. */
export async function createMonitors(
  ctx: MonitorContext & ChangeContext,
  inputs: readonly unknown[],
): Promise<Outcome<Inserted>[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  const rule = await privateTargetRule(ctx, organizationId)
  const given: Outcome<NewMonitor>[] = []
  for (const input of inputs) {
    await yieldAfterTimeSlice(organizationId)
    given.push(outcomeOf(() => readNewMonitor(rule, input)))
  }
  return change(ctx, organizationId, async (tx) => {
    const events: NewEvent[] = []
    const made = await thenAll(given, async (valid) => {
      const inserted = await insertMonitors(tx, organizationId, valid)
      events.push(...inserted.events)
      return inserted.monitors
    })
    return [made, ...events]
  })
}

/**
 * Inserts new monitors with their watches, dependencies and intervals, in a change. Returns the outcomes and events.
 * @throws NotFound and Invalid for parents and group members.
 */
export async function insertMonitors(
  tx: ChangeContext & { readonly seal: SecretBox },
  organizationId: string,
  given: readonly NewMonitor[],
): Promise<{ readonly monitors: Outcome<Inserted>[]; readonly events: NewEvent[] }> {
  const groups = given.flatMap(({ configuration: { kind, options } }) => (kind === 'GROUP' ? [options] : []))
  for (const [index, options] of groups.entries())
    await requireGroupMembers(tx, { id: null, organizationId }, options, groups.length - index)
  const allowed = await refusedOrAllowed(tx, organizationId, given)
  const monitors = await thenAll(allowed, async (rows) => {
    const data = await sealedRows(tx, organizationId, rows)
    await insertRows(tx.db, 'Monitor', data)
    return data
  })
  const made = resultsOf(monitors)
  for (const [index, { dependsOnIds: parents }] of given.entries()) {
    const monitor = monitors[index]
    if (parents && monitor && !isRefused(monitor)) await setParents(tx, monitor, parents)
  }
  await createFirstWatches(tx, made)
  await createFirstIntervals(tx, made)
  const events = made.map((monitor) => monitorEvent('MONITOR_CREATED', monitor))
  const groupIds = made.flatMap(({ id, kind }) => (kind === 'GROUP' ? [id] : []))
  const judged = groupIds.length === 0 ? [] : await reconcileGroups(tx, organizationId, groupIds)
  return { monitors, events: [...events, ...(await newMonitorEvents(tx, made)), ...judged] }
}

/** Returns new monitors with their settings, or the errors for which they are refused. */
async function refusedOrAllowed(tx: ChangeContext, organizationId: string, given: readonly NewMonitor[]) {
  const tier = await tierOf(tx, organizationId)
  const services = await findServiceIds(
    tx,
    organizationId,
    given.flatMap(({ serviceId }) => serviceId ?? []),
  )
  const count = await tx.db.monitor.count({ where: { organizationId } })
  let made = 0
  const outcomes = given.map((each) =>
    outcomeOf(() => {
      if (each.serviceId != null && !services.has(each.serviceId)) throw notFound('Service')
      const settings = probeSettingsOf(each, { kind: each.configuration.kind, tier })
      requireRoom(tier, count + made)
      made += 1
      return { ...each, settings }
    }),
  )
  return thenAll(outcomes, async (all) => {
    const asked = all.map(({ configuration, settings: { intervalSeconds } }) => ({ configuration, intervalSeconds }))
    const refusals = await probeLimitRefusals(tx, { organizationId, tier }, asked)
    return all.map((each, index) => refusals[index] ?? each)
  })
}

function requireRoom(tier: Tier, count: number): void {
  const limit = tierLimits[tier].monitors
  if (count >= limit)
    throw new TierLimitReached(`The ${tier} tier allows ${limit} monitors, and all are in use.`, limit)
}

type Allowed = NewMonitor & { readonly settings: ReturnType<typeof probeSettingsOf> }

async function sealedRows(
  { seal, now }: Context & { readonly seal: SecretBox },
  organizationId: string,
  given: readonly Allowed[],
) {
  const rows: (Inserted & Readonly<Record<string, unknown>>)[] = []
  const at = now()
  // Sorted, because monitors created together are ordered by id.
  const ids = given.map(() => newId('Monitor')).sort()
  for (const [index, each] of given.entries()) {
    const { name, serviceId = null, agreement: agree = null, configuration, settings } = each
    await yieldAfterTimeSlice(organizationId)
    const { kind } = configuration
    const id = ids[index] ?? ''
    const own = { id, organizationId, serviceId, name, kind, ...settings, agreement: agree }
    const token = kind === 'HEARTBEAT' ? newHeartbeatToken(seal, id) : { heartbeatHash: null, heartbeatToken: null }
    const state = { state: 'PENDING', stateSince: at } as const
    rows.push({ ...own, ...state, options: sealOptions(seal, id, configuration), createdAt: at, ...token })
  }
  return rows
}
