import type { Actor, Context, Database } from '../context.ts'
import { inTransaction } from '../context.ts'
import type { ActorKind, Event, EventKind } from '../generated/prisma/client.ts'

/** What is appended: what happened, and to what. Time and doer come from the context. */
export interface NewEvent {
  readonly kind: EventKind
  readonly subjectId: string
  /** What the subject is called now; it may be gone when the event is read. */
  readonly subjectName: string
  /** Since when it was so, when that was noticed later than it began. */
  readonly since?: Date
  /** The entry of the subject's timeline that it wrote, or after which it came; absent: none. */
  readonly entryId?: string
}

/** The channel on which a log tells that it has grown; the payload is the organization's id. */
export const LOG_CHANNEL = 'event_log'

/**
 * Appends to an organization's log, in the transaction that makes the things happen: call it last, for it holds the
 * organization's row until the commit, which is what keeps the log in commit order and without gaps. Listeners are told
 * at the commit, and not at all when there is none.
 * @throws when `ctx` is not in a transaction: an event outside one could tell of what never happened.
 */
export async function append(ctx: Context, organizationId: string, events: readonly NewEvent[]): Promise<void> {
  if (!inTransaction(ctx.db)) throw new Error('Events are appended in the transaction that makes them happen.')
  if (events.length === 0) return
  const { lastSeq } = await ctx.db.organization.update({
    where: { id: organizationId },
    data: { lastSeq: { increment: events.length } },
    select: { lastSeq: true },
  })
  const first = lastSeq - events.length + 1
  const by = { at: ctx.now(), actorKind: actorKinds[ctx.actor.kind], actorKeyId: keyOf(ctx.actor) }
  await ctx.db.event.createMany({
    data: events.map((event, index) => ({ organizationId, seq: first + index, ...by, ...event })),
  })
  await ctx.db.$executeRaw`SELECT pg_notify(${LOG_CHANNEL}, ${organizationId})`
}

/** At most `limit` events after a position, in order. */
export function readAfter(db: Database, organizationId: string, after: number, limit: number): Promise<Event[]> {
  return db.event.findMany({ where: { organizationId, seq: { gt: after } }, orderBy: { seq: 'asc' }, take: limit })
}

/** A position in a log as callers are given it: opaque to them. */
export function cursorOf(seq: number): string {
  return seq.toString(36)
}

/** The position a cursor stands for; null for a text that is none. */
export function positionOf(cursor: string): number | null {
  const seq = /^[0-9a-z]{1,7}$/.test(cursor) ? Number.parseInt(cursor, 36) : Number.NaN
  return Number.isSafeInteger(seq) && seq <= 0x7fff_ffff ? seq : null
}

/** Kinds that only the organization itself may see: who may do what, what is paid, and how it watches its services. */
const privateKinds: ReadonlySet<EventKind> = new Set([
  'MONITOR_CREATED',
  'MONITOR_UPDATED',
  'MONITOR_PAUSED',
  'MONITOR_RESUMED',
  'MONITOR_DELETED',
  'MONITOR_STATE_CHANGED',
  'MONITOR_UNKNOWN',
  'MONITOR_KNOWN',
  'ORGANIZATION_CREATED',
  'ORGANIZATION_DELETED',
  'ORGANIZATION_RESTORED',
  'API_KEY_CREATED',
  'API_KEY_REVOKED',
  'TIER_CHANGED',
  'CHECK_PLAN_CHANGED',
  'SUBSCRIBERS_IMPORTED',
  'SUBSCRIBER_DELETED',
])

/** Whether an event changes what the public page shows. */
export function isPublicKind(kind: EventKind): boolean {
  return !privateKinds.has(kind)
}

const actorKinds = {
  apiKey: 'API_KEY',
  operator: 'OPERATOR',
  system: 'SYSTEM',
  visitor: 'VISITOR',
} as const satisfies Record<Actor['kind'], ActorKind>

const keyOf = (actor: Actor) => (actor.kind === 'apiKey' ? actor.keyId : null)
