import { organizations } from '../account/views.ts'
import type { Context, Database } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import { unavailability } from '../database/connection/unavailable.ts'
import type { Agenda } from '../database/lease/agenda.ts'
import { earliestOf } from '../database/lease/agenda.ts'
import type { LeasedWorker } from '../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../database/lease/leased-worker.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { IncomingBody, Integration } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { IncomingStatus } from '../generated/prisma/enums.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import { applyAlert, UNMATCHED } from './apply.ts'
import { integrationEvent } from './integration.ts'
import type { Reading } from './kind/incoming.ts'
import type { Postponed } from './read-bodies.ts'
import { readBodies } from './read-bodies.ts'

/**
 * How many bodies of an integration one transaction applies while it locks the organization, and how many bytes are
 * read at once, as stored, unless one body has more.
 */
const BATCH = 50
const BATCH_BYTES = 512 * 1024
/** After how many batches an integration waits behind the others that are due, so that a flood keeps no slot. */
const BATCHES_IN_TURN = 10
/** The lease is longer than it takes to read and apply a batch. */
const LEASE_MS = 60 * SECOND
const CONCURRENCY = 8
/** How long a body that fails may hold up the bodies after it, from its arrival. Then it is refused. */
const MAX_FAILING_MS = 5 * MINUTE
const pauses = { noRoom: SECOND, full: 10, partial: 0.25 * SECOND, soonest: 0.1 * SECOND, wake: 20 } as const

const table = { table: 'Integration', dueColumn: 'dueAt' } as const

type Due = Integration & { readonly dueAt: Date }

/** Creates a worker that reads and applies received bodies with the rights of the system. It polls once it is started. */
export function createIncomingWorker(parts: {
  readonly ctx: ChangeContext
  readonly seal: SecretBox
  readonly outbound: Pick<Outbound, 'request'>
  /** Wakes the worker when bodies are due; absent: it polls every second. */
  readonly agenda?: Agenda
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}): LeasedWorker {
  const { ctx, seal, outbound, agenda, random = Math.random } = parts
  const { db, now } = ctx
  const worker = createLeasedWorker<Due>({
    ctx,
    ...table,
    where: () =>
      Prisma.sql`"organizationId" IN (SELECT id FROM ${organizations} AS organizations WHERE "deletedAt" IS NULL)`,
    ownerOf: ({ organizationId }) => organizationId,
    notOwnedBy: (owners) => Prisma.sql`"organizationId" <> ALL (${owners}::text[])`,
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

  /** Reads and applies some batches, until no body is due. Returns false if the worker closed before that. */
  async function work(integration: Due): Promise<boolean> {
    for (let batch = 0; batch < BATCHES_IN_TURN; batch++) {
      if (worker.isClosing) return false
      const bodies = await dueBodies(db, integration.id, now())
      if (bodies.length === 0) break
      const readings = await readBodies({ db, now, seal, outbound, random }, integration, bodies)
      await applyBodies(ctx, integration, bodies.slice(0, readings.length), readings)
    }
    // A body that arrived in the meantime has set another due time, which must not be overwritten.
    await db.$executeRaw`
      UPDATE "Integration" SET "dueAt" = (
        SELECT min(coalesce("retryAt", ${now()}::timestamptz)) FROM "IncomingBody" WHERE "integrationId" = ${integration.id} AND status = 'PENDING')
      WHERE id = ${integration.id} AND "dueAt" = ${integration.dueAt}`
    return true
  }

  return worker
}

/** Returns the first pending bodies of an integration that are due, of bounded number and size. */
async function dueBodies(db: Database, integrationId: string, now: Date): Promise<IncomingBody[]> {
  const due = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM (
      SELECT id, position, sum(octet_length(body)) OVER (ORDER BY position) - octet_length(body) AS before FROM (
        SELECT id, position, body FROM "IncomingBody"
        WHERE "integrationId" = ${integrationId} AND status = 'PENDING'
          AND ("retryAt" IS NULL OR "retryAt" <= ${now}::timestamptz)
        ORDER BY position LIMIT ${BATCH}
      ) AS pending
    ) AS measured WHERE before < ${BATCH_BYTES}`
  if (due.length === 0) return []
  return db.incomingBody.findMany({ where: { id: { in: due.map(({ id }) => id) } }, orderBy: { position: 'asc' } })
}

/**
 * Applies the readings of bodies: together, or one by one if one of them fails. Later bodies wait for a failed one, which may be the
 * beginning of what they end, until it succeeds or is refused.
 * @throws the error of a failed body. It is due again when the lease ends, or when another body arrives.
 */
async function applyBodies(
  ctx: ChangeContext,
  integration: Integration,
  bodies: readonly IncomingBody[],
  readings: readonly (Reading | Postponed)[],
): Promise<void> {
  try {
    await applyBatch(ctx, integration, bodies, readings)
  } catch (error) {
    const [first, ...others] = bodies
    if (first && others.length === 0) return refuseIfOld(ctx, integration, first, error)
    for (const [index, body] of bodies.entries()) {
      await applyBodies(ctx, integration, [body], readings.slice(index, index + 1))
    }
  }
}

/** Refuses a body that fails, unless the database is at fault or the body arrived a short time ago. @throws the error otherwise. */
async function refuseIfOld(
  ctx: ChangeContext,
  integration: Integration,
  { id, receivedAt }: IncomingBody,
  error: unknown,
): Promise<void> {
  const age = ctx.now().getTime() - receivedAt.getTime()
  if (unavailability(error) !== null || age < MAX_FAILING_MS) throw error
  ctx.log.error({ err: error, integration: integration.id, body: id }, 'integration: refused a body that fails')
  await change(ctx, integration.organizationId, async ({ db }) => {
    const note = 'It could not be processed because of an error of the service.'
    const { count } = await db.incomingBody.updateMany({
      where: { id, status: 'PENDING' },
      data: { status: 'REFUSED', note },
    })
    return count === 0 ? [null] : [null, integrationEvent('INCOMING_ALERT_REFUSED', integration)]
  })
}

/**
 * Applies the readings of bodies and updates their status in one transaction, so that a killed worker has applied all or none. The
 * transaction locks the organization, so that a second worker with the same bodies finds them done.
 */
async function applyBatch(
  ctx: ChangeContext,
  { id, organizationId }: Integration,
  bodies: readonly IncomingBody[],
  readings: readonly (Reading | Postponed)[],
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
    let isAnyRefused = false
    for (const [index, body] of bodies.entries()) {
      const reading = readings[index]
      if (reading === undefined || !left.has(body.id)) continue
      if (reading.kind === 'POSTPONED') {
        const { failed, at: retryAt, topicHash, reason } = reading
        await tx.db.incomingBody.update({ where: { id: body.id }, data: { failed, retryAt, topicHash, note: reason } })
        continue
      }
      const { status, note, events: found } = await applyReading(tx, integration, reading)
      events.push(...found)
      await tx.db.incomingBody.update({ where: { id: body.id }, data: { status, note } })
      isAnyRefused ||= status === 'REFUSED'
    }
    if (isAnyRefused) events.push(integrationEvent('INCOMING_ALERT_REFUSED', integration))
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
  const isIgnored = notes.size === 1 && notes.has(UNMATCHED)
  return { status: isIgnored ? 'IGNORED' : 'DONE', note: [...notes].join(' '), events }
}
