// @slow
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { openChangeFeed, serveChanges } from '../../src/backup/change-feed.ts'
import { beginLog, beginLogOnServer, requireLog } from '../../src/backup/change-log.ts'
import { CHANGE_LOG } from '../../src/backup/dump.ts'
import { move } from '../../src/backup/move.ts'
import { serveSnapshots } from '../../src/backup/snapshot.ts'
import { newId } from '../../src/core/id.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { openDatabase } from '../../src/database/client.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { contentOf } from '../support/rows.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const SECRET = 'a secret key that is long enough to be one'
const now = new Date('2026-11-23T12:00:00Z')

async function scratch(): Promise<string> {
  const { path, remove } = await temporaryDirectory()
  atTheEnd(remove)
  return path
}

async function open(place: { dataDir?: string; databaseUrl?: string }): Promise<DatabaseHandle> {
  const database = await openDatabase({ dataDir: '', databaseUrl: undefined, log: silent, ...place })
  atTheEnd(() => database.close())
  return database
}

async function emptyServer(): Promise<string> {
  const { url, remove } = await serverDatabase(serverUrl ?? '')
  atTheEnd(remove)
  return url
}

const add = ({ prisma }: DatabaseHandle, slug: string) =>
  prisma.organization.create({
    data: {
      id: newId('Organization'),
      createdAt: now,
      slug,
      name: `Näme "${slug}" (a)\n`,
      contactEmail: 'a@b.example',
      timeZone: 'UTC',
    },
  })

/** Inserts results that fill several batches, deletes and changes some of these and of earlier results, and changes keys. */
async function changeResults({ pool }: DatabaseHandle): Promise<void> {
  await pool.query(insertResults(2000, 5000))
  await pool.query(`DELETE FROM "ProbeResult" WHERE "latencyMs" % 7 = 0`)
  await pool.query(`UPDATE "ProbeResult" SET message = 'changed' WHERE "latencyMs" % 11 = 0`)
  await pool.query(`UPDATE "ProbeResult" SET region = 'a' WHERE "latencyMs" % 13 = 0`)
  // Sorts before all other keys, and restores a deleted one.
  await pool.query(insertResults(-5, 0))
  await pool.query(insertResults(7, 7))
}

const insertResults = (first: number, last: number) =>
  `INSERT INTO "ProbeResult" ("monitorId", at, region, outcome, "latencyMs", message)
   SELECT 'mon_1', '2026-11-23T12:00:00Z'::timestamptz + n * interval '1 second', 'local', 'UP', n, 'HTTP "200"'
   FROM generate_series(${first}, ${last}) n`

/** Swaps the values of a unique column between two organizations. */
async function swapSlugs({ prisma }: DatabaseHandle, one: string, other: string): Promise<void> {
  const rename = (slug: string, to: string) => prisma.organization.update({ where: { slug }, data: { slug: to } })
  await rename(one, 'between')
  await rename(other, one)
  await rename('between', other)
}

const logsOf = async ({ pool }: DatabaseHandle) => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relname = $1
     UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE $1 || '%'
     UNION ALL SELECT proname FROM pg_proc WHERE proname = $1`,
    [CHANGE_LOG],
  )
  return rows
}

const settings = (dataDir: string, databaseUrl?: string) => ({
  ...{ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: undefined },
})

/** Stops a service that inserted, changed and deleted rows after the copy. */
function service(database: DatabaseHandle, gone: string, stop: () => Promise<unknown>) {
  const progress: string[] = []
  let content: Record<string, string[]> = {}
  let changing: Promise<void> = Promise.resolve()
  let ended: Promise<void> = Promise.resolve()
  async function change() {
    for (let index = 0; index < 5; index++) await add(database, `late-${index}`)
    await database.prisma.organization.update({ where: { slug: 'acme-1' }, data: { name: 'Renamed' } })
    await changeResults(database)
    await swapSlugs(database, 'acme-5', 'acme-6')
    // Deleting an organization frees its slug.
    await database.prisma.organization.delete({ where: { slug: 'acme-2' } })
    await add(database, 'acme-2')
    await database.prisma.organization.delete({ where: { slug: gone } })
  }
  async function end() {
    await changing
    await add(database, 'late-at-last')
    content = await contentOf(database)
    Reflect.deleteProperty(content, CHANGE_LOG)
    await stop()
  }
  const watcher = {
    copied: () => {
      progress.push('copied')
      changing = change()
    },
    waiting: () => {
      progress.push('waiting')
      ended = end()
    },
  }
  return { watcher, progress, content: () => ended.then(() => content) }
}

test('a data directory is not moved to another', async () => {
  await expect(
    move(settings(await scratch()), await scratch(), service({} as DatabaseHandle, '', async () => {}).watcher),
  ).rejects.toThrow('stop the service and copy it')
})

test('a service logs changes while a move is connected', async () => {
  const dataDir = await scratch()
  const database = await open({ dataDir })
  const end = await serveChanges(dataDir, database.pool, silent)
  const feed = await openChangeFeed(dataDir)
  await expect(openChangeFeed(dataDir)).rejects.toThrow('Another move is running')
  await add(database, 'acme')
  const batch = await feed?.take()
  expect(batch?.isLast).toBe(true)
  expect(batch?.changed.map(({ table }) => table).sort()).toEqual(['Organization', 'Page'])
  // Changes stay in the log until the next batch is read.
  expect(await logsOf(database)).not.toEqual([])
  feed?.close()
  await vi.waitFor(async () => expect(await logsOf(database)).toEqual([]))

  // A move that was killed after the service had stopped.
  const left = await beginLog(database.pool)
  await requireLog(database.pool, left)
  await end()
  const endAgain = await serveChanges(dataDir, database.pool, silent)
  expect(await logsOf(database)).toEqual([])
  await expect(requireLog(database.pool, left)).rejects.toThrow('restarted during the move')
  await endAgain()
})

describe.skipIf(serverUrl === undefined)('a move', () => {
  test('to a server and back contains everything that was written until the service stopped', async () => {
    const [dataDir, url] = [await scratch(), await emptyServer()]
    const database = await open({ dataDir })
    await writeFile(join(dataDir, 'secret.key'), SECRET)
    const ends = [
      await serveSnapshots(dataDir, database.pool, silent),
      await serveChanges(dataDir, database.pool, silent),
    ]
    await database.pool.query(insertResults(1, 1999))
    for (let index = 0; index < 30; index++) await add(database, `acme-${index}`)
    const embedded = service(database, 'acme-3', async () => {
      for (const end of ends) await end()
      await database.close()
    })
    const moved = await move(settings(dataDir), url, embedded.watcher)
    expect(embedded.progress).toEqual(['copied', 'waiting'])
    const server = await open({ databaseUrl: url })
    const content = await embedded.content()
    expect(await contentOf(server)).toEqual(content)
    expect(moved.counts.get('Organization')).toBe(35)
    expect(moved.caughtUp).toBeGreaterThan(3000)
    expect(await logsOf(await open({ dataDir }))).toEqual([])
    expect(await readdir(dataDir)).not.toContain('move.snapshot')
    // Triggers and foreign keys are unchanged.
    const { id } = await add(server, 'after')
    expect(await server.prisma.page.count({ where: { organizationId: id } })).toBe(1)
    await server.prisma.organization.delete({ where: { id } })
    expect(await server.prisma.page.count({ where: { organizationId: id } })).toBe(0)
    await server.prisma.organization.deleteMany({ where: { slug: { startsWith: 'late' } } })
    await server.prisma.probeResult.deleteMany()
    await server.pool.query(insertResults(1, 1999))

    const place = await scratch()
    // Like a service, which is connected all the time.
    const stopListening = await server.listen('any', () => {})
    const onServer = service(server, 'acme-4', async () => {
      await stopListening()
      await server.close()
    })
    await move(settings(dataDir, url), place, onServer.watcher)
    expect(onServer.progress).toEqual(['copied', 'waiting'])
    expect(await contentOf(await open({ dataDir: place }))).toEqual(await onServer.content())
    expect(await readFile(join(place, 'secret.key'), 'utf8')).toBe(SECRET)
    expect(await logsOf(await open({ databaseUrl: url }))).toEqual([])
  })

  test('that was killed leaves nothing harmful in the database of a server', async () => {
    const url = await emptyServer()
    const server = await open({ databaseUrl: url })
    await add(server, 'acme')
    const killed = new pg.Client(url)
    await killed.connect()
    await beginLogOnServer(killed)
    await add(server, 'logged')
    await expect(move(settings('', url), await scratch(), service(server, '', async () => {}).watcher)).rejects.toThrow(
      'Another move',
    )
    const count = async () => (await server.pool.query(`SELECT FROM "${CHANGE_LOG}"`)).rowCount
    const logged = await count()
    expect(logged).toBeGreaterThan(0)
    await killed.end()
    await add(server, 'not-logged')
    expect(await count()).toBe(logged)
    const content = await contentOf(server)
    Reflect.deleteProperty(content, CHANGE_LOG)
    await server.close()

    const place = await scratch()
    await move(settings(await scratch(), url), place, { copied: () => {}, waiting: () => {} })
    expect(await contentOf(await open({ dataDir: place }))).toEqual(content)
    expect(await logsOf(await open({ databaseUrl: url }))).toEqual([])
  })

  test('is refused into a destination with data, and can be repeated after an interruption', async () => {
    const [dataDir, url] = [await scratch(), await emptyServer()]
    const database = await open({ dataDir })
    for (let index = 0; index < 4; index++) await add(database, `acme-${index}`)
    const content = await contentOf(database)
    await database.close()
    const idle = { copied: () => {}, waiting: () => {} }
    const interrupted = { ...idle, copied: fail }
    await expect(move(settings(dataDir), url, interrupted)).rejects.toThrow('killed')
    // An incomplete copy is not mistaken for a complete one.
    await expect(open({ databaseUrl: url })).rejects.toThrow('has not finished')
    await move(settings(dataDir), url, idle)
    const server = await open({ databaseUrl: url })
    expect(await contentOf(server)).toEqual(content)
    await server.close()
    await expect(move(settings(dataDir), url, idle)).rejects.toThrow('already has tables')
    await expect(move(settings(dataDir, url), dataDir, idle)).rejects.toThrow('already has a database')

    const place = await scratch()
    await expect(move(settings(dataDir, url), place, interrupted)).rejects.toThrow('killed')
    expect(existsSync(join(place, 'database'))).toBe(false)
    await move(settings(dataDir, url), place, idle)
    expect(await contentOf(await open({ dataDir: place }))).toEqual(content)
  })
})

function fail(): never {
  throw new Error('killed')
}
