import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { z } from 'zod'
import { findPage } from '../account/page.ts'
import { requireScope } from '../core/access.ts'
import { NotFound } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { yieldAfterTimeSlice } from '../core/time-slice.ts'
import { validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { shows } from '../status/page-scope.ts'
import { addressHash } from './address.ts'
import { email } from './channel/email.ts'
import type { NotificationContext } from './context.ts'
import { readCsv } from './csv.ts'
import type { Preferences } from './preferences.ts'
import { preferenceFields, readPreferences, requirePreferences } from './preferences.ts'
import { consumeUnconfirmedQuota, hashOnPage, suppressionMessages } from './subscribe.ts'
import { requireSubscriberCapacity, startDispatch } from './subscriber.ts'
import type { SuppressionReason } from './suppression.ts'
import { suppressedAmong } from './suppression.ts'
import { tokenFields } from './token.ts'

/** The result of an import. */
export interface ImportResult {
  readonly imported: number
  /** Existing addresses: subscribed, or stopped, which an import does not undo. */
  readonly known: number
  /** The number of suppressed addresses, and the first hundred of them. */
  readonly skippedCount: number
  readonly skipped: readonly SkippedAddress[]
  /** The first hundred lines without an email address. */
  readonly problems: readonly { readonly line: number; readonly message: string }[]
}

/** A suppressed address. */
export interface SkippedAddress {
  readonly line: number
  readonly reason: SuppressionReason
  readonly message: string
}

const importInput = z.object({ csv: z.string(), pageId: z.string().nullish(), ...preferenceFields })

const MAX_PROBLEMS = 100
/** Rows inserted with one statement. */
const BATCH = 100
/** Addresses looked up with one statement; each needs two hashes. */
const LOOKUP_BATCH = 200

/**
 * Subscribes email addresses without a confirmation; the organization has their consent. Stopped subscribers stay stopped, and
 * suppressed addresses are skipped. Needs a key with scope WRITE.
 * @param input `csv` by RFC 4180: addresses in the column `email`, or in the first column without this header; `pageId`: the page
 * that they follow, absent: the first.
 * @throws Invalid, NotFound for an unknown page, or services that are unknown or not on it, TierLimitReached, and RateLimited when the addresses exceed the day's quota;
 * then none is subscribed.
 */
export async function importSubscribers(ctx: NotificationContext, input: unknown): Promise<ImportResult> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { csv, pageId: named, ...chosen } = validate(importInput, input)
  const preferences = readPreferences(chosen)
  const followed = await findPage(ctx.db, organizationId, named ?? organizationId)
  const pageId = followed.isFirst ? null : followed.id
  const { addresses, problems } = await readAddresses(csv, pageId)
  return change(ctx, organizationId, async (tx) => {
    await requirePreferences(tx, organizationId, preferences)
    const page = await findPage(tx.db, organizationId, followed.id)
    if (preferences.serviceIds.some((id) => !shows(page, id))) throw new NotFound('Service not found.')
    const organization = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    // Prisma takes a second for a list of thousands.
    const known = await tx.db.$queryRaw<{ addressHash: string }[]>`
      SELECT "addressHash" FROM "Subscriber"
      WHERE "organizationId" = ${organizationId} AND "addressHash" = ANY (${[...addresses.keys()]}::text[])`
    for (const { addressHash } of known) addresses.delete(addressHash)
    const skipped = await removeSuppressed({ ...ctx, ...tx }, organizationId, addresses)
    const result = {
      imported: addresses.size,
      known: known.length,
      skippedCount: skipped.length,
      skipped: skipped.slice(0, MAX_PROBLEMS),
      problems,
    }
    if (addresses.size === 0) return [result]
    await requireSubscriberCapacity(tx, organization, addresses.size)
    await consumeUnconfirmedQuota(tx, organization, addresses.size)
    await startDispatch(tx.db, organizationId, organization.lastSeq)
    await insert({ ...ctx, ...tx }, organization, addresses, { ...preferences, pageId })
    const subjectName = `${addresses.size} ${addresses.size === 1 ? 'address' : 'addresses'}`
    return [result, { kind: 'SUBSCRIBERS_IMPORTED', subjectId: organizationId, subjectName }]
  })
}

/** An address of the file and its first line. */
interface ImportedAddress {
  readonly text: string
  readonly line: number
}

/** Removes suppressed addresses. Returns their lines. */
async function removeSuppressed(
  ctx: NotificationContext,
  organizationId: string,
  addresses: Map<string, ImportedAddress>,
): Promise<SkippedAddress[]> {
  const skipped: SkippedAddress[] = []
  const all = [...addresses]
  for (let from = 0; from < all.length; from += LOOKUP_BATCH) {
    await turnOfOthers()
    const batch = all.slice(from, from + LOOKUP_BATCH)
    const sought = batch.map(([, { text }]) => ({ channel: 'EMAIL', text }) as const)
    const suppressed = await suppressedAmong(ctx, organizationId, sought)
    for (const [hash, { text, line }] of batch) {
      const reason = suppressed.get(text)
      if (reason === undefined) continue
      addresses.delete(hash)
      skipped.push({ line, reason, message: suppressionMessages[reason] })
    }
  }
  return skipped
}

/** Reads the distinct addresses of a CSV file by their hash on the page. */
async function readAddresses(
  csv: string,
  pageId: string | null,
): Promise<{ addresses: Map<string, ImportedAddress>; problems: ImportResult['problems'][number][] }> {
  const addresses = new Map<string, ImportedAddress>()
  const problems: ImportResult['problems'][number][] = []
  for await (const { line, field } of addressFields(csv)) {
    const parsed = email.address.safeParse(field)
    if (parsed.success) {
      const hash = hashOnPage(addressHash('EMAIL', parsed.data.text), pageId)
      if (!addresses.has(hash)) addresses.set(hash, { text: parsed.data.text, line })
    } else if (problems.length < MAX_PROBLEMS) problems.push({ line, message: 'must be an e-mail address' })
  }
  return { addresses, problems }
}

/** Reads the address fields of the rows that are not blank. */
async function* addressFields(csv: string): AsyncGenerator<{ readonly line: number; readonly field: string }, void> {
  let column: number | null = null
  for await (const { line, fields } of readCsv(csv)) {
    if (column === null) {
      const named = fields.findIndex((field) => /^e-?mail( address)?$/i.test(field.trim()))
      column = Math.max(named, 0)
      if (named !== -1) continue
    }
    if (fields.some((field) => field.trim() !== '')) yield { line, field: fields[column] ?? '' }
  }
}

/**
 * Inserts subscribers in batches, with one statement of our own each: Prisma takes 30 ms of the main thread to compile one for
 * a hundred rows.
 */
async function insert(
  { db, seal, now }: NotificationContext,
  { id: organizationId, lastSeq, defaultLanguage }: Pick<Organization, 'id' | 'lastSeq' | 'defaultLanguage'>,
  addresses: ReadonlyMap<string, ImportedAddress>,
  { topics, serviceIds, pageId }: Preferences & { readonly pageId: string | null },
): Promise<void> {
  const owner = {}
  const at = now()
  const all = [...addresses]
  for (let from = 0; from < all.length; from += BATCH) {
    const rows: ImportedRow[] = []
    for (const [addressHash, { text }] of all.slice(from, from + BATCH)) {
      await yieldAfterTimeSlice(owner)
      rows.push({ addressHash, ...rowOf(seal, text) })
    }
    await db.$executeRaw`
      INSERT INTO "Subscriber" (id, "organizationId", "pageId", channel, address, "addressHash", label, destination, "tokenHash", token,
        topics, language, "allServices", "createdAt", "confirmableUntil", "confirmedAt", "sinceSeq")
      SELECT id, ${organizationId}, ${pageId}, 'EMAIL', address, "addressHash", label, destination, "tokenHash", token,
        ${topics}::"Topic"[], ${defaultLanguage}, ${serviceIds.length === 0}, ${at}, ${at}, ${at}, ${lastSeq}
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS imported (id text, address text, "addressHash" text,
        label text, destination text, "tokenHash" text, token text)`
    await db.$executeRaw`
      INSERT INTO "SubscriberService" ("subscriberId", "serviceId")
      SELECT reader.id, chosen.id FROM unnest(${rows.map(({ id }) => id)}::text[]) AS reader (id)
      CROSS JOIN unnest(${[...serviceIds]}::text[]) AS chosen (id)`
  }
}

type ImportedRow = ReturnType<typeof rowOf> & { readonly addressHash: string }

function rowOf(seal: NotificationContext['seal'], text: string) {
  const id = newId('Subscriber')
  const { label, destination } = email.address.parse(text)
  return { id, address: text, label, destination, ...tokenFields(seal, id) }
}
