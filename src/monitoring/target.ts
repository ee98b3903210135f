import { takeAtOnce } from '../account/usage.ts'
import type { Context } from '../context.ts'
import { RateLimited } from '../errors.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import { thirdParty } from '../network/destination.ts'
import { nextUtcDay, utcDay } from '../time.ts'
import { invalid } from '../validate.ts'
import type { Configuration } from './options.ts'

/** Whom a monitor asks: a host, at a port where its owner chooses one. */
export interface Target {
  readonly host: string
  readonly port: number | null
}

/** How much one process probes one third party, for all organizations together; what is more waits for its turn. */
export const PROBE_LIMITS = { atOnce: 50, perMinute: 1200 } as const

/** How often a minute the monitors of one organization may ask one third party. */
export const PROBES_A_MINUTE = 600

/** At how many ports of one host, and at how many in all, an organization may point monitors on a day (UTC). */
export const portsADay: Readonly<Record<Tier, { readonly perHost: number; readonly inAll: number }>> = {
  FREE: { perHost: 10, inAll: 20 },
  PRO: { perHost: 25, inAll: 200 },
  TEAM: { perHost: 100, inAll: 2000 },
}

/** Whom a monitor asks; null: nobody that its owner chooses. */
export function targetOf({ kind, options }: Configuration): Target | null {
  switch (kind) {
    case 'HTTP': {
      const { hostname, port, protocol } = new URL(options.url)
      return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
    }
    case 'TCP':
      return { host: options.host, port: options.port }
    case 'PING':
      return { host: options.host, port: null }
    case 'DNS':
      return { host: options.resolver?.replace(/^\[(.*)\]:\d+$|^([\d.]+):\d+$/, '$1$2') ?? options.name, port: null }
    default:
      return null
  }
}

/** The third party that a monitor asks; null: none that has to be spared. */
export function partyOf(configuration: Configuration): string | null {
  const target = targetOf(configuration)
  return target && thirdParty(target.host)
}

/**
 * Refuses a monitor with which its organization would ask a third party too often, or too many of a host's ports on one day,
 * as those do who look for open ones. In the transaction that makes or changes it.
 * @throws Invalid, RateLimited.
 */
export async function requireSparing(
  tx: Context,
  { organizationId, tier }: { readonly organizationId: string; readonly tier: Tier },
  configuration: Configuration,
  { id = '', intervalSeconds }: { readonly id?: string; readonly intervalSeconds: number },
): Promise<void> {
  const party = partyOf(configuration)
  if (party === null) return
  const others = await tx.db.monitor.findMany({
    where: { organizationId, id: { not: id }, kind: { in: ['HTTP', 'TCP', 'PING', 'DNS'] } },
    select: { kind: true, options: true, intervalSeconds: true },
  })
  const asked = others.filter((other) => storedPartyOf(other) === party)
  const often = asked.reduce((sum, other) => sum + 60 / other.intervalSeconds, 60 / intervalSeconds)
  if (often > PROBES_A_MINUTE) {
    const message = `must be longer: your monitors would ask ${party} more than ${PROBES_A_MINUTE} times a minute`
    throw invalid([{ path: ['intervalSeconds'], message }])
  }
  await spendPort(tx, organizationId, tier, targetOf(configuration))
}

/** Of a stored monitor; what says where it leads is not sealed. */
function storedPartyOf({ kind, options }: Pick<Monitor, 'kind' | 'options'>): string | null {
  return partyOf({ kind, options } as unknown as Configuration)
}

/** Counts a port of a host, once a day. @throws RateLimited. */
async function spendPort(tx: Context, organizationId: string, tier: Tier, target: Target | null): Promise<void> {
  if (target === null || target.port === null) return
  const [at, { perHost, inAll }] = [tx.now(), portsADay[tier]]
  const take = (subject: string, limit: number) => takeAtOnce(tx, subject, utcDay(at), { amount: 1, limit })
  if (!(await take(`port ${organizationId} ${target.host} ${target.port}`, 1))) return
  if (!(await take(`ports ${organizationId} ${target.host}`, perHost))) {
    const message = `Monitors can be pointed at ${perHost} ports of one host a day (UTC).`
    throw new RateLimited(message, nextUtcDay(at))
  }
  if (await take(`ports ${organizationId}`, inAll)) return
  throw new RateLimited(`Monitors can be pointed at ${inAll} hosts and ports a day (UTC).`, nextUtcDay(at))
}
