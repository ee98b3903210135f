import type { Context } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Lease, LeaseOptions } from './lease.ts'
import { earliestFirst } from './lease.ts'

/** What one claim takes. */
interface FairClaimOptions extends Pick<LeaseOptions, 'where' | 'limit' | 'leaseMs'> {
  /** The owners that get no rows now. */
  readonly full: readonly string[]
}

/** The rows of a claim. */
export interface FairLease extends Lease {
  /** Whether another claim may find more: an owner has more due rows than this claim read, or was not visited. */
  readonly isMore: boolean
}

/**
 * Claims due rows owner by owner, so that the rows of one owner, however many are due, delay nobody. Keeps in memory
 * where it stopped.
 */
export interface FairClaim {
  /** Claims at most `limit` rows. */
  claim(options: FairClaimOptions): Promise<FairLease>
}

/** The position of a row among those of its owner. */
interface Position {
  readonly dueAt: Date
  readonly id: string
}

/** A part of an owner's due rows: those after a position, or all. */
interface Part {
  readonly owner: string
  readonly after: Position | null
}

/** How many owners one claim visits, and how many due rows it reads in all. The next one goes on from there. */
const OWNERS = 200
const ROWS = 2000

/** Before the first due time that a table can have. */
const BEFORE_ALL = new Date(0)

/**
 * Creates the claims of one worker on a table with an `organizationId` and an index of (`organizationId`, due time,
 * `id`). A claim visits up to 200 owners in turn, which costs a look into the index each, however many rows they have.
 * It takes the same number of rows from each, the earliest due first, before it takes more from those that have more;
 * if there are more owners than rows to claim, from those who have waited longest. It reads up to 2,000 rows. Where the
 * condition refuses all that it reads of an owner, later claims read on behind these rows, and the first ones again: so
 * rows that must wait hide no others.
 * @param table its names are interpolated into SQL, so never pass user input.
 */
export function createFairClaim(ctx: Pick<Context, 'db' | 'now'>, table: Table): FairClaim {
  /** The last owner that was visited, if others come after it. */
  let lastOwner = ''
  /** How far the refused rows of owners reach, as far as they were read. */
  const refused = new Map<string, Position>()
  /** When owners were last visited in vain: since then they wait behind the others. */
  const visitedInVain = new Map<string, number>()

  /**
   * Visits the next owners. Returns those that have due rows, who has waited longest first, and whether others come
   * after them, or before them.
   */
  async function visit(full: readonly string[], now: Date) {
    const visited = await ownersAfter(ctx, table, lastOwner)
    const [isResumed, isCut] = [lastOwner !== '', visited.length === OWNERS]
    lastOwner = isCut ? (visited.at(-1)?.owner ?? '') : ''
    const isDue = ({ dueAt }: { readonly dueAt: Date }) => dueAt.getTime() <= now.getTime()
    for (const each of visited) if (!isDue(each)) forget(each.owner)
    const due = visited
      .filter((each) => isDue(each) && !full.includes(each.owner))
      .map(({ owner, dueAt }) => ({ owner, since: Math.max(dueAt.getTime(), visitedInVain.get(owner) ?? 0) }))
    return { owners: due.sort((one, other) => one.since - other.since).map(({ owner }) => owner), isCut, isResumed }
  }

  function forget(owner: string): void {
    refused.delete(owner)
    visitedInVain.delete(owner)
  }

  const partsOf = (owner: string): Part[] => {
    const after = refused.get(owner)
    return [{ owner, after: null }, ...(after ? [{ owner, after }] : [])]
  }

  /** Remembers what a claim found of a part. Returns whether another claim may find more of it. */
  async function note(part: Part, { count, isAll }: { count: number; isAll: boolean }, rows: number, now: Date) {
    if (count > 0) {
      visitedInVain.delete(part.owner)
      return !isAll
    }
    if (part.after === null) {
      visitedInVain.set(part.owner, now.getTime())
      // The part behind these rows is being read.
      if (refused.has(part.owner)) return false
    }
    const last = await lastRead(ctx, table, part, rows, now)
    if (last) refused.set(part.owner, last)
    else refused.delete(part.owner)
    return last !== null
  }

  return {
    async claim({ where = Prisma.sql`TRUE`, limit, leaseMs, full }) {
      const now = ctx.now()
      const until = new Date(now.getTime() + leaseMs)
      const { owners, isCut, isResumed } = await visit(full, now)
      // Each part gets at least one row, so that one without rows was refused.
      const parts = owners.flatMap(partsOf).slice(0, Math.max(limit, 2))
      if (parts.length === 0) return { taken: [], until, isMore: isCut }
      const rows = Math.ceil(ROWS / parts.length)
      const each = Math.min(limit, Math.ceil((2 * limit) / parts.length))
      const taken = await claimParts(ctx, table, { parts, rows, each, limit, where, now, until })
      let isMore = isCut || (isResumed && taken.length > 0) || taken.length === limit
      for (const [index, part] of parts.entries()) {
        const count = taken.filter(({ place }) => place === index + 1).length
        if (await note(part, { count, isAll: count < each }, rows, now)) isMore = true
      }
      return { taken: earliestFirst(taken), until, isMore }
    },
  }
}

type Table = Pick<LeaseOptions, 'table' | 'dueColumn'>

/**
 * Returns the next owners with rows that have a due time, by name, and when the first of these rows is due. Orders by
 * owner first, here and below, because only the index that begins with the owner has this order.
 */
function ownersAfter(
  { db }: Pick<Context, 'db'>,
  { table, dueColumn }: Table,
  last: string,
): Promise<{ owner: string; dueAt: Date }[]> {
  const due = Prisma.raw(`"${dueColumn}"`)
  const first = (after: Prisma.Sql) => Prisma.sql`
    SELECT "organizationId" AS name, ${due} AS due FROM ${Prisma.raw(`"${table}"`)}
    WHERE ${due} IS NOT NULL AND "organizationId" > ${after} ORDER BY "organizationId", ${due} LIMIT 1`
  return db.$queryRaw`
    WITH RECURSIVE owner AS (
      (SELECT first.name, first.due, 1 AS place FROM (${first(Prisma.sql`${last}`)}) AS first)
      UNION ALL
      SELECT next.name, next.due, owner.place + 1
      FROM owner CROSS JOIN LATERAL (${first(Prisma.sql`owner.name`)}) AS next
      WHERE owner.place < ${OWNERS}::int
    )
    SELECT name AS owner, due AS "dueAt" FROM owner ORDER BY place`
}

/** Selects the due rows of a part, the earliest due first. */
function dueOf(
  { table, dueColumn }: Table,
  columns: string,
  part: Record<'owner' | 'due' | 'id' | 'now', Prisma.Sql>,
): Prisma.Sql {
  const due = Prisma.raw(`"${dueColumn}"`)
  return Prisma.sql`SELECT ${Prisma.raw(columns)} FROM ${Prisma.raw(`"${table}"`)}
    WHERE ("organizationId", ${due}, id) > (${part.owner}, ${part.due}, ${part.id})
      AND "organizationId" <= ${part.owner} AND ${due} <= ${part.now}
    ORDER BY "organizationId", ${due}, id`
}

/**
 * Claims rows of parts. Limits are written as numbers, and the condition applies to a subquery with a limit, so that the
 * planner reads no more than that, whatever it believes about the table.
 */
function claimParts(
  { db }: Pick<Context, 'db'>,
  table: Table,
  claim: {
    readonly parts: readonly Part[]
    /** How many rows are read of a part, and taken of it at most. */
    readonly rows: number
    readonly each: number
    readonly limit: number
    readonly where: Prisma.Sql
    readonly now: Date
    readonly until: Date
  },
): Promise<{ id: string; dueAt: Date; place: number }[]> {
  const [rows, due] = [Prisma.raw(`"${table.table}"`), Prisma.raw(`"${table.dueColumn}"`)]
  const { parts, where, now, until } = claim
  const read = dueOf(table, '*', {
    owner: Prisma.sql`part.owner`,
    due: Prisma.sql`part.due`,
    id: Prisma.sql`part.id`,
    now: Prisma.sql`${now}::timestamptz`,
  })
  return db.$queryRaw`
    WITH due AS (
      SELECT taken.id, taken.was, part.place FROM unnest(
        ${parts.map(({ owner }) => owner)}::text[], ${parts.map(({ after }) => after?.dueAt ?? BEFORE_ALL)}::timestamptz[],
        ${parts.map(({ after }) => after?.id ?? '')}::text[]) WITH ORDINALITY AS part (owner, due, id, place)
      CROSS JOIN LATERAL (
        SELECT held.id, open.${due} AS was FROM (
          SELECT id, "organizationId", ${due} FROM (${read} LIMIT ${Prisma.raw(`${claim.rows}`)}) AS ${rows} WHERE ${where}
        ) AS open CROSS JOIN LATERAL (
          SELECT each.id FROM ${rows} AS each WHERE each.id = open.id AND each.${due} <= ${now} FOR UPDATE SKIP LOCKED
        ) AS held
        ORDER BY open."organizationId", open.${due}, open.id LIMIT ${Prisma.raw(`${claim.each}`)}
      ) AS taken
    ), ranked AS (
      SELECT due.*, row_number() OVER (PARTITION BY due.place ORDER BY due.was, due.id) AS rank FROM due
    ), chosen AS (
      SELECT ranked.id, ranked.was, ranked.place FROM ranked ORDER BY ranked.rank, ranked.was LIMIT ${Prisma.raw(`${claim.limit}`)}
    )
    UPDATE ${rows} AS work SET ${due} = ${until} FROM chosen WHERE work.id = chosen.id
    RETURNING work.id, chosen.was AS "dueAt", chosen.place::int AS place`
}

/** Returns the last row that a claim has read of a part; null: it has read all. */
async function lastRead(
  { db }: Pick<Context, 'db'>,
  table: Table,
  { owner, after }: Part,
  rows: number,
  now: Date,
): Promise<Position | null> {
  const [last] = await db.$queryRaw<Position[]>`${dueOf(table, `id, "${table.dueColumn}" AS "dueAt"`, {
    owner: Prisma.sql`${owner}::text`,
    due: Prisma.sql`${after?.dueAt ?? BEFORE_ALL}::timestamptz`,
    id: Prisma.sql`${after?.id ?? ''}::text`,
    now: Prisma.sql`${now}::timestamptz`,
  })} OFFSET ${rows - 1} LIMIT 1`
  return last ?? null
}
