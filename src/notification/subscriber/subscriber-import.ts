import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { findPage } from '../../account/page/page.ts'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { NotFound, RateLimited } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { validate } from '../../core/validation.ts'
import { change } from '../../event-log/change.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { ImportOutcome } from '../../status/imported-record.ts'
import { skipped as skippedRecord } from '../../status/imported-record.ts'
import { shows } from '../../status/page-scope.ts'
import { services } from '../../status/views.ts'
import { email } from '../channel/email.ts'
import type { NotificationContext } from '../context.ts'
import type { SuppressionReason } from '../mail/suppression.ts'
import { suppressedAmong } from '../mail/suppression.ts'
import { addressHash } from './address.ts'
import { readCsv } from './csv.ts'
import type { Preferences } from './preferences.ts'
import { preferenceFields, readPreferences, requirePreferences } from './preferences.ts'
import { consumeUnconfirmedQuota, hashOnPage, suppressionMessages } from './subscribe.ts'
import { requireSubscriberCapacity, startDispatch } from './subscriber.ts'
import { active } from './subscriber-conditions.ts'
import type { ListedSubscriber } from './subscriber-csv.ts'
import { SubscriberList } from './subscriber-csv.ts'
import { tokenFields } from './token.ts'

/** The result of an import. */
export interface ImportResult {
  readonly imported: number
  /** Existing subscribers. Stopped ones stay stopped. */
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
/** How many rows one statement inserts. */
const BATCH = 100
/** How many addresses one statement looks up; each needs two hashes. */
const LOOKUP_BATCH = 200

/**
 * Subscribes email addresses without a confirmation; the organization has their consent. Stopped subscribers stay
 * stopped, and suppressed addresses are skipped. Requires a key with scope WRITE.
 * @param input `csv` (RFC 4180) with or without a header; from a list that Statuspage exports or imports, only email
 * addresses that are not quarantined, with the services named like their components. `pageId`: the page that they
 * follow, by default the first.
 * @throws Invalid, NotFound for an unknown page or service, or a service that is not on the page, TierLimitReached, and
 * RateLimited if the addresses exceed the day's quota; then none is subscribed.
 */
export async function importSubscribers(ctx: NotificationContext, input: unknown): Promise<ImportResult> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { csv, pageId: named, ...chosen } = validate(importInput, input)
  const preferences = readPreferences(chosen)
  const followed = await findPage(ctx.db, organizationId, named ?? organizationId)
  const pageId = followed.isFirst ? null : followed.id
  const { listed, problems } = await readList(csv, pageId)
  const found = await withServices(ctx, organizationId, listed, preferences.serviceIds)
  const addresses = found.addresses
  return change(ctx, organizationId, async (tx) => {
    await requirePreferences(tx, organizationId, preferences)
    const page = await findPage(tx.db, organizationId, followed.id)
    if (preferences.serviceIds.some((id) => !shows(page, id))) throw new NotFound('Service not found.')
    const organization = await readOrganization(tx, organizationId)
    const known = await readKnown(tx, organizationId, [...addresses.keys()])
    for (const addressHash of known) addresses.delete(addressHash)
    const skipped = [...(await removeSuppressed({ ...ctx, ...tx }, organizationId, addresses)).values()]
    const result = {
      imported: addresses.size,
      known: known.length,
      skippedCount: skipped.length,
      skipped: skipped.slice(0, MAX_PROBLEMS),
      problems: [...problems, ...found.problems].toSorted((one, other) => one.line - other.line).slice(0, MAX_PROBLEMS),
    }
    if (addresses.size === 0) return [result]
    await requireSubscriberCapacity(tx, organization, addresses.size)
    await consumeUnconfirmedQuota(tx, organization, addresses.size)
    await startDispatch(tx.db, organizationId, organization.lastSeq)
    await insert({ ...ctx, ...tx }, organization, addresses, { topics: preferences.topics, pageId })
    return [result, importedEvent(organizationId, addresses.size)]
  })
}

/** How many subscribers of another tool one import can have. */
export const MAX_IMPORTED_SUBSCRIBERS = 2000

/** A subscriber of another tool. */
interface ConfirmedSubscriber {
  readonly address: string
  /** Empty for all services; null if none of the services that it follows exists here. */
  readonly serviceIds: readonly string[] | null
}

/**
 * Subscribes addresses that were confirmed at another tool to incidents and maintenance, without a message, up to the
 * tier's limit. Stopped subscribers stay stopped. Requires a key with scope WRITE.
 * @returns the outcome for each, in order.
 */
export async function importConfirmedSubscribers(
  ctx: NotificationContext,
  { subscribers, dryRun }: { readonly subscribers: readonly ConfirmedSubscriber[]; readonly dryRun: boolean },
): Promise<ImportOutcome[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  const outcomes = new Map<string, ImportOutcome>()
  const addresses = new Map<string, ImportedAddress>()
  const hashes: (string | ImportOutcome)[] = []
  for (const [line, { address, serviceIds }] of subscribers.entries()) {
    await yieldAfterTimeSlice(organizationId)
    const parsed = email.address.safeParse(address)
    if (!parsed.success) hashes.push(skippedRecord('It is not an email address.'))
    else if (serviceIds === null) hashes.push(skippedRecord('None of the services that it follows is here.'))
    else {
      const hash = addressHash('EMAIL', parsed.data.text)
      hashes.push(hash)
      addresses.set(hash, { text: parsed.data.text, line, serviceIds })
    }
  }
  const outcomesOf = () =>
    hashes.map((hash) => (typeof hash === 'string' ? (outcomes.get(hash) ?? skippedRecord('')) : hash))
  const mark = (hash: string, outcome: ImportOutcome) => {
    outcomes.set(hash, outcome)
    addresses.delete(hash)
  }
  const sort = async (tx: Context) => {
    const organization = await readOrganization(tx, organizationId)
    for (const hash of await readKnown(tx, organizationId, [...addresses.keys()]))
      mark(hash, { outcome: 'UNCHANGED', reason: '' })
    const suppressed = await removeSuppressed({ ...ctx, ...tx }, organizationId, addresses)
    for (const [hash, { message }] of suppressed) mark(hash, skippedRecord(message))
    const limit = tierLimits[organization.tier].subscribers
    const used = await tx.db.subscriber.count({ where: { organizationId, ...active } })
    for (const hash of [...addresses.keys()].slice(Math.max(0, limit - used)))
      mark(hash, skippedRecord(`Your tier allows ${limit} subscribers.`))
    for (const hash of addresses.keys()) outcomes.set(hash, { outcome: 'CREATED', reason: '' })
    return organization
  }
  if (dryRun) {
    await sort(ctx)
    return outcomesOf()
  }
  return change(ctx, organizationId, async (tx) => {
    const organization = await sort(tx)
    if (addresses.size === 0) return [outcomesOf()]
    try {
      await consumeUnconfirmedQuota(tx, organization, addresses.size)
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error
      for (const hash of [...addresses.keys()]) mark(hash, skippedRecord(error.message))
      return [outcomesOf()]
    }
    await startDispatch(tx.db, organizationId, organization.lastSeq)
    const { topics } = readPreferences({})
    await insert({ ...ctx, ...tx }, organization, addresses, { topics, pageId: null })
    return [outcomesOf(), importedEvent(organizationId, addresses.size)]
  })
}

const importedEvent = (subjectId: string, count: number) =>
  ({
    kind: 'SUBSCRIBERS_IMPORTED',
    subjectId,
    subjectName: `${count} ${count === 1 ? 'address' : 'addresses'}`,
  }) as const

/** Returns which of the hashes belong to subscribers. Prisma takes a second for a list of thousands. */
async function readKnown({ db }: Context, organizationId: string, hashes: readonly string[]): Promise<string[]> {
  const known = await db.$queryRaw<{ addressHash: string }[]>`
    SELECT "addressHash" FROM "Subscriber"
    WHERE "organizationId" = ${organizationId} AND "addressHash" = ANY (${[...hashes]}::text[])`
  return known.map((each) => each.addressHash)
}

/** An address to import, its first line, and the services that it follows (empty for all). */
interface ImportedAddress {
  readonly text: string
  readonly line: number
  readonly serviceIds: readonly string[]
}

/** Removes suppressed addresses and returns them by hash. */
async function removeSuppressed(
  ctx: NotificationContext,
  organizationId: string,
  addresses: Map<string, ImportedAddress>,
): Promise<Map<string, SkippedAddress>> {
  const skipped = new Map<string, SkippedAddress>()
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
      skipped.set(hash, { line, reason, message: suppressionMessages[reason] })
    }
  }
  return skipped
}

type Problem = ImportResult['problems'][number]

/** Reads the distinct addresses of a list, by their hash on the page. */
async function readList(
  csv: string,
  pageId: string | null,
): Promise<{
  readonly listed: Map<string, ListedSubscriber & { readonly text: string }>
  readonly problems: Problem[]
}> {
  const listed = new Map<string, ListedSubscriber & { readonly text: string }>()
  const problems: Problem[] = []
  const list = new SubscriberList()
  for await (const row of readCsv(csv)) {
    const subscriber = list.read(row)
    if (subscriber === null) continue
    const { line, problem } = subscriber
    const parsed = email.address.safeParse(subscriber.email)
    if (problem === '' && parsed.success) {
      const hash = hashOnPage(addressHash('EMAIL', parsed.data.text), pageId)
      if (!listed.has(hash)) listed.set(hash, { ...subscriber, text: parsed.data.text })
    } else if (problems.length < MAX_PROBLEMS) problems.push({ line, message: problem || 'must be an email address' })
  }
  return { listed, problems }
}

/** Resolves the service names of a list. Services that are chosen for all addresses take precedence. */
async function withServices(
  { db }: Context,
  organizationId: string,
  listed: ReadonlyMap<string, ListedSubscriber & { readonly text: string }>,
  chosen: readonly string[],
): Promise<{ readonly addresses: Map<string, ImportedAddress>; readonly problems: Problem[] }> {
  const names = [...new Set([...listed.values()].flatMap(({ services }) => services.map((name) => name.toLowerCase())))]
  const found =
    names.length === 0 || chosen.length > 0
      ? []
      : await db.$queryRaw<{ id: string; name: string }[]>`
          SELECT id, lower(name) AS name FROM ${services} AS services
          WHERE "organizationId" = ${organizationId} AND lower(name) = ANY (${names}::text[])`
  const byName = new Map(found.map(({ id, name }) => [name, id]))
  const addresses = new Map<string, ImportedAddress>()
  const problems: Problem[] = []
  for (const [hash, { text, line, services }] of listed) {
    const own = services.flatMap((name) => byName.get(name.toLowerCase()) ?? [])
    if (chosen.length > 0 || services.length === 0 || own.length > 0)
      addresses.set(hash, { text, line, serviceIds: chosen.length > 0 ? chosen : [...new Set(own)] })
    else if (problems.length < MAX_PROBLEMS)
      problems.push({ line, message: 'follows components whose names no service has: create these first' })
  }
  return { addresses, problems }
}

/**
 * Inserts subscribers in batches with plain SQL, because Prisma takes 30 ms of the main thread to compile a statement
 * for a hundred rows.
 */
async function insert(
  { db, seal, now }: NotificationContext,
  { id: organizationId, lastSeq, defaultLanguage }: Pick<Organization, 'id' | 'lastSeq' | 'defaultLanguage'>,
  addresses: ReadonlyMap<string, ImportedAddress>,
  { topics, pageId }: Pick<Preferences, 'topics'> & { readonly pageId: string | null },
): Promise<void> {
  const owner = {}
  const at = now()
  const all = [...addresses]
  for (let from = 0; from < all.length; from += BATCH) {
    const rows: ImportedRow[] = []
    const links: { readonly subscriber: string; readonly chosen: string }[] = []
    for (const [addressHash, { text, serviceIds }] of all.slice(from, from + BATCH)) {
      await yieldAfterTimeSlice(owner)
      const row = { addressHash, allServices: serviceIds.length === 0, ...rowOf(seal, text) }
      rows.push(row)
      links.push(...serviceIds.map((chosen) => ({ subscriber: row.id, chosen })))
    }
    await db.$executeRaw`
      INSERT INTO "Subscriber" (id, "organizationId", "pageId", channel, address, "addressHash", label, destination, "tokenHash", token,
        topics, language, "allServices", "createdAt", "confirmableUntil", "confirmedAt", "sinceSeq")
      SELECT id, ${organizationId}, ${pageId}, 'EMAIL', address, "addressHash", label, destination, "tokenHash", token,
        ${topics}::"Topic"[], ${defaultLanguage}, "allServices", ${at}, ${at}, ${at}, ${lastSeq}
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS imported (id text, address text, "addressHash" text,
        label text, destination text, "tokenHash" text, token text, "allServices" bool)`
    if (links.length === 0) continue
    await db.$executeRaw`
      INSERT INTO "SubscriberService" ("subscriberId", "serviceId")
      SELECT * FROM unnest(${links.map(({ subscriber }) => subscriber)}::text[], ${links.map(({ chosen }) => chosen)}::text[])`
  }
}

type ImportedRow = ReturnType<typeof rowOf> & { readonly addressHash: string; readonly allServices: boolean }

function rowOf(seal: NotificationContext['seal'], text: string) {
  const id = newId('Subscriber')
  const { label, destination } = email.address.parse(text)
  return { id, address: text, label, destination, ...tokenFields(seal, id) }
}
