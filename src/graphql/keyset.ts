import type { Issue } from '../errors.ts'
import { invalid } from '../validate.ts'

/** The rows a page of a connection holds when the caller does not say, and the most it may hold. */
export const PAGE = { usual: 20, most: 100 } as const

/** The direction of a key, as Prisma writes it. */
export type Direction = 'asc' | 'desc'

/** The values that rows are ordered by, by the name of their type. */
interface KeyTypes {
  readonly time: Date
  readonly text: string
  readonly number: number
}

type KeyType = keyof KeyTypes
/** The types of an order's keys. */
type Keys = Readonly<Record<string, KeyType>>

/** The values of an order's keys: a row's place in the order, whether or not the row still exists. */
export type Position<K extends Keys> = { readonly [Name in keyof K]: KeyTypes[K[Name]] }

type Comparison<V> = V | { readonly lt: V } | { readonly lte: V } | { readonly gt: V } | { readonly gte: V }
type Condition<K extends Keys> = { readonly [Name in keyof K]?: Comparison<KeyTypes[K[Name]]> }
/** The rows on one side of a position, as Prisma is asked for them. */
type Side<K extends Keys> = Condition<K> & { readonly OR: Condition<K>[] }

/** What to ask Prisma for: `where` narrows the connection's own condition. */
export interface Slice<K extends Keys, W> {
  readonly where: { AND: (W | Side<K>)[] }
  readonly orderBy: { readonly [Name in keyof K]?: Direction }[]
  readonly take: number
}

/** A total order of rows: the keys from the first that counts to the last, which no two rows share. */
export interface Order<K extends Keys> {
  readonly keys: { readonly [Name in keyof K]: readonly [type: K[Name], direction: Direction] }
  /** The cursor of a row. */
  cursorOf(row: Position<K>): string
  /** The position that a cursor stands for; null for a text that is no cursor of this order. */
  positionOf(cursor: string): Position<K> | null
}

/** The arguments of every connection. */
export interface PageArgs {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** A row of a page and its cursor. */
export interface Edge<Row> {
  readonly cursor: string
  readonly node: Row
}

/** A page of a connection; each part is read when it is asked for, and once. */
export interface Page<Row> {
  edges(): Promise<readonly Edge<Row>[]>
  hasNextPage(): Promise<boolean>
  hasPreviousPage(): Promise<boolean>
  totalCount(): Promise<number>
}

/**
 * Defines an order. Its cursors are the base64url of the keys' names, directions and values: opaque to callers, and refused
 * by connections of another order.
 * @param type what is ordered, so that cursors of another type are refused.
 */
export function orderOf<K extends Keys>(type: string, keys: Order<K>['keys']): Order<K> {
  const entries = entriesOf(keys)
  const name = [type, ...entries.map(([key, [, direction]]) => `${key}.${direction}`)].join(' ')
  return {
    keys,
    cursorOf(row) {
      const values = entries.map(([key]) => {
        const value = row[key]
        return value instanceof Date ? value.getTime() : value
      })
      return Buffer.from(JSON.stringify([name, ...values])).toString('base64url')
    },
    positionOf(cursor) {
      const [tag, ...written] = parsed(cursor)
      if (tag !== name || written.length !== entries.length) return null
      const values = entries.map(([key, [keyType]], index) => [key, readers[keyType](written[index])] as const)
      if (values.some(([, value]) => value === null)) return null
      // Each value has been read as the type of its key.
      return Object.fromEntries(values) as Position<K>
    },
  }
}

/** Where and how to read the rows of a connection. */
interface Source<K extends Keys, Row, W> {
  readonly order: Order<K>
  readonly args: PageArgs
  /** The condition that all rows of the connection meet. */
  readonly where: W
  readonly read: (slice: Slice<K, W>) => Promise<readonly Row[]>
  readonly count: (query: { readonly where: W | Slice<K, W>['where']; readonly take?: number }) => Promise<number>
}

/**
 * A page of the rows that meet a condition, read by key and not by row: it goes on rightly when the row under the cursor is
 * gone. @throws Invalid for arguments that no connection takes.
 */
export function pageOf<K extends Keys, Row extends Position<K>, W>(source: Source<K, Row, W>): Page<Row> {
  const { order, args, where, read, count } = source
  const { limit, backward, after, before } = readArgs(order, args)
  const within = (sides: readonly Side<K>[]) => ({ AND: [where, ...sides] })
  const behind = after === null ? [] : [sideOf(order, after, 'after')]
  const ahead = before === null ? [] : [sideOf(order, before, 'before')]
  const any = async (sides: readonly Side<K>[]) => (await count({ where: within(sides), take: 1 })) > 0

  const rows = once(async () => {
    const orderBy = orderByOf(order, backward)
    const found = await read({ where: within([...behind, ...ahead]), orderBy, take: limit + 1 })
    const kept = found.slice(0, limit)
    return { kept: backward ? kept.reverse() : kept, more: found.length > limit }
  })
  return {
    edges: once(async () => (await rows()).kept.map((node) => ({ node, cursor: order.cursorOf(node) }))),
    hasNextPage: async () =>
      (!backward && (await rows()).more) || (before !== null && (await any([sideOf(order, before, 'from')]))),
    hasPreviousPage: async () =>
      (backward && (await rows()).more) || (after !== null && (await any([sideOf(order, after, 'upTo')]))),
    totalCount: () => count({ where }),
  }
}

/** As `pageOf`, of rows that are all in memory; they need not be in order. */
export function pageOfList<K extends Keys, Row extends Position<K>>(
  order: Order<K>,
  args: PageArgs,
  list: readonly Row[],
): Page<Row> {
  const { limit, backward, after, before } = readArgs(order, args)
  const compare = comparing(order)
  const sorted = list.toSorted(compare)
  const within = sorted.filter(
    (row) => (after === null || compare(row, after) > 0) && (before === null || compare(row, before) < 0),
  )
  const start = backward ? Math.max(within.length - limit, 0) : 0
  const kept = within.slice(start, start + limit)
  const more = within.length > limit
  return {
    edges: async () => kept.map((node) => ({ node, cursor: order.cursorOf(node) })),
    hasNextPage: async () =>
      (!backward && more) || (before !== null && sorted.some((row) => compare(row, before) >= 0)),
    hasPreviousPage: async () =>
      (backward && more) || (after !== null && sorted.some((row) => compare(row, after) <= 0)),
    totalCount: async () => list.length,
  }
}

/** @throws Invalid with an issue per argument that is wrong. */
function readArgs<K extends Keys>(order: Order<K>, { first, last, after, before }: PageArgs) {
  const issues: Issue[] = [...sizeIssues('first', first), ...sizeIssues('last', last)]
  if (first != null && last != null) issues.push({ path: ['last'], message: 'must not be given together with first' })
  const positionOf = (name: 'after' | 'before', cursor: string | null | undefined) => {
    const position = cursor == null ? null : order.positionOf(cursor)
    if (cursor != null && position === null) issues.push({ path: [name], message: NO_CURSOR })
    return position
  }
  const positions = { after: positionOf('after', after), before: positionOf('before', before) }
  if (issues.length > 0) throw invalid(issues)
  // Without a size, a page before a cursor is the one that ends there.
  const backward = last != null || (first == null && before != null && after == null)
  return { limit: first ?? last ?? PAGE.usual, backward, ...positions }
}

const NO_CURSOR = 'is no cursor of this connection in this order'

function sizeIssues(name: string, size: number | null | undefined): Issue[] {
  if (size == null || (size >= 0 && size <= PAGE.most)) return []
  return [{ path: [name], message: size < 0 ? 'must not be negative' : `must be at most ${PAGE.most}` }]
}

/** How the rows of a side compare with its position, for a key that ascends and for one that descends. */
const sides = {
  after: { asc: 'gt', desc: 'lt', inclusive: false },
  before: { asc: 'lt', desc: 'gt', inclusive: false },
  from: { asc: 'gt', desc: 'lt', inclusive: true },
  upTo: { asc: 'lt', desc: 'gt', inclusive: true },
} as const

/**
 * The rows on one side of a position: those that differ from it first in a key whose value is beyond the position's. The
 * condition on the first key alone follows from the rest; it lets the database begin its index there.
 */
function sideOf<K extends Keys>(order: Order<K>, position: Position<K>, side: keyof typeof sides): Side<K> {
  const { inclusive, ...comparisons } = sides[side]
  const entries = entriesOf(order.keys)
  const alternatives = entries.map(([name, [, direction]], index) => ({
    ...equalIn(entries.slice(0, index)),
    [name]: { [comparisons[direction]]: position[name] },
  }))
  if (inclusive) alternatives.push(equalIn(entries))
  const [[first, [, direction]] = ['', ['text', 'asc']] as const] = entries
  // Typed by names, which TypeScript does not follow through `Object.entries`.
  return { [first]: { [`${comparisons[direction]}e`]: position[first] }, OR: alternatives } as unknown as Side<K>

  function equalIn(keys: readonly (readonly [string, unknown])[]): Record<string, object> {
    return Object.fromEntries(keys.map(([name]) => [name, { equals: position[name] }]))
  }
}

/** The order as Prisma takes it, or its reverse. */
function orderByOf<K extends Keys>({ keys }: Order<K>, reverse: boolean): { readonly [Name in keyof K]?: Direction }[] {
  // An object of one key each, which TypeScript does not see.
  return entriesOf(keys).map(([name, [, direction]]) => ({
    [name]: reverse ? opposite[direction] : direction,
  })) as { readonly [Name in keyof K]?: Direction }[]
}

const opposite = { asc: 'desc', desc: 'asc' } as const satisfies Record<Direction, Direction>

function comparing<K extends Keys>({ keys }: Order<K>): (a: Position<K>, b: Position<K>) => number {
  const entries = entriesOf(keys)
  return (a, b) => {
    for (const [name, [, direction]] of entries) {
      const difference = compare(valueAt(a, name), valueAt(b, name))
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  }
}

const compare = <V>(left: V, right: V) => Number(left > right) - Number(left < right)

/** A position has a value for every key, which TypeScript does not follow through the keys' names. */
const valueAt = <K extends Keys>(position: Position<K>, name: string) => position[name] as KeyTypes[KeyType]

function entriesOf<K extends Keys>(keys: Order<K>['keys']): [string, readonly [KeyType, Direction]][] {
  return Object.entries(keys)
}

/** The texts of a cursor's values are ids or names of ours: longer ones are not. */
const LONGEST_CURSOR = 2000

/** The members of a cursor, none for a text that is no cursor at all. */
function parsed(cursor: string): readonly unknown[] {
  if (cursor.length > LONGEST_CURSOR || !/^[\w-]+$/.test(cursor)) return []
  try {
    const members: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(members) ? members : []
  } catch {
    return []
  }
}

/** Between these years the database and JavaScript write times alike. */
const FIRST_TIME = Date.UTC(1000, 0)
const LAST_TIME = Date.UTC(10_000, 0) - 1

const readers = {
  time: (written) =>
    Number.isInteger(written) && Number(written) >= FIRST_TIME && Number(written) <= LAST_TIME
      ? new Date(Number(written))
      : null,
  // PostgreSQL's text holds no NUL.
  text: (written) => (typeof written === 'string' && !written.includes('\0') ? written : null),
  number: (written) => (Number.isInteger(written) && Math.abs(Number(written)) <= 0x7fff_ffff ? Number(written) : null),
} as const satisfies { readonly [T in KeyType]: (written: unknown) => KeyTypes[T] | null }

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
