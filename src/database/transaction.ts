import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import type { Database, RawSql } from '../core/context.ts'
import { errorCode } from '../core/error-code.ts'
import { DatabaseUnavailable } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { isUnanswered } from './connection/pool.ts'
import { deadlineOf, setsDeadline } from './connection/statement-deadline.ts'
import { asUnavailable } from './connection/unavailable.ts'
import { oneAtATime } from './embedded/serialized-queries.ts'
import { prepared, withCurrentPlans } from './statement.ts'

/** The pools of connections of Prisma clients. */
const pools = new WeakMap<object, pg.Pool>()

/** The connection on which Prisma is to start a transaction: the one of our own open transaction. */
const given = new AsyncLocalStorage<pg.PoolClient>()

/**
 * How long a transaction of Prisma may take, in milliseconds: the longest time that a timer of Node.js has. Our own
 * transaction, of which it is a part, ends sooner.
 */
const FOREVER = 2 ** 31 - 1

interface TransactionOptions {
  /** How long the transaction may take, in milliseconds. */
  readonly timeout?: number
}

/**
 * Makes the transactions of a Prisma client ours, on the connections of the pool. Plain SQL goes to the connection
 * itself, because a statement through Prisma takes four times as much processor time; Prisma joins the transaction when
 * the work calls a model. `BEGIN` is sent with the first statement, and `COMMIT` with those of `$sendRaw`.
 * @param timeoutMs how long a transaction may take, unless its options say otherwise.
 */
export function useTransactions(prisma: PrismaClient, pool: pg.Pool, timeoutMs: number): void {
  pools.set(prisma, pool)
  const ofPrisma = prisma.$transaction.bind(prisma) as (work: unknown, options?: object) => Promise<unknown>
  const ours = (work: unknown, { timeout = timeoutMs }: TransactionOptions = {}) => {
    // A list of Prisma's statements.
    if (typeof work !== 'function') return ofPrisma(work)
    const start = (begun: (typed: Database) => Promise<void>) => ofPrisma(begun, { timeout: FOREVER, maxWait: FOREVER })
    return withCurrentPlans(() => runOn(pool, { prisma, start, timeout }, work as (tx: Database) => Promise<unknown>))
  }
  Object.assign(prisma, { $transaction: ours })
}

/** Wraps the pool of a Prisma client, whose transactions join ours if one is open, and else get statements one by one. */
export function joiningPool(pool: pg.Pool): pg.Pool {
  const connect = () => {
    const own = given.getStore()
    return own ? Promise.resolve(own) : pool.connect()
  }
  return Object.create(pool, { connect: { value: connect } })
}

/**
 * Returns the rows of a plain statement. Outside a transaction it bypasses Prisma, for frequent statements. JSON is
 * parsed either way.
 */
export async function plainRows<Row>(db: Database, statement: Prisma.Sql): Promise<Row[]> {
  const pool = pools.get(db)
  if (!pool) return db.$queryRaw<Row[]>(statement)
  const { rows } = await withCurrentPlans(() => pool.query(prepared(statement)))
  // The caller knows the selected columns.
  return rows as Row[]
}

/** What a transaction needs of the Prisma client that it belongs to. */
interface Parts {
  readonly prisma: PrismaClient
  /** Starts a transaction of Prisma, which lasts until `begun` resolves. */
  readonly start: (begun: (typed: Database) => Promise<void>) => Promise<unknown>
  readonly timeout: number
}

async function runOn<T>(pool: pg.Pool, parts: Parts, work: (tx: Database) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const connection = openConnection(client)
  const typed = joinPrisma(connection, parts)
  const deadline = startDeadline(parts.timeout)
  try {
    const begun = connection.send({ text: 'BEGIN' })
    // Not everyone waits for it. The next statement fails with its error.
    begun.catch(() => {})
    const db = transactionClient(connection, begun, typed, parts)
    const result = await Promise.race([work(db), deadline.passed])
    await typed.end()
    const { command } = await connection.send({ text: 'COMMIT' })
    connection.close()
    if (command !== 'COMMIT') throw connection.failure() ?? new Error('A failed transaction was committed.')
    client.release()
    return result
  } catch (error) {
    connection.close()
    await typed.end()
    await rollBack(client, connection.silence())
    throw asUnavailable(error)
  } finally {
    deadline.stop()
  }
}

/** Rolls back a failed transaction. Closes a connection that does not answer. @param silence the error of one that did not. */
async function rollBack(client: pg.PoolClient, silence: Error | undefined): Promise<void> {
  if (silence) return client.release(silence)
  await client.query('ROLLBACK').then(
    () => client.release(),
    (error: Error) => client.release(error),
  )
}

/** Starts the time that a transaction may take. `passed` rejects at its end. */
function startDeadline(timeoutMs: number): { readonly passed: Promise<never>; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_, reject) => {
    const cause = new Error(`The transaction took longer than ${timeoutMs / SECOND} s.`)
    timer = setTimeout(() => reject(new DatabaseUnavailable({ cause })), timeoutMs)
  })
  passed.catch(() => {})
  return { passed, stop: () => clearTimeout(timer) }
}

/** The connection of a transaction. */
interface Connection {
  /** Sends a statement. Rejects with the error of an earlier one if that is why it fails. */
  send(statement: pg.QueryConfig): Promise<pg.QueryResult>
  /** Returns the error of the last statement that failed by itself; undefined: there is none. */
  failure(): unknown
  /** Returns the error of a statement to which no answer came; undefined: there is none. */
  silence(): Error | undefined
  /** Refuses later statements, such as those of work that goes on after its transaction. */
  close(): void
}

/** The error code of a statement in a transaction that has failed (PostgreSQL manual, appendix A). */
const FAILED_BEFORE = '25P02'

/** Opens a connection that sends statements without waiting for answers, and batches those of a tick. */
function openConnection(client: pg.PoolClient): Connection {
  const { stream } = client.connection
  let failure: unknown
  let deadline: number | undefined
  let silence: Error | undefined
  let isClosed = false
  return {
    async send(statement) {
      if (isClosed) throw new Error('This transaction has ended.')
      if (setsDeadline(statement)) deadline = deadlineOf(statement)
      stream.cork()
      process.nextTick(() => stream.uncork())
      const result = client.query(deadline === undefined ? statement : withTimeout(statement, deadline))
      return result.catch((error: unknown) => {
        if (isUnanswered(error)) silence ??= error as Error
        // If a statement fails, the later ones fail too, because of it.
        if (errorCode(error) !== FAILED_BEFORE) failure = error
        throw failure
      })
    },
    failure: () => failure,
    silence: () => silence,
    close() {
      isClosed = true
    },
  }
}

const withTimeout = (statement: pg.QueryConfig, timeout: number): pg.QueryConfig =>
  Object.assign({}, statement, { query_timeout: timeout })

/** A transaction of Prisma within ours. */
interface Joined {
  /** Returns its client, if Prisma has joined already. */
  readonly client: Database | undefined
  join(): Promise<Database>
  /** Ends it. Nothing is committed. */
  end(): Promise<unknown>
}

/** Lets Prisma join a transaction when it is first needed. */
function joinPrisma(connection: Connection, { start }: Parts): Joined {
  let client: Database | undefined
  let joining: Promise<Database> | undefined
  let running: Promise<unknown> | undefined
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return {
    get client() {
      return client
    },
    join() {
      joining ??= new Promise((resolve, reject) => {
        const begun = (typed: Database) => {
          client = typed
          resolve(typed)
          return ended
        }
        running = given.run(forPrisma(connection), () => start(begun)).catch(reject)
      })
      return joining
    },
    async end() {
      end()
      await running
    },
  }
}

/** Begins and ends a transaction, which we do ourselves. */
const ENDS = /^(BEGIN|COMMIT|ROLLBACK)$/

/** The connection as Prisma sees it. */
function forPrisma({ send }: Connection): pg.PoolClient {
  const sendOne = oneAtATime(async (statement: pg.QueryConfig) => {
    if (ENDS.test(statement.text)) return { rows: [], fields: [], rowCount: 0 }
    return send(statement).catch((error: unknown) => {
      throw asUnavailable(error)
    })
  })
  const ignore = () => {}
  return { query: sendOne, on: ignore, removeListener: ignore, release: ignore } as unknown as pg.PoolClient
}

/** Returns the client of a transaction: plain SQL on its connection, and the models of Prisma. */
function transactionClient({ send }: Connection, begun: Promise<unknown>, typed: Joined, { prisma }: Parts): Database {
  const run = (query: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]) =>
    send(prepared('raw' in query ? Prisma.sql(query, ...values) : query))
  const raw: RawSql & Required<Pick<Database, '$sendRaw' | '$begun'>> = {
    async $queryRaw<T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) {
      // The caller knows the selected columns.
      return (await run(query, values)).rows as T
    },
    $executeRaw: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    async $queryRawUnsafe<T>(text: string, ...values: unknown[]) {
      return (await send(prepared({ text, values }))).rows as T
    },
    $executeRawUnsafe: async (text, ...values) => (await send(prepared({ text, values }))).rowCount ?? 0,
    $sendRaw(statement) {
      run(statement, []).catch(() => {})
    },
    $begun: begun,
  }
  const models = new Map<string, object>()
  const modelOf = (name: string): object => {
    const model = models.get(name) ?? modelOn(name, typed)
    models.set(name, model)
    return model
  }
  // The models that Prisma has are those of the client.
  return new Proxy(raw, {
    get(target, name) {
      if (Reflect.has(target, name)) return Reflect.get(target, name)
      if (typeof name === 'symbol' || name.startsWith('$') || !Reflect.has(prisma, name)) return undefined
      return modelOf(name)
    },
  }) as unknown as Database
}

type Call = (...args: unknown[]) => unknown

/** Returns a model, whose methods run in the transaction. */
function modelOn(name: string, typed: Joined): object {
  const methodOf = (client: Database, method: string | symbol) => {
    const model = Reflect.get(client, name) as object
    return (Reflect.get(model, method) as Call).bind(model)
  }
  return new Proxy(
    {},
    {
      get:
        (_, method) =>
        (...args: unknown[]) =>
          typed.client
            ? methodOf(typed.client, method)(...args)
            : typed.join().then((client) => methodOf(client, method)(...args)),
    },
  )
}
