import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { demoteOutages } from '../../../src/app/log.ts'
import { DatabaseUnavailable, Invalid, NotFound } from '../../../src/core/errors.ts'
import { type DatabaseProblem, problemOf, unavailability } from '../../../src/database/connection/unavailable.ts'
import { serializeQueries } from '../../../src/database/embedded/serialized-queries.ts'
import { PrismaClient } from '../../../src/generated/prisma/client.ts'
import { testDatabase } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'

const { prisma, pool } = await testDatabase()

/** Returns the reason with which a promise rejects. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => new Error('It did not fail.'),
    (error: Error) => error,
  )
const withCode = (code: string, message = 'no') => Object.assign(new Error(message), { code })

describe('the problem that an error reports', () => {
  test.each<[unknown, DatabaseProblem | null]>([
    [withCode('25006', 'cannot execute INSERT in a read-only transaction'), 'read-only'],
    [withCode('53100', 'could not extend file: No space left on device'), 'full'],
    [withCode('53300', 'sorry, too many clients already'), 'unreachable'],
    [withCode('57P01', 'terminating connection due to administrator command'), 'unreachable'],
    [withCode('57P03', 'the database system is starting up'), 'unreachable'],
    [withCode('57014', 'canceling statement due to statement timeout'), 'unreachable'],
    [withCode('08006'), 'unreachable'],
    [withCode('28P01', 'password authentication failed'), 'unreachable'],
    [withCode('3D000', 'database "gone" does not exist'), 'unreachable'],
    [withCode('P1003'), 'unreachable'],
    [withCode('58030'), 'unreachable'],
    [new Error('Query read timeout'), 'unreachable'],
    [new Error('timeout exceeded when trying to connect'), 'unreachable'],
    [new Error('Connection terminated unexpectedly'), 'unreachable'],
    [new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]), 'unreachable'],
    [withCode('ENOTFOUND'), 'unreachable'],
    [withCode('P1001'), 'unreachable'],
    [withCode('P1002'), 'unreachable'],
    [withCode('P1008'), 'unreachable'],
    [withCode('P1017'), 'unreachable'],
    [withCode('P2024'), 'unreachable'],
    [withCode('P2028'), 'unreachable'],
    [
      Object.assign(withCode('P2010'), {
        meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: '25006' } } },
      }),
      'read-only',
    ],
    [
      Object.assign(withCode('P2010'), { meta: { driverAdapterError: { cause: { kind: 'ConnectionClosed' } } } }),
      'unreachable',
    ],
    [
      Object.assign(withCode('P2010'), { meta: { driverAdapterError: { cause: { kind: 'DatabaseDoesNotExist' } } } }),
      'unreachable',
    ],
    [new Error('outer', { cause: withCode('53100') }), 'full'],
    [withCode('23505', 'duplicate key'), null],
    [withCode('42P01', 'no such table'), null],
    [withCode('40001', 'could not serialize'), null],
    [withCode('P2002'), null],
    [new Error('anything'), null],
    [null, null],
  ])('%s: %s', (error, trouble) => expect(problemOf(error)).toBe(trouble))
})

describe('errors that count as an outage', () => {
  test('a server that refuses connections: statement, transaction and batch', async () => {
    const away = new pg.Pool({ host: '127.0.0.1', port: await freePort(), user: 'nobody', database: 'nothing' })
    const client = new PrismaClient({ adapter: new PrismaPg(serializeQueries(away)) })
    const failures = [
      client.organization.count(),
      client.$queryRaw`SELECT 1`,
      client.$transaction((tx) => tx.organization.count()),
      client.$transaction([client.organization.count()]),
    ]
    for (const error of await Promise.all(failures.map(failure))) {
      expect(unavailability(error)).toBeInstanceOf(DatabaseUnavailable)
    }
    await client.$disconnect()
  })

  test('a transaction that timed out', async () => {
    const late = prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT pg_sleep(0.3)::text`
        return tx.organization.count()
      },
      { timeout: 100 },
    )
    expect(unavailability(await failure(late))).toBeInstanceOf(DatabaseUnavailable)
  })

  test.each(['25006', '53100'])('a database that reports %s: statement and transaction', async (code) => {
    const statement = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`
    const failures = [
      pool.query(statement),
      prisma.$executeRawUnsafe(statement),
      prisma.$transaction((tx) => tx.$executeRawUnsafe(statement)),
    ]
    for (const error of await Promise.all(failures.map(failure))) {
      expect(unavailability(error)).toBeInstanceOf(DatabaseUnavailable)
    }
  })

  test('do not include statement errors, domain errors and failures of other connections', async () => {
    const others = [
      await failure(pool.query('SELECT 1 / 0')),
      await failure(prisma.$queryRaw`SELECT 1 / 0`),
      new NotFound('Nothing.'),
      new Invalid('INVALID_INPUT', 'No.'),
      withCode('ECONNREFUSED', 'the mail server'),
      new Error('fetch failed', { cause: withCode('ETIMEDOUT') }),
    ]
    expect(others.map(unavailability)).toEqual(others.map(() => null))
  })
})

test('are logged at level debug; other errors keep their level', () => {
  const lines: unknown[] = []
  const log = pino({ level: 'debug', hooks: demoteOutages }, { write: (line) => lines.push(JSON.parse(line)) })
  log.error({ err: new DatabaseUnavailable() }, 'could not read')
  log.error({ err: new Error('a bug') }, 'could not read')
  log.warn({ results: 3 }, 'results are lost')
  log.fatal({ err: new DatabaseUnavailable() }, 'cannot go on')
  expect(lines).toMatchObject([{ level: 20 }, { level: 50 }, { level: 40, msg: 'results are lost' }, { level: 60 }])
})
