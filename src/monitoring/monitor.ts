import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import { tierLimits } from '../account/plan.ts'
import { hashSecret } from '../account/secret.ts'
import { tierOf } from '../account/tier.ts'
import type { Context } from '../context.ts'
import { TierLimitReached } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import { newId } from '../id.ts'
import type { Seal } from '../seal.ts'
import { requireServices } from '../status/guard.ts'
import { invalid, nameText, validate } from '../validate.ts'
import { alters, readVersion, requireVersion } from '../version.ts'
import type { MonitoringContext } from './context.ts'
import { monitorEvent, ownMonitor, statusEvents } from './guard.ts'
import { lateAt, newToken } from './heartbeat.ts'
import { leaveIncident } from './incident.ts'
import { beginHistory, enterState } from './interval.ts'
import { changeOptions, openOptions, readOptions, sealOptions } from './options.ts'
import { newPace, paceEdit, paceOf } from './pace.ts'
import { isAnywhere } from './probes.ts'
import { requireSparing } from './target.ts'
import { enoughKnownAt, vouchersNeeded } from './vouching.ts'
import { addWatches, closeWatches, openWatches } from './watch.ts'

type SealContext = Context & Pick<MonitoringContext, 'seal'>

/** Read by `options.ts`. */
const kinds = {
  http: z.unknown().optional(),
  tcp: z.unknown().optional(),
  dns: z.unknown().optional(),
  ping: z.unknown().optional(),
  heartbeat: z.unknown().optional(),
  blacklist: z.unknown().optional(),
}
const agreement = z.int().min(1).max(100).nullish()

const newMonitor = z.object({
  name: nameText,
  serviceId: z.string().nullish(),
  agreement,
  ...newPace,
  ...kinds,
})

/**
 * Adds a monitor, which is watched from now on. A heartbeat's thresholds are always 1: its grace is its tolerance. Needs a
 * key with scope WRITE.
 * @throws Invalid, NotFound for a service the organization does not have, TierLimitReached when its tier allows no more
 * monitors, paused ones included, and RateLimited when it named too many ports on this day.
 */
export async function createMonitor(ctx: SealContext, input: unknown): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { name, serviceId = null, agreement = null, ...given } = validate(newMonitor, input)
  const configuration = readOptions(ctx, given)
  const { kind } = configuration
  return change(ctx, organizationId, async (tx) => {
    if (serviceId !== null) await requireServices(tx, organizationId, [serviceId])
    const tier = await tierOf(tx, organizationId)
    const pace = paceOf(given, { kind, tier })
    const limit = tierLimits[tier].monitors
    if ((await tx.db.monitor.count({ where: { organizationId } })) >= limit) {
      throw new TierLimitReached(`The tier ${tier} has ${limit} monitors, and all are used.`, limit)
    }
    await requireSparing(tx, { organizationId, tier }, configuration, pace)
    const id = newId('Monitor')
    const monitor = await tx.db.monitor.create({
      data: {
        id,
        organizationId,
        serviceId,
        name,
        kind,
        options: sealOptions(ctx.seal, id, configuration),
        ...pace,
        agreement,
        stateSince: tx.now(),
        ...(kind === 'HEARTBEAT' && tokenFields(ctx.seal, id)),
        createdAt: tx.now(),
      },
    })
    // A job is late only once it has reported.
    await addWatches(tx, monitor, isAnywhere(kind), kind === 'HEARTBEAT' ? null : tx.now())
    await beginHistory(tx, monitor)
    return [monitor, monitorEvent('MONITOR_CREATED', monitor)]
  })
}

const monitorEdit = z.object({
  id: z.string(),
  name: nameText.optional(),
  serviceId: z.string().nullish(),
  agreement,
  version: readVersion,
  ...paceEdit,
  ...kinds,
})

/**
 * Changes what is given of a monitor; its kind stays, a `serviceId` of null takes it off its service, and options replace all
 * it had, except that secrets given as null are kept. When other options make it watch something else, what was found before
 * is forgotten; a probe under way then counts for nothing. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict when it was changed after the given version, and RateLimited when the organization named
 * too many ports on this day.
 */
export async function updateMonitor(ctx: SealContext, input: unknown): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, name, serviceId, agreement, ...given } = validate(monitorEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownMonitor(tx, organizationId, id)
    requireVersion(before, version)
    if (typeof serviceId === 'string') await requireServices(tx, organizationId, [serviceId])
    const tier = await tierOf(tx, organizationId)
    const pace = paceOf(given, { kind: before.kind, tier, before })
    const known = openOptions(ctx.seal, before)
    const configuration = changeOptions(ctx, given, known)
    const isOther = !isDeepStrictEqual(configuration, known)
    if (!isOther && !alters(before, { name, serviceId, agreement, ...pace })) return [before]
    if (isOther || pace.intervalSeconds < before.intervalSeconds) {
      await requireSparing(tx, { organizationId, tier }, configuration, { ...pace, id })
    }
    const monitor = await tx.db.monitor.update({
      where: { id },
      data: {
        name,
        serviceId,
        agreement,
        ...pace,
        ...(isOther && { options: sealOptions(ctx.seal, id, configuration) }),
        version: { increment: 1 },
      },
    })
    const events = await followUp(tx, before, monitor, isOther || (await isTooFew(tx, before, monitor)))
    return [await ownMonitor(tx, organizationId, id), monitorEvent('MONITOR_UPDATED', monitor), ...events]
  })
}

/** Whether more regions have to agree than ever reported: what fewer found then says nothing. */
async function isTooFew({ db }: Context, before: Monitor, after: Monitor): Promise<boolean> {
  if (vouchersNeeded(after.agreement) <= vouchersNeeded(before.agreement)) return false
  const watches = await db.watch.findMany({ where: { monitorId: after.id } })
  return enoughKnownAt(watches, after.agreement) === null
}

/** Brings what is watched and told in line with an edit. Gives what has happened. */
async function followUp(tx: Context, before: Monitor, after: Monitor, isOther: boolean): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  // A job stays the same, however late it may be.
  const forgets = isOther && after.kind !== 'HEARTBEAT' && after.pausedBy === null
  if (after.serviceId !== before.serviceId) events.push(...(await leaveIncident(tx, before, 'MOVED')))
  else if (forgets) events.push(...(await leaveIncident(tx, before, 'CHANGED')))
  if (forgets) {
    await openWatches(tx, after, isAnywhere(after.kind))
    await enterState(tx, after, 'PENDING', tx.now())
  } else {
    await checkAnew(tx, after)
  }
  const forgotten = { ...after, state: 'PENDING', unknownSince: null } as const
  return [...events, ...(await statusEvents(tx, before, forgets ? forgotten : after))]
}

/**
 * Has what runs by the settings before count for nothing: what is probed is due at once, and a job that has reported when it
 * is late by the new ones.
 */
async function checkAnew(tx: Context, monitor: Monitor): Promise<void> {
  const now = tx.now()
  const watches = await tx.db.watch.findMany({ where: { monitorId: monitor.id, dueAt: { not: null } } })
  for (const { id, lastKnownAt } of watches) {
    const late = monitor.kind === 'HEARTBEAT' ? await lateAt(tx, monitor, lastKnownAt ?? now) : now
    await tx.db.watch.update({ where: { id }, data: { dueAt: new Date(Math.max(+late, +now)) } })
  }
}

/**
 * Deletes a monitor with its history. Gives what it was. Needs a key with scope WRITE.
 * @throws NotFound when the organization has no such monitor.
 */
export async function deleteMonitor(ctx: Context, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    const left = await leaveIncident(tx, monitor, 'DELETED')
    // Before the monitor, in the order in which results lock them.
    await closeWatches(tx, monitor)
    await tx.db.monitor.delete({ where: { id } })
    return [monitor, monitorEvent('MONITOR_DELETED', monitor), ...left, ...(await statusEvents(tx, monitor, null))]
  })
}

/**
 * Gives a heartbeat a new token; the old one is known no more. Needs a key with scope WRITE.
 * @throws NotFound, and Invalid when the monitor is of another kind.
 */
export async function rotateHeartbeatToken(ctx: SealContext, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { kind } = await ownMonitor(tx, organizationId, id)
    if (kind !== 'HEARTBEAT') throw invalid([{ path: ['id'], message: `must be of a heartbeat, not of kind ${kind}` }])
    const data = { ...tokenFields(ctx.seal, id), version: { increment: 1 } }
    const monitor = await tx.db.monitor.update({ where: { id }, data })
    return [monitor, monitorEvent('MONITOR_UPDATED', monitor)]
  })
}

/** The token of a heartbeat, to be shown to who may change the monitor; null for other kinds. */
export function heartbeatToken(seal: Seal, { id, heartbeatToken }: Monitor): string | null {
  return heartbeatToken === null ? null : seal.open(heartbeatToken, aboutToken(id))
}

function tokenFields(seal: Seal, id: string) {
  const token = newToken()
  return { heartbeatHash: hashSecret(token), heartbeatToken: seal.seal(token, aboutToken(id)) }
}

const aboutToken = (id: string) => `${id} heartbeat token`
