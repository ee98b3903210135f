import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { DAY, SECOND } from '../core/time.ts'
import type { Agenda } from '../database/agenda.ts'
import { earliestOf } from '../database/agenda.ts'
import type { LeasedWorker } from '../database/leased-worker.ts'
import { createLeasedWorker } from '../database/leased-worker.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { IncomingBody, Integration } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { IncomingStatus } from '../generated/prisma/enums.ts'
import type { Outbound } from '../network/outbound.ts'
import { applyAlert } from './apply.ts'
import type { Reading } from './incoming.ts'
import { nothing, unreadable } from './incoming.ts'
import { pathsOf } from './integration.ts'
import { readIncoming } from './kinds.ts'
import { bodyPurpose } from './receive.ts'
import { readSns } from './sns.ts'

/** Bodies of an integration that are read in one transaction, which locks its organization. */
const BATCH = 50
/** Longer than a batch with the requests that SNS needs. */
const LEASE_MS = 60 * SECOND
const CONCURRENCY = 8
const pauses = { noRoom: SECOND, full: 10, partial: 0.25 * SECOND, soonest: 0.1 * SECOND, wake: 20 } as const

const table = { table: 'Integration', dueColumn: 'dueAt' } as const

type Due = Integration & { readonly dueAt: Date }

/** Creates a worker that reads what came in and applies it, with the rights of the system; it polls once started. */
export function createIncomingWorker(parts: {
  readonly ctx: Context
  readonly seal: SecretBox
  readonly outbound: Pick<Outbound, 'request'>
  /** Wakes the worker when something came in; absent: it looks every second. */
  readonly agenda?: Agenda
}): LeasedWorker {
  const { ctx, seal, outbound, agenda } = parts
  const { db, now } = ctx
  const worker = createLeasedWorker<Due>({
    ctx,
    ...table,
    where: () => Prisma.sql`"organizationId" IN (SELECT id FROM "Organization" WHERE "deletedAt" IS NULL)`,
    leaseMs: LEASE_MS,
    maxClaimed: CONCURRENCY,
    batch: CONCURRENCY,
    read: async (ids) =>
      (await db.integration.findMany({ where: { id: { in: [...ids] } } })).flatMap((row) =>
        row.dueAt === null ? [] : [{ ...row, dueAt: row.dueAt }],
      ),
    accept(claims) {
      for (const { row } of claims) worker.run(row, () => work(row))
    },
    earliest: earliestOf('Integration'),
    agenda,
    pauses,
    name: { room: 'integration', rows: 'integrations' },
  })

  /** Reads batches until none is left. Returns false when it stopped before the end. */
  async function work(integration: Due): Promise<boolean> {
    for (;;) {
      if (worker.isClosing) return false
      const bodies = await db.incomingBody.findMany({
        where: { integrationId: integration.id, status: 'PENDING' },
        orderBy: { position: 'asc' },
        take: BATCH,
      })
      if (bodies.length === 0) break
      const readings = await Promise.all(bodies.map((body) => read(integration, body)))
      await applyBatch(ctx, integration, bodies, readings)
    }
    // What came in meanwhile has set another due time.
    await db.integration.updateMany({ where: { id: integration.id, dueAt: integration.dueAt }, data: { dueAt: null } })
    return true
  }

  async function read(integration: Integration, { id, body }: IncomingBody): Promise<Reading> {
    const text = seal.open(body, bodyPurpose(id))
    if (integration.kind !== 'SNS') return readIncoming(integration.kind, text, pathsOf(integration))
    const message = await readSns(outbound, text, now())
    if (message.kind === 'DONE') return nothing(message.note)
    return message.kind === 'REFUSED'
      ? unreadable(message.reason)
      : readIncoming('SNS', message.message, pathsOf(integration))
  }

  return worker
}

/**
 * Applies what bodies say, and marks them, in one transaction: a worker that is killed has done all of it or nothing. The
 * organization is locked, so that a second worker, which has the same bodies, finds them marked.
 */
async function applyBatch(
  ctx: Context,
  { id, organizationId }: Integration,
  bodies: readonly IncomingBody[],
  readings: readonly Reading[],
): Promise<void> {
  await change(ctx, organizationId, async (tx) => {
    const integration = await tx.db.integration.findUnique({ where: { id } })
    const ids = bodies.map((body) => body.id)
    const pending = await tx.db.incomingBody.findMany({
      where: { id: { in: ids }, status: 'PENDING' },
      select: { id: true },
    })
    const left = new Set(pending.map((body) => body.id))
    const events: NewEvent[] = []
    if (integration === null) return [null]
    for (const [index, body] of bodies.entries()) {
      const reading = readings[index]
      if (reading === undefined || !left.has(body.id)) continue
      const { status, note, events: found } = await applyReading(tx, integration, reading)
      events.push(...found)
      await tx.db.incomingBody.update({ where: { id: body.id }, data: { status, note } })
    }
    return [null, ...events]
  })
}

async function applyReading(
  tx: Context,
  integration: Integration,
  reading: Reading,
): Promise<{ readonly status: IncomingStatus; readonly note: string; readonly events: readonly NewEvent[] }> {
  if (reading.kind === 'NOTHING') return { status: 'IGNORED', note: reading.reason, events: [] }
  if (reading.kind === 'UNREADABLE') return { status: 'REFUSED', note: reading.reason, events: [] }
  const events: NewEvent[] = []
  const notes = new Set<string>()
  for (const alert of reading.alerts) {
    const applied = await applyAlert(tx, integration, alert)
    events.push(...applied.events)
    notes.add(applied.note)
  }
  const isIgnored = notes.size === 1 && notes.has('No rule matches it.')
  return { status: isIgnored ? 'IGNORED' : 'DONE', note: [...notes].join(' '), events }
}

/** How long bodies are kept, and how many of an integration; and keys after they were resolved. */
const RETENTION = 7 * DAY
const MAX_KEPT = 1000

/** Deletes a batch of old bodies and keys. Returns whether there may be more. */
export async function deleteOldBodies(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const before = new Date(now().getTime() - RETENTION)
  const bodies = await db.$executeRaw`
    DELETE FROM "IncomingBody" WHERE ctid = ANY (ARRAY(
      SELECT body.ctid FROM "Integration" AS integration, LATERAL (
        SELECT ctid, "receivedAt", row_number() OVER (ORDER BY position DESC) AS nth FROM "IncomingBody"
        WHERE "integrationId" = integration.id AND status <> 'PENDING'
      ) AS body WHERE body."receivedAt" < ${before} OR nth > ${MAX_KEPT} LIMIT ${DELETE_BATCH}))`
  const groups = await db.$executeRaw`
    DELETE FROM "IncomingGroup" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "IncomingGroup" WHERE "resolvedAt" < ${before} AND NOT "isFiring" LIMIT ${DELETE_BATCH}))`
  count('IncomingBody', bodies)
  count('IncomingGroup', groups)
  return Math.max(bodies, groups) >= DELETE_BATCH
}
