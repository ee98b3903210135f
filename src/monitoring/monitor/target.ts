import { consumeAll, consumedBy, consumeMany } from '../../account/quota.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { type DomainError, RateLimited } from '../../core/errors.ts'
import { nextUtcDay, utcDay } from '../../core/time.ts'
import { invalid } from '../../core/validation.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import { thirdParty } from '../../network/destination.ts'
import type { KindRules, Target } from '../probe/probe.ts'
import type { Configuration } from './options.ts'
import { kindRules } from './probe-kinds.ts'

/** The limits on the probes that one process sends to one third party for all organizations, half of it for one. Further probes wait. */
export const PROBE_LIMITS = { atOnce: 100, perMinute: 1200 } as const

/** The maximum number of probes per minute that one organization may send to one third party. */
const PROBES_PER_MINUTE = 600

/** The maximum number of new ports per UTC day that an organization may monitor, per host and in total. */
export const portsPerDay: Readonly<Record<Tier, { readonly perHost: number; readonly inAll: number }>> = {
  FREE: { perHost: 10, inAll: 20 },
  PRO: { perHost: 25, inAll: 200 },
  TEAM: { perHost: 100, inAll: 2000 },
}

/** Returns the target of a monitor; null: its kind has no target that the owner chooses. */
export function targetOf({ kind, options }: Configuration): Target | null {
  return kindRules[kind].target(options)
}

/** Returns the target of a monitor, and its proxies in public networks. */
function targetsAndProxies(configuration: Configuration): Target[] {
  const { relays }: KindRules = kindRules[configuration.kind]
  const target = targetOf(configuration)
  const proxies = (relays?.(configuration.options) ?? []).filter(({ host }) => thirdParty(host) !== null)
  return [...(target ? [target] : []), ...proxies]
}

/** Returns the third party that a monitor probes; null: no limit applies. */
export function partyOf(configuration: Configuration): string | null {
  const target = targetOf(configuration)
  return target && thirdParty(target.host)
}

/** An organization and the tier that limits it. */
interface Prober {
  readonly organizationId: string
  readonly tier: Tier
}

/**
 * Checks the limits on probing third parties: probes per minute, and new ports per day, which prevents port scans. Call
 * it in the transaction that creates or updates the monitor.
 * @throws Invalid, RateLimited.
 */
export async function requireProbeLimits(
  tx: Context,
  { organizationId, tier }: Prober,
  configuration: Configuration,
  { id = '', intervalSeconds }: { readonly id?: string; readonly intervalSeconds: number },
): Promise<void> {
  const party = partyOf(configuration)
  if (party === null) return
  const before = (await probesPerMinute(tx, organizationId, id)).get(party) ?? 0
  if (before + 60 / intervalSeconds > PROBES_PER_MINUTE) throw tooOften(party)
  for (const place of targetsAndProxies(configuration)) await consumePort(tx, organizationId, tier, place)
}

/**
 * Checks the limits for new monitors in bulk, in the transaction that creates them, and counts the allowed ones.
 * Returns for each monitor the error for which it is refused; null: it is allowed.
 */
export async function probeLimitRefusals(
  tx: Context,
  { organizationId, tier }: Prober,
  asked: readonly { readonly configuration: Configuration; readonly intervalSeconds: number }[],
): Promise<(DomainError | null)[]> {
  const parties = asked.map(({ configuration }) => partyOf(configuration))
  if (parties.every((party) => party === null)) return asked.map(() => null)
  const perMinute = await probesPerMinute(tx, organizationId)
  const ports = await countedPorts(
    tx,
    organizationId,
    asked.flatMap(({ configuration }) => targetsAndProxies(configuration)),
  )
  const refusals: (DomainError | null)[] = []
  for (const [index, { configuration, intervalSeconds }] of asked.entries()) {
    await yieldAfterTimeSlice(organizationId)
    const party = parties[index] ?? null
    if (party === null) {
      refusals.push(null)
      continue
    }
    const sum = (perMinute.get(party) ?? 0) + 60 / intervalSeconds
    const refusal = sum > PROBES_PER_MINUTE ? tooOften(party) : ports.takeAll(targetsAndProxies(configuration), tier)
    if (refusal === null) perMinute.set(party, sum)
    refusals.push(refusal)
  }
  await ports.store()
  return refusals
}

/** Returns the probes per minute that an organization sends to each third party, without those of one monitor. */
async function probesPerMinute(tx: Context, organizationId: string, except = ''): Promise<Map<string, number>> {
  const monitors = await tx.db.monitor.findMany({
    where: { organizationId, id: { not: except }, kind: { notIn: ['HEARTBEAT', 'BLACKLIST'] } },
    select: { kind: true, options: true, intervalSeconds: true },
  })
  const sums = new Map<string, number>()
  for (const monitor of monitors) {
    await yieldAfterTimeSlice(organizationId)
    const party = storedPartyOf(monitor)
    if (party !== null) sums.set(party, (sums.get(party) ?? 0) + 60 / monitor.intervalSeconds)
  }
  return sums
}

const tooOften = (party: string) =>
  invalid([
    {
      path: ['intervalSeconds'],
      message: `must be longer: your monitors would probe ${party} more than ${PROBES_PER_MINUTE} times a minute`,
    },
  ])

/** Returns the third party of a stored monitor. Reads only options that are not sealed. */
function storedPartyOf({ kind, options }: Pick<Monitor, 'kind' | 'options'>): string | null {
  return partyOf({ kind, options } as unknown as Configuration)
}

/** Returns the quota subjects of a port, of the ports of a host, and of all ports of an organization. */
function portSubjects(organizationId: string, { host, port }: Target) {
  return {
    own: `port ${organizationId} ${host} ${port}`,
    ofHost: `ports ${organizationId} ${host}`,
    all: `ports ${organizationId}`,
  }
}

/** Counts a port of a host, once a day. @throws RateLimited. */
async function consumePort(tx: Context, organizationId: string, tier: Tier, target: Target): Promise<void> {
  if (target.port === null) return
  const [at, { perHost, inAll }] = [tx.now(), portsPerDay[tier]]
  const { own, ofHost, all } = portSubjects(organizationId, target)
  const take = (subject: string, limit: number) => consumeMany(tx, subject, utcDay(at), { amount: 1, limit })
  if (!(await take(own, 1))) return
  if (!(await take(ofHost, perHost))) throw tooManyOfHost(perHost, at)
  if (!(await take(all, inAll))) throw tooManyInAll(inAll, at)
}

/** Counts ports like `consumePort`, but in bulk: reads and stores all counters once. */
async function countedPorts(tx: Context, organizationId: string, targets: readonly Target[]) {
  const at = tx.now()
  const subjects = targets.flatMap((target) => Object.values(portSubjects(organizationId, target)))
  const counts = await consumedBy(tx, [...new Set(subjects)], utcDay(at))
  const taken = new Map<string, number>()
  const countOf = (subject: string) => (counts.get(subject) ?? 0) + (taken.get(subject) ?? 0)
  const take = (target: Target, tier: Tier): RateLimited | null => {
    if (target.port === null) return null
    const { perHost, inAll } = portsPerDay[tier]
    const { own, ofHost, all } = portSubjects(organizationId, target)
    if (countOf(own) > 0) return null
    if (countOf(ofHost) >= perHost) return tooManyOfHost(perHost, at)
    if (countOf(all) >= inAll) return tooManyInAll(inAll, at)
    for (const subject of [own, ofHost, all]) taken.set(subject, (taken.get(subject) ?? 0) + 1)
    return null
  }
  return {
    /** Counts ports that were not counted today. Returns the first error; null: all are allowed. */
    takeAll: (places: readonly Target[], tier: Tier) =>
      places.reduce<RateLimited | null>((refusal, place) => refusal ?? take(place, tier), null),
    store: () => consumeAll(tx, taken, utcDay(at)),
  }
}

const tooManyOfHost = (limit: number, at: Date) =>
  new RateLimited(`An organization can monitor ${limit} new ports of one host per UTC day.`, nextUtcDay(at))

const tooManyInAll = (limit: number, at: Date) =>
  new RateLimited(`An organization can monitor ${limit} new ports per UTC day.`, nextUtcDay(at))
