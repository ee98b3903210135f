import { REVOKED_KEY_NOTIFICATION } from '../account/api-key/api-key.ts'
import type { CredentialCache } from '../account/api-key/credential-cache.ts'
import { createCredentialCache } from '../account/api-key/credential-cache.ts'
import { planAt } from '../account/limits.ts'
import { organizations } from '../account/views.ts'
import type { Context, Database, Membership, SignedInUser } from '../core/context.ts'
import { afterTransaction } from '../core/context.ts'
import { NotFound, Unauthenticated } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { newId } from '../core/id.ts'
import { DAY, HOUR } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { Organization, Session } from '../generated/prisma/client.ts'
import type { Role } from '../generated/prisma/enums.ts'
import type { SessionCache } from './context.ts'
import { newSecret } from './one-time-token.ts'

/** How long a session lasts after its last use. */
export const SESSION_LIFETIME = 30 * DAY
/** The resolution of the time of last use, so that a busy session costs one write an hour. */
const USE_RESOLUTION = 1 * HOUR
const MAX_USER_AGENT_LENGTH = 300
/** The maximum number of sessions per person. A further session ends the least recently used one. */
export const MAX_SESSIONS = 50
/** A session's token: 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/

/** A context whose sessions can end. */
type SessionContext = Pick<Context, 'db' | 'afterwards'> & SessionCache

/** A session in the cache. */
export interface KnownSession extends Pick<Session, 'id' | 'userId' | 'confirmedAt'> {
  readonly isOperator: boolean
  readonly memberships: readonly KnownMembership[]
  expiresAt: Date
  lastSeenAt: Date
}

interface KnownMembership extends Pick<Organization, 'checkPlan'> {
  readonly organizationId: string
  readonly role: Role
  /** ISO 8601; null: no end. */
  readonly checkPlanUntil: string | null
}

/** Creates the cache of sessions. @throws when `LISTEN` fails. */
export function createKnownSessions(database: Pick<DatabaseHandle, 'listen'>): Promise<CredentialCache<KnownSession>> {
  return createCredentialCache<KnownSession>({
    database,
    belongsTo: (session, id) =>
      session.id === id ||
      session.userId === id ||
      session.memberships.some(({ organizationId }) => organizationId === id),
    isUsable: () => true,
  })
}

/** Starts a session. Returns the token for the cookie. */
export async function startSession(
  ctx: SessionContext & Pick<Context, 'now'>,
  userId: string,
  userAgent: string,
): Promise<string> {
  const { db } = ctx
  const token = newSecret()
  const at = ctx.now()
  const last = { orderBy: { lastSeenAt: 'desc' }, skip: MAX_SESSIONS - 1, select: { id: true } } as const
  const surplus = await db.session.findMany({ where: { userId }, ...last })
  if (surplus.length > 0) await endSessions(ctx, { userId, id: { in: surplus.map(({ id }) => id) } })
  await db.session.create({
    data: {
      id: newId('Session'),
      userId,
      hash: hashSecret(token),
      userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
      createdAt: at,
      lastSeenAt: at,
      confirmedAt: at,
      expiresAt: new Date(at.getTime() + SESSION_LIFETIME),
    },
  })
  return token
}

/** Returns the person whose session has this token; null: no session has it. Extends the session, at most once an hour. */
export async function userOfSession(
  ctx: Pick<Context, 'db' | 'now' | 'log'> & SessionCache,
  token: string,
): Promise<SignedInUser | null> {
  if (!TOKEN.test(token)) return null
  const hash = hashSecret(token)
  const load = () => readSession(ctx.db, hash)
  const session = await (ctx.knownSessions?.get(hash, load) ?? load())
  const now = ctx.now()
  if (session === null || session.expiresAt <= now) return null
  if (now.getTime() - session.lastSeenAt.getTime() >= USE_RESOLUTION) extend(ctx, session, now)
  const { id: sessionId, userId, isOperator, confirmedAt } = session
  return { kind: 'user', userId, sessionId, isOperator, confirmedAt, memberships: membershipsOf(session, now) }
}

function membershipsOf({ memberships }: KnownSession, now: Date): ReadonlyMap<string, Membership> {
  return new Map(
    memberships.map(({ organizationId, role, checkPlan, checkPlanUntil: until }) => {
      const checkPlanUntil = until === null ? null : new Date(until)
      return [organizationId, { role, checkPlan: planAt({ checkPlan, checkPlanUntil }, now) }]
    }),
  )
}

/** Extends a session without waiting for the database. */
function extend(ctx: Pick<Context, 'db' | 'log'>, session: KnownSession, now: Date): void {
  session.lastSeenAt = now
  session.expiresAt = new Date(now.getTime() + SESSION_LIFETIME)
  const { id, lastSeenAt, expiresAt } = session
  ctx.db.session
    .updateMany({ where: { id }, data: { lastSeenAt, expiresAt } })
    .catch((error: unknown) => ctx.log.warn({ err: error, session: id }, 'people: could not extend a session'))
}

async function readSession(db: Database, hash: string): Promise<KnownSession | null> {
  const [session] = await db.$queryRaw<KnownSession[]>`
    SELECT session.id, session."userId", session."confirmedAt", session."expiresAt", session."lastSeenAt",
      person."isOperator", (
        SELECT coalesce(jsonb_agg(jsonb_build_object('organizationId', owner.id, 'role', member.role,
          'checkPlan', owner."checkPlan", 'checkPlanUntil', owner."checkPlanUntil")), '[]'::jsonb)
        FROM "Membership" AS member JOIN ${organizations} AS owner ON owner.id = member."organizationId"
        WHERE member."userId" = person.id AND owner."deletedAt" IS NULL
      ) AS memberships
    FROM "Session" AS session JOIN "User" AS person ON person.id = session."userId" WHERE session.hash = ${hash}`
  return session ?? null
}

/** Returns the caller's sessions, most recently used first. @throws Unauthenticated unless a person is signed in. */
export function sessionsOf(ctx: Context): Promise<Session[]> {
  const { userId } = requireUser(ctx)
  const where = { userId, expiresAt: { gt: ctx.now() } }
  return ctx.db.session.findMany({ where, orderBy: [{ lastSeenAt: 'desc' }, { id: 'asc' }] })
}

/** Ends one of the caller's sessions on every instance. @throws NotFound when the caller has no such session. */
export async function revokeSession(ctx: Context & SessionCache, id: string): Promise<void> {
  const { userId } = requireUser(ctx)
  if ((await endSessions(ctx, { id, userId })) === 0) throw new NotFound('Session not found.')
}

/** Ends the caller's other sessions. Returns their number. */
export function revokeOtherSessions(ctx: Context & SessionCache): Promise<number> {
  const { userId, sessionId } = requireUser(ctx)
  return endSessions(ctx, { userId, id: { not: sessionId } })
}

/** Ends sessions immediately, on every instance. Returns their number. */
export async function endSessions(
  ctx: SessionContext,
  where: { readonly userId: string; readonly id?: string | { readonly not: string } | { readonly in: string[] } },
): Promise<number> {
  const ended = await ctx.db.session.findMany({ where, select: { id: true } })
  const ids = ended.map(({ id }) => id)
  await ctx.db.session.deleteMany({ where: { id: { in: ids } } })
  await announce(ctx, ids)
  return ids.length
}

/** Closes the connections of a person's sessions on every instance, because roles have changed. Clients reconnect. */
export async function announceUser(ctx: SessionContext, userId: string): Promise<void> {
  const sessions = await ctx.db.session.findMany({ where: { userId }, select: { id: true } })
  await announce(ctx, [userId, ...sessions.map(({ id }) => id)])
}

/** Makes every instance read these people and sessions again; this one right after the commit, before the notification. */
async function announce(ctx: SessionContext, ids: readonly string[]): Promise<void> {
  await ctx.db.$executeRaw`SELECT pg_notify(${REVOKED_KEY_NOTIFICATION}, id) FROM unnest(${ids}::text[]) AS ended (id)`
  afterTransaction(ctx, () => {
    for (const id of ids) ctx.knownSessions?.forget(id)
  })
}

/** Records that the caller has confirmed their identity. */
export async function confirmSession(ctx: Context & SessionCache): Promise<void> {
  const { sessionId: id } = requireUser(ctx)
  await ctx.db.session.updateMany({ where: { id }, data: { confirmedAt: ctx.now() } })
  ctx.knownSessions?.forget(id)
}

/** Returns the signed-in person. @throws Unauthenticated when the caller is not signed in. */
export function requireUser({ actor }: Pick<Context, 'actor'>): SignedInUser {
  if (actor.kind === 'user') return actor
  throw new Unauthenticated('UNAUTHENTICATED', 'Sign in first.')
}
