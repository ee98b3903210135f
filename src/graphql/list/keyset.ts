import type { Issue } from '../../core/errors.ts'
import { MAX_TIME, MIN_TIME } from '../../core/list-filter.ts'
import { invalid } from '../../core/validation.ts'
import { PAGE_SIZE } from '../document/page-size.ts'

/** The direction of a key, in Prisma's notation. */
export type Direction = 'asc' | 'desc'

/** The types of order keys. */
interface KeyTypes {
  readonly time: Date
  readonly text: string
  readonly number: number
}

type KeyType = keyof KeyTypes
/** The types of an order's keys by name. */
export type Keys = Readonly<Record<string, KeyType>>

/** The values of an order's keys: the position of a row, which remains valid after the row is deleted. */
export type Position<K extends Keys> = { readonly [Name in keyof K]: KeyTypes[K[Name]] }

type Comparison<V> = V | { readonly lt: V } | { readonly lte: V } | { readonly gt: V } | { readonly gte: V }
type Condition<K extends Keys> = { readonly [Name in keyof K]?: Comparison<KeyTypes[K[Name]]> }
/** The Prisma condition for the rows on one side of a position. */
type Side<K extends Keys> = Condition<K> & { readonly OR: Condition<K>[] }

/** A Prisma query for a part of the rows. */
export interface Slice<K extends Keys, W> {
  readonly where: { AND: (W | Side<K>)[] }
  readonly orderBy: { readonly [Name in keyof K]?: Direction }[]
  readonly take: number
}

/** A total order of rows, by keys from the most significant to a unique one. */
export interface Order<K extends Keys> {
  readonly keys: { readonly [Name in keyof K]: readonly [type: K[Name], direction: Direction] }
  /** The cursor of a row. */
  cursorOf(row: Position<K>): string
  /** Returns the position of a cursor; null for a text that is not a cursor of this order. */
  positionOf(cursor: string): Position<K> | null
}

/** The arguments of every connection. */
export interface PageArgs {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** A row of a page with its cursor. */
export interface Edge<Row> {
  readonly cursor: string
  readonly node: Row
}

/** A page of a connection. Each part is read on first use, once. */
export interface Page<Row> {
  edges(): Promise<readonly Edge<Row>[]>
  hasNextPage(): Promise<boolean>
  hasPreviousPage(): Promise<boolean>
  totalCount(): Promise<number>
}

/**
 * Defines an order. Its cursors are the base64url of the keys' names, directions and values: opaque to callers, and
 * rejected by connections with another order or filter.
 * @param type the type of the rows, so that cursors of other types are rejected.
 * @param filter identifies the connection's filter, as returned by `filterTag`; empty: none.
 */
export function orderOf<K extends Keys>(type: string, keys: Order<K>['keys'], filter = ''): Order<K> {
  const entries = entriesOf(keys)
  const name = [type, ...entries.map(([key, [, direction]]) => `${key}.${direction}`), filter].join(' ').trimEnd()
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
      const [tag, ...stored] = parseCursor(cursor)
      if (tag !== name || stored.length !== entries.length) return null
      const values = entries.map(([key, [keyType]], index) => [key, keyReaders[keyType](stored[index])] as const)
      if (values.some(([, value]) => value === null)) return null
      // Each value has been read as the type of its key.
      return Object.fromEntries(values) as Position<K>
    },
  }
}

/** The rows of a connection and how to read them. */
export interface Source<K extends Keys, Row, W> {
  readonly order: Order<K>
  readonly args: PageArgs
  /** The condition that all rows of the connection meet. */
  readonly where: W
  /** @param backward whether to read the slice from its end. */
  readonly read: (slice: Slice<K, W>, backward: boolean) => Promise<readonly Row[]>
  readonly count: (query: Omit<Slice<K, W>, 'orderBy' | 'take'> & { readonly take?: number }) => Promise<number>
}

/**
 * Returns a page of the rows that meet a condition. Reads by key, so it continues correctly after the cursor's row is
 * deleted. @throws Invalid for invalid arguments.
 */
export function pageOf<K extends Keys, Row extends Position<K>, W>(source: Source<K, Row, W>): Page<Row> {
  const { order, args, where, read, count } = source
  const { limit, backward, after, before } = readArgs(order, args)
  const within = (sides: readonly Side<K>[]) => ({ AND: [where, ...sides] })
  const afterSides = after === null ? [] : [sideOf(order, after, 'after')]
  const beforeSides = before === null ? [] : [sideOf(order, before, 'before')]
  const any = async (sides: readonly Side<K>[]) => (await count({ where: within(sides), take: 1 })) > 0

  const rows = once(async () => {
    const orderBy = orderByOf(order, backward)
    const found = await read({ where: within([...afterSides, ...beforeSides]), orderBy, take: limit + 1 }, backward)
    const kept = found.slice(0, limit)
    return { kept: backward ? kept.reverse() : kept, more: found.length > limit }
  })
  return {
    edges: once(async () => (await rows()).kept.map((node) => ({ node, cursor: order.cursorOf(node) }))),
    hasNextPage: async () =>
      (!backward && (await rows()).more) || (before !== null && (await any([sideOf(order, before, 'from')]))),
    hasPreviousPage: async () =>
      (backward && (await rows()).more) || (after !== null && (await any([sideOf(order, after, 'upTo')]))),
    totalCount: () => count({ where: within([]) }),
  }
}

/** Like `pageOf`, for rows in memory in any order. */
export function pageOfList<K extends Keys, Row extends Position<K>>(
  order: Order<K>,
  args: PageArgs,
  list: readonly Row[],
): Page<Row> {
  const { limit, backward, after, before } = readArgs(order, args)
  const compare = comparatorOf(order)
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

/** Like `pageOfList`, for rows with only their positions in memory: reads the rows of the page by id. */
export function pageOfPositions<K extends Keys & { readonly id: 'text' }, Row extends { readonly id: string }>(
  order: Order<K>,
  args: PageArgs,
  positions: readonly Position<K>[],
  read: (ids: string[]) => Promise<readonly Row[]>,
): Page<Row> {
  const { edges, ...page } = pageOfList(order, args, positions)
  const idOf = (position: Position<K>) => String(valueAt(position, 'id'))
  return {
    ...page,
    edges: once(async () => {
      const kept = await edges()
      const rows = new Map((await read(kept.map(({ node }) => idOf(node)))).map((row) => [row.id, row]))
      // Omits rows deleted in the meantime.
      return kept.flatMap(({ cursor, node: position }) => {
        const node = rows.get(idOf(position))
        return node ? [{ cursor, node }] : []
      })
    }),
  }
}

/** @throws Invalid with an issue per invalid argument. */
function readArgs<K extends Keys>(order: Order<K>, { first, last, after, before }: PageArgs) {
  const issues: Issue[] = [...sizeIssues('first', first), ...sizeIssues('last', last)]
  if (first != null && last != null) issues.push({ path: ['last'], message: 'must not be given together with first' })
  const positionOf = (name: 'after' | 'before', cursor: string | null | undefined) => {
    const position = cursor == null ? null : order.positionOf(cursor)
    if (cursor != null && position === null) issues.push({ path: [name], message: INVALID_CURSOR })
    return position
  }
  const positions = { after: positionOf('after', after), before: positionOf('before', before) }
  if (issues.length > 0) throw invalid(issues)
  // Without a size, a page before a cursor ends there.
  const backward = last != null || (first == null && before != null && after == null)
  return { limit: first ?? last ?? PAGE_SIZE.default, backward, ...positions }
}

const INVALID_CURSOR = 'is not a cursor of this connection with this order and filter'

function sizeIssues(name: string, size: number | null | undefined): Issue[] {
  if (size == null || (size >= 0 && size <= PAGE_SIZE.max)) return []
  return [{ path: [name], message: size < 0 ? 'must not be negative' : `must be at most ${PAGE_SIZE.max}` }]
}

/** How rows on each side compare with the position, by the direction of the key. */
const sides = {
  after: { asc: 'gt', desc: 'lt', inclusive: false },
  before: { asc: 'lt', desc: 'gt', inclusive: false },
  from: { asc: 'gt', desc: 'lt', inclusive: true },
  upTo: { asc: 'lt', desc: 'gt', inclusive: true },
} as const

/**
 * Returns the condition for rows on one side of a position: they differ from it first in a key that is beyond the
 * position's. The separate condition on the first key follows from the rest, but lets the database use its index.
 */
export function sideOf<K extends Keys>(order: Order<K>, position: Position<K>, side: keyof typeof sides): Side<K> {
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

/** Returns the order, or its reverse, in Prisma's notation. */
export function orderByOf<K extends Keys>(
  { keys }: Order<K>,
  reverse: boolean,
): { readonly [Name in keyof K]?: Direction }[] {
  // An object of one key each, which TypeScript does not see.
  return entriesOf(keys).map(([name, [, direction]]) => ({
    [name]: reverse ? opposite[direction] : direction,
  })) as { readonly [Name in keyof K]?: Direction }[]
}

const opposite = { asc: 'desc', desc: 'asc' } as const satisfies Record<Direction, Direction>

function comparatorOf<K extends Keys>({ keys }: Order<K>): (a: Position<K>, b: Position<K>) => number {
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

/** A position has a value for every key, which TypeScript cannot follow. */
const valueAt = <K extends Keys>(position: Position<K>, name: string) => position[name] as KeyTypes[KeyType]

function entriesOf<K extends Keys>(keys: Order<K>['keys']): [string, readonly [KeyType, Direction]][] {
  return Object.entries(keys)
}

/** Cursors contain only our own ids and names, which are shorter. */
const MAX_CURSOR_LENGTH = 2000

/** Returns the members of a cursor; none for a text that is not a cursor. */
function parseCursor(cursor: string): readonly unknown[] {
  if (cursor.length > MAX_CURSOR_LENGTH || !/^[\w-]+$/.test(cursor)) return []
  try {
    const members: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(members) ? members : []
  } catch {
    return []
  }
}

const keyReaders = {
  time: (value) =>
    Number.isInteger(value) && Number(value) >= MIN_TIME && Number(value) <= MAX_TIME ? new Date(Number(value)) : null,
  // PostgreSQL text cannot contain NUL.
  text: (value) => (typeof value === 'string' && !value.includes('\0') ? value : null),
  number: (value) => (Number.isInteger(value) && Math.abs(Number(value)) <= 0x7fff_ffff ? Number(value) : null),
} as const satisfies { readonly [T in KeyType]: (value: unknown) => KeyTypes[T] | null }

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
