import type { Actor, Context, Database } from '../core/context.ts'
import { inTransaction } from '../core/context.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { plainRows } from '../database/transaction.ts'
import type { ActorKind, Event, EventKind } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { logOwner } from './log-owner.ts'

/** An event to append. Its time and actor come from the context. */
export interface NewEvent {
  readonly kind: EventKind
  readonly subjectId: string
  /** The current name of the subject. The subject may be deleted before the event is read. */
  readonly subjectName: string
  /** When the event happened, if that is before it was detected. */
  readonly since?: Date
  /** The id of the incident or maintenance update that the event announces; absent for other events. */
  readonly updateId?: string
  /** The month, such as 2026-10, whose report the event announces; absent for other events. */
  readonly reportMonth?: string
  /** The services that the event affects besides the current ones of its subject: those of a deleted incident, say. */
  readonly serviceIds?: readonly string[]
  /** Whether the event notifies subscribers, if its kind does; absent: yes. */
  readonly notifySubscribers?: boolean
}

/**
 * The database notification that announces new events. The payload is the organization's id, followed by the events as JSON
 * if they are short (`announcedEvents`).
 */
const LOG_NOTIFICATION = 'event_log'

/** The maximum length of a notification, in bytes (PostgreSQL manual, NOTIFY: shorter than 8000). */
const MAX_PAYLOAD = 7900

/**
 * Receives the organization whose log has grown, and the announcement. Receives null when notifications may have been
 * missed, so that any log may have grown.
 */
type GrowthListener = (organizationId: string | null, announcement: string | null) => void

/** Starts to call a listener when a log has grown. Resolves to a function that stops it. */
export function listenToLogs(
  database: Pick<DatabaseHandle, 'listen'>,
  listener: GrowthListener,
): Promise<() => Promise<void>> {
  return database.listen(LOG_NOTIFICATION, (payload) => listener(payload?.split(' ', 1)[0] ?? null, payload))
}

/** Returns the events in an announcement, in order; empty: they must be read from the log. */
export function announcedEvents(announcement: string | null): Event[] {
  const start = announcement?.indexOf(' ') ?? -1
  if (announcement === null || start === -1) return []
  // `appendEvents` writes this.
  const rows = JSON.parse(announcement.slice(start)) as (Omit<EventRow, 'at' | 'since'> & {
    readonly at: string
    readonly since: string | null
  })[]
  return rows.map(({ at, since, ...row }) =>
    eventOf({ ...row, at: new Date(at), since: since === null ? null : new Date(since) }),
  )
}

/** A row of the table. Its columns have the names of `Event`, but one. */
type EventRow = Omit<Event, 'notifySubscribers'> & { readonly tellSubscribers: boolean }

const eventOf = ({ tellSubscribers: notifySubscribers, ...event }: EventRow): Event => ({ ...event, notifySubscribers })

/**
 * Appends events to an organization's log, in the transaction of the change that they describe. Call it last: it locks
 * the organization's row until the commit, which keeps the log in commit order and without gaps. The database notifies
 * listeners only at the commit.
 * @throws when `ctx` is not in a transaction: without one, a change that is rolled back could leave an event.
 */
export async function appendEvents(ctx: Context, organizationId: string, events: readonly NewEvent[]): Promise<void> {
  if (!inTransaction(ctx.db)) throw new Error('Events must be appended in the transaction of their change.')
  if (events.length === 0) return
  const { actor } = ctx
  const { advance, servicesOf } = logOwner.get()
  const numbered = events.map((event, index) => ({ ...event, after: events.length - 1 - index }))
  const statement = Prisma.sql`
    WITH log AS (
      ${advance(organizationId, events.length)}
    ), written AS (
      INSERT INTO "Event" ("organizationId", seq, kind, at, since, "actorKind", "actorKeyId", "actorUserId", "subjectId", "subjectName", "updateId", "reportMonth", "tellSubscribers", "serviceIds")
      SELECT ${organizationId}, log."lastSeq" - event.after, event.kind::"EventKind", ${ctx.now()}::timestamptz, event.since,
        ${actorKindOf(actor)}::"ActorKind", ${keyIdOf(actor)}, ${userIdOf(actor)}, event."subjectId", event."subjectName", event."updateId", event."reportMonth",
        COALESCE(event."notifySubscribers", true), ${servicesOf(Prisma.sql`event."subjectId"`)} || COALESCE(event."serviceIds", '{}')
      FROM log, jsonb_to_recordset(${JSON.stringify(numbered)}::jsonb) AS event
        (after int, kind text, since timestamptz, "subjectId" text, "subjectName" text, "updateId" text, "reportMonth" text, "notifySubscribers" bool, "serviceIds" text[])
      RETURNING *
    ), announcement AS (
      SELECT ${organizationId}::text || ' ' || json_agg(written ORDER BY seq)::text AS text FROM written
    )
    SELECT pg_notify(${LOG_NOTIFICATION},
      CASE WHEN octet_length(text) <= ${MAX_PAYLOAD} THEN text ELSE ${organizationId}::text END)::text FROM announcement`
  if (ctx.db.$sendRaw) ctx.db.$sendRaw(statement)
  else await ctx.db.$queryRaw(statement)
}

/** Reads up to `limit` events after a position, in order. */
export async function readEventsAfter(
  db: Database,
  organizationId: string,
  after: number,
  limit: number,
): Promise<Event[]> {
  const rows = await plainRows<EventRow>(
    db,
    Prisma.sql`
      SELECT * FROM "Event" WHERE "organizationId" = ${organizationId} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  )
  return rows.map(eventOf)
}

/** Encodes a position in a log as an opaque cursor. */
export function encodeCursor(seq: number): string {
  return seq.toString(36)
}

/** Decodes a cursor; null: it is invalid. */
export function decodeCursor(cursor: string): number | null {
  const seq = /^[0-9a-z]{1,7}$/.test(cursor) ? Number.parseInt(cursor, 36) : Number.NaN
  return Number.isSafeInteger(seq) && seq <= 0x7fff_ffff ? seq : null
}

const actorKinds = {
  apiKey: 'API_KEY',
  operator: 'OPERATOR',
  system: 'SYSTEM',
  user: 'USER',
  visitor: 'VISITOR',
} as const satisfies Record<Actor['kind'], ActorKind>

/** Returns the kind of an actor. */
export const actorKindOf = (actor: Actor): ActorKind => actorKinds[actor.kind]

/** Returns the id of the caller's API key; null: there is none. */
export const keyIdOf = (actor: Actor) => (actor.kind === 'apiKey' ? actor.keyId : null)

/** Returns the id of the acting person; null: there is none. */
export const userIdOf = (actor: Actor) => ('userId' in actor ? (actor.userId ?? null) : null)
