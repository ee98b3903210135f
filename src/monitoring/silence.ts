import type { Context, Database } from '../context.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor, Watch } from '../generated/prisma/client.ts'
import { causesOfStatus, unknownSinceOf } from '../status/shown-status.ts'
import { monitorEvent, silenceEvent } from './guard.ts'
import { forgetDays } from './interval.ts'
import type { Rhythm, Voucher } from './vouching.ts'
import { allowanceMs, enoughKnownAt, silentSince, vouchersNeeded } from './vouching.ts'

/** What has to be written of a monitor's silence: that it has begun, or is over. */
export type Silence =
  | { readonly kind: 'BEGAN'; readonly since: Date }
  /** @property at when it was known again. */
  | { readonly kind: 'ENDED'; readonly since: Date; readonly at: Date }

/**
 * What has to be written of a monitor's silence; null: nothing. Once it is told, only a check that knows something ends it,
 * and not that a worker is there again.
 * @param watched whether any worker is there.
 */
export function silenceOf(
  monitor: Pick<Monitor, 'agreement' | 'stateSince' | 'unknownSince'>,
  watches: readonly Voucher[],
  rhythm: Rhythm,
  now: Date,
  watched: boolean,
): Silence | null {
  const told = monitor.unknownSince
  const since = silentSince(watches, { ...monitor, rhythm }, now, watched)
  if (told === null) return since === null ? null : { kind: 'BEGAN', since }
  const at = enoughKnownAt(watches, monitor.agreement)
  // By a clock that was set back silence would last until it had come as far again.
  const isKnown = since === null && at !== null && (at >= told || told > now)
  return isKnown ? { kind: 'ENDED', since: told, at: new Date(Math.max(+at, +told)) } : null
}

/** Writes that a monitor has fallen silent, or that its silence is over: that time then counts for no uptime. */
export async function settleSilence(tx: Context, monitor: Monitor, silence: Silence): Promise<NewEvent[]> {
  const { since } = silence
  const unknownSince = silence.kind === 'BEGAN' ? since : null
  await tx.db.monitor.update({ where: { id: monitor.id }, data: { unknownSince } })
  if (silence.kind === 'BEGAN') return [{ ...monitorEvent('MONITOR_UNKNOWN', monitor), since }]
  const gap = { monitorId: monitor.id, startedAt: since, endedAt: silence.at }
  // The result that ended it may have written that itself, and to the moment.
  if (since < silence.at) await tx.db.monitorGap.createMany({ data: gap, skipDuplicates: true })
  await forgetDays(tx, monitor, since)
  return [{ ...monitorEvent('MONITOR_KNOWN', monitor), since: silence.at }]
}

/** Those of some services of which nothing is known. */
export async function silentServices({ db }: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const services = await readServices(db, ids)
  return new Set(services.filter(({ monitors }) => unknownSinceOf(monitors) !== null).map(({ id }) => id))
}

/** What the log says of services of which nothing is known any more, or something again. @param before those that were silent. */
export async function tellOfServices(
  { db }: Context,
  ids: readonly string[],
  before: ReadonlySet<string>,
): Promise<NewEvent[]> {
  const services = await readServices(db, ids)
  return services
    .filter(({ id, monitors }) => before.has(id) !== (unknownSinceOf(monitors) !== null))
    .map((service) => silenceEvent(service))
}

async function readServices(db: Database, ids: readonly string[]) {
  if (ids.length === 0) return []
  return db.service.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, name: true, ...causesOfStatus },
    orderBy: { position: 'asc' },
  })
}

/** Why nothing is known of a monitor that is silent, in a sentence. */
export function whySilent(
  { agreement }: Pick<Monitor, 'agreement'>,
  watches: readonly Pick<Watch, 'lastKnownAt' | 'unknownSince' | 'lastMessage'>[],
  rhythm: Rhythm,
  now: Date,
): string {
  const heard = watches.filter(({ lastKnownAt }) => lastKnownAt && +now - +lastKnownAt <= allowanceMs(rhythm)).length
  const needed = vouchersNeeded(agreement)
  if (heard > 0 && heard < needed) return `Only ${heard} of the ${needed} regions that must agree reports.`
  const vain = watches.find(({ unknownSince }) => unknownSince !== null)
  if (vain) return `Its checks find nothing out: ${vain.lastMessage}`
  return watches.some(({ lastKnownAt }) => lastKnownAt !== null)
    ? 'No worker checks it.'
    : 'It has not been checked yet.'
}

/** What an operator has to know who reads no page: how many monitors of an organization are silent, and one reason. */
export function logSilence(
  { log }: Pick<Context, 'log'>,
  organization: string,
  settled: readonly { readonly silence: Silence | null; readonly why: string }[],
): void {
  const of = (kind: Silence['kind']) => settled.filter(({ silence }) => silence?.kind === kind)
  const [began, ended] = [of('BEGAN'), of('ENDED')]
  const [first] = began
  if (first) {
    const told = { organization, monitors: began.length, since: first.silence?.since, why: first.why }
    log.warn(told, 'monitoring: nothing is known of monitors any more')
  }
  if (ended.length > 0) log.info({ organization, monitors: ended.length }, 'monitoring: monitors are known again')
}
