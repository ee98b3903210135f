import { consumeMany } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { RateLimited } from '../core/errors.ts'
import { nextUtcDay, utcDay } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import { thirdParty } from '../network/destination.ts'
import type { Configuration } from './options.ts'
import type { Target } from './probe/probe.ts'
import { kindRules } from './probe-kinds.ts'

/** How much one process probes one third party, for all organizations together; further probes wait. */
export const PROBE_LIMITS = { atOnce: 50, perMinute: 1200 } as const

/** How many probes per minute the monitors of one organization may send to one third party. */
const PROBES_PER_MINUTE = 600

/** How many ports of one host, and how many in total, an organization may monitor newly per UTC day. */
export const portsPerDay: Readonly<Record<Tier, { readonly perHost: number; readonly inAll: number }>> = {
  FREE: { perHost: 10, inAll: 20 },
  PRO: { perHost: 25, inAll: 200 },
  TEAM: { perHost: 100, inAll: 2000 },
}

/** Returns the target of a monitor; null when its owner does not choose one. */
export function targetOf({ kind, options }: Configuration): Target | null {
  return kindRules[kind].target(options)
}

/** Returns the third party that a monitor probes; null when no limit applies. */
export function partyOf(configuration: Configuration): string | null {
  const target = targetOf(configuration)
  return target && thirdParty(target.host)
}

/**
 * Checks the limits on probing third parties: probes per minute, and new ports per day, which stops port scans. Call it
 * in the transaction that creates or updates the monitor.
 * @throws Invalid, RateLimited.
 */
export async function requireProbeLimits(
  tx: Context,
  { organizationId, tier }: { readonly organizationId: string; readonly tier: Tier },
  configuration: Configuration,
  { id = '', intervalSeconds }: { readonly id?: string; readonly intervalSeconds: number },
): Promise<void> {
  const party = partyOf(configuration)
  if (party === null) return
  const others = await tx.db.monitor.findMany({
    where: { organizationId, id: { not: id }, kind: { notIn: ['HEARTBEAT', 'BLACKLIST'] } },
    select: { kind: true, options: true, intervalSeconds: true },
  })
  const samePartyMonitors = others.filter((other) => storedPartyOf(other) === party)
  const perMinute = samePartyMonitors.reduce((sum, other) => sum + 60 / other.intervalSeconds, 60 / intervalSeconds)
  if (perMinute > PROBES_PER_MINUTE) {
    const message = `must be longer: your monitors would probe ${party} more than ${PROBES_PER_MINUTE} times a minute`
    throw invalid([{ path: ['intervalSeconds'], message }])
  }
  await consumePort(tx, organizationId, tier, targetOf(configuration))
}

/** Returns the third party of a stored monitor; the fields that name it are not sealed. */
function storedPartyOf({ kind, options }: Pick<Monitor, 'kind' | 'options'>): string | null {
  return partyOf({ kind, options } as unknown as Configuration)
}

/** Counts a port of a host once a day. @throws RateLimited. */
async function consumePort(tx: Context, organizationId: string, tier: Tier, target: Target | null): Promise<void> {
  if (target === null || target.port === null) return
  const [at, { perHost, inAll }] = [tx.now(), portsPerDay[tier]]
  const take = (subject: string, limit: number) => consumeMany(tx, subject, utcDay(at), { amount: 1, limit })
  if (!(await take(`port ${organizationId} ${target.host} ${target.port}`, 1))) return
  if (!(await take(`ports ${organizationId} ${target.host}`, perHost))) {
    const message = `An organization can monitor ${perHost} new ports of one host per UTC day.`
    throw new RateLimited(message, nextUtcDay(at))
  }
  if (await take(`ports ${organizationId}`, inAll)) return
  throw new RateLimited(`An organization can monitor ${inAll} new ports per UTC day.`, nextUtcDay(at))
}
