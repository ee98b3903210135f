import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import { change } from '../eventlog/change.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { newId } from '../id.ts'
import { validate } from '../validate.ts'
import { addressHash } from './address.ts'
import { email } from './channel/email.ts'
import type { Choices } from './choices.ts'
import { choiceMembers, readChoices, requireChoices } from './choices.ts'
import type { NotificationContext } from './context.ts'
import { parseCsv } from './csv.ts'
import { spendVouched, suppressedWords } from './subscribe.ts'
import { beginDispatch, requireRoom } from './subscriber.ts'
import type { Suppressed } from './suppression.ts'
import { suppressedAmong } from './suppression.ts'
import { tokenFields } from './token.ts'

/** What came of an import. */
export interface Imported {
  readonly imported: number
  /** Those that were there already: subscribed, or stopped, which an import does not undo. */
  readonly known: number
  /** How many may not be written to, and the first hundred of them. */
  readonly skippedCount: number
  readonly skipped: readonly Skipped[]
  /** The lines that have no mail address, the first hundred of them. */
  readonly problems: readonly { readonly line: number; readonly message: string }[]
}

/** An address that may not be written to. */
export interface Skipped {
  readonly line: number
  readonly reason: Suppressed
  readonly message: string
}

const given = z.object({ csv: z.string(), ...choiceMembers })

const MOST_PROBLEMS = 100
/** Rows read, or inserted with one statement, before others get their turn. */
const AT_ONCE = 100
/** Addresses that are looked up with one statement, each of which takes two hashes. */
const HASHED_AT_ONCE = 500

/**
 * Subscribes mail addresses, confirmed: the organization vouches that they want it. Those that are stopped stay so, and those
 * that are suppressed are skipped. Needs a key with scope WRITE.
 * @param input `csv` as RFC 4180 has it: addresses in the column `email`, or in the first when no such head is there.
 * @throws Invalid, NotFound for services that are not there, TierLimitReached, and RateLimited when these are more than may be
 * subscribed on a day; then none is subscribed.
 */
export async function importSubscribers(ctx: NotificationContext, input: unknown): Promise<Imported> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { csv, ...chosen } = validate(given, input)
  const choices = readChoices(chosen)
  const { addresses, problems } = await readAddresses(csv)
  return change(ctx, organizationId, async (tx) => {
    await requireChoices(tx, organizationId, choices)
    const organization = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    // Prisma takes a second for a list of thousands.
    const known = await tx.db.$queryRaw<{ addressHash: string }[]>`
      SELECT "addressHash" FROM "Subscriber"
      WHERE "organizationId" = ${organizationId} AND "addressHash" = ANY (${[...addresses.keys()]}::text[])`
    for (const { addressHash } of known) addresses.delete(addressHash)
    const skipped = await takeSuppressed({ ...ctx, ...tx }, organizationId, addresses)
    const result = {
      imported: addresses.size,
      known: known.length,
      skippedCount: skipped.length,
      skipped: skipped.slice(0, MOST_PROBLEMS),
      problems,
    }
    if (addresses.size === 0) return [result]
    await requireRoom(tx, organization, addresses.size)
    await spendVouched(tx, organization, addresses.size)
    await beginDispatch(tx.db, organizationId, organization.lastSeq)
    await insert({ ...ctx, ...tx }, organization, addresses, choices)
    const subjectName = `${addresses.size} ${addresses.size === 1 ? 'address' : 'addresses'}`
    return [result, { kind: 'SUBSCRIBERS_IMPORTED', subjectId: organizationId, subjectName }]
  })
}

/** An address of a CSV text, and the line that has it first. */
interface Line {
  readonly text: string
  readonly line: number
}

/** Takes out the addresses that the organization may not write to. Gives where they were. */
async function takeSuppressed(
  ctx: NotificationContext,
  organizationId: string,
  addresses: Map<string, Line>,
): Promise<Skipped[]> {
  const skipped: Skipped[] = []
  const all = [...addresses]
  for (let from = 0; from < all.length; from += HASHED_AT_ONCE) {
    await turnOfOthers()
    const batch = all.slice(from, from + HASHED_AT_ONCE)
    const sought = batch.map(([, { text }]) => ({ channel: 'EMAIL', text }) as const)
    const suppressed = await suppressedAmong(ctx, organizationId, sought)
    for (const [hash, { text, line }] of batch) {
      const reason = suppressed.get(text)
      if (reason === undefined) continue
      addresses.delete(hash)
      skipped.push({ line, reason, message: suppressedWords[reason] })
    }
  }
  return skipped
}

/** The addresses of a CSV text, each once, by their hashes. */
async function readAddresses(
  csv: string,
): Promise<{ addresses: Map<string, Line>; problems: Imported['problems'][number][] }> {
  const addresses = new Map<string, Line>()
  const problems: Imported['problems'][number][] = []
  for (const [index, { line, field }] of addressFields(csv).entries()) {
    if (index % AT_ONCE === 0) await turnOfOthers()
    const parsed = email.address.safeParse(field)
    if (parsed.success) {
      const hash = addressHash('EMAIL', parsed.data.text)
      if (!addresses.has(hash)) addresses.set(hash, { text: parsed.data.text, line })
    } else if (problems.length < MOST_PROBLEMS) problems.push({ line, message: 'must be an e-mail address' })
  }
  return { addresses, problems }
}

/** The fields of a CSV text that should be addresses, of the rows that are not blank. */
function addressFields(csv: string): { line: number; field: string }[] {
  const [head, ...rest] = parseCsv(csv)
  const named = head?.fields.findIndex((field) => /^e-?mail( address)?$/i.test(field.trim())) ?? -1
  const rows = head === undefined ? [] : named === -1 ? [head, ...rest] : rest
  return rows
    .filter(({ fields }) => fields.some((field) => field.trim() !== ''))
    .map(({ line, fields }) => ({ line, field: fields[Math.max(named, 0)] ?? '' }))
}

function rowOf(
  { seal, now }: NotificationContext,
  { id: organizationId, lastSeq }: { readonly id: string; readonly lastSeq: number },
  hash: string,
  text: string,
  { topics, serviceIds }: Choices,
): Prisma.SubscriberCreateManyInput {
  const id = newId('Subscriber')
  const { label, destination } = email.address.parse(text)
  return {
    id,
    organizationId,
    channel: 'EMAIL',
    address: text,
    addressHash: hash,
    label,
    destination,
    ...tokenFields(seal, id),
    topics,
    allServices: serviceIds.length === 0,
    createdAt: now(),
    confirmableUntil: now(),
    confirmedAt: now(),
    sinceSeq: lastSeq,
  }
}

async function insert(
  ctx: NotificationContext,
  organization: Parameters<typeof rowOf>[1],
  addresses: ReadonlyMap<string, Line>,
  choices: Choices,
): Promise<void> {
  const { db } = ctx
  const all = [...addresses]
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await turnOfOthers()
    const batch = all
      .slice(from, from + AT_ONCE)
      .map(([hash, { text }]) => rowOf(ctx, organization, hash, text, choices))
    await db.subscriber.createMany({ data: batch })
    await db.$executeRaw`
      INSERT INTO "SubscriberService" ("subscriberId", "serviceId")
      SELECT reader.id, chosen.id FROM unnest(${batch.map(({ id }) => id)}::text[]) AS reader (id)
      CROSS JOIN unnest(${[...choices.serviceIds]}::text[]) AS chosen (id)`
  }
}
