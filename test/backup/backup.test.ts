// @slow
import { statSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { backUp, restore } from '../../src/backup/backup.ts'
import { copyDatabase, serveSnapshots } from '../../src/backup/snapshot.ts'
import { newId } from '../../src/core/id.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { openDatabase } from '../../src/database/client.ts'
import { MOVE_MARK } from '../../src/database/migration/migrate.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { contentOf } from '../support/rows.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const now = new Date('2026-11-23T12:00:00Z')
const SECRET = 'a secret key that is long enough to be one'

async function scratch(): Promise<string> {
  const { path, remove } = await temporaryDirectory()
  atTheEnd(remove)
  return path
}

async function open(dataDir: string): Promise<DatabaseHandle> {
  const database = await openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  atTheEnd(() => database.close())
  return database
}

const settings = (DATA_DIR: string) => ({ DATA_DIR, DATABASE_URL: undefined, SECRET_KEY: undefined })

/** Creates an organization, whose trigger adds a page, with texts that are hard to encode. */
const add = ({ prisma }: DatabaseHandle, slug: string) =>
  prisma.organization.create({
    data: {
      id: newId('Organization'),
      createdAt: now,
      slug,
      name: `Näme "${slug}" \\ , (a)\n\t'b'`,
      contactEmail: 'a@b.example',
      timeZone: 'UTC',
    },
  })

const namesOf = async ({ pool }: DatabaseHandle) =>
  (await pool.query<{ name: string }>('SELECT name FROM "Organization" ORDER BY slug')).rows.map(({ name }) => name)

describe('a backup of the embedded database', () => {
  test('made during writes contains everything committed before, and is restored with its key', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    await writeFile(join(dataDir, 'secret.key'), SECRET)
    const end = await serveSnapshots(dataDir, database.pool, silent)
    for (let index = 0; index < 20; index++) await add(database, `before-${index}`)

    let isWriting = true
    const acknowledged: string[] = []
    const writing = (async () => {
      for (let index = 0; isWriting; index++) {
        acknowledged.push((await add(database, `during-${index}`)).slug)
        // A checkpoint, as in the service. The log that the backup needs must stay.
        if (index % 10 === 0) await database.pool.query('CHECKPOINT')
      }
    })()
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20)
    const before = [...acknowledged]
    const file = join(dataDir, 'one.backup')
    await backUp(file, settings(dataDir), { passphrase: 'correct horse', now })
    isWriting = false
    await writing
    expect(acknowledged.length).toBeGreaterThan(before.length)
    await end()

    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const raw = await readFile(file, 'latin1')
    for (const secret of [SECRET, 'during-1', 'before-1']) expect(raw).not.toContain(secret)
    expect((await readdir(dataDir)).filter((name) => name.includes('snapshot'))).toEqual([])

    const place = await scratch()
    const { rows, hasKey } = await restore(file, settings(place), 'correct horse')
    expect(hasKey).toBe(true)
    expect(rows).toBeGreaterThan(40)
    expect(await readFile(join(place, 'secret.key'), 'utf8')).toBe(SECRET)
    const restored = await open(place)
    const slugs = (await restored.prisma.organization.findMany({ select: { slug: true } })).map(({ slug }) => slug)
    expect(slugs).toEqual(expect.arrayContaining([...before, 'before-0', 'before-19']))
    // The backup contains the pages of the trigger, and the restore does not add them twice.
    expect(await restored.prisma.page.count()).toBe(slugs.length)
    await expect(add(restored, 'before-0')).rejects.toThrow()
    await add(restored, 'after')
  })

  test('of a stopped service has the same rows, and is restored only into an empty destination', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    await add(database, 'acme')
    const content = await contentOf(database)
    await database.close()
    const file = join(dataDir, 'two.backup')
    await backUp(file, settings(dataDir), { passphrase: null, now })
    await expect(backUp(file, settings(dataDir), { passphrase: null, now })).rejects.toThrow('already exists')
    await expect(restore(file, settings(dataDir), null)).rejects.toThrow('is not empty')
    const place = await scratch()
    expect((await restore(file, settings(place), null)).hasKey).toBe(false)
    expect(await contentOf(await open(place))).toEqual(content)
  })

  test('can be restored again after a crash that left only the key, unless the key differs', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    await add(database, 'acme')
    await database.close()
    await writeFile(join(dataDir, 'secret.key'), SECRET)
    const file = join(dataDir, 'key.backup')
    await backUp(file, settings(dataDir), { passphrase: 'correct', now })

    const place = await scratch()
    const key = join(place, 'secret.key')
    await writeFile(key, 'the key of something else')
    await expect(restore(file, settings(place), 'correct')).rejects.toThrow('is the key of other data')
    expect(await readFile(key, 'utf8')).toBe('the key of something else')
    // The state that a killed run leaves.
    await writeFile(key, SECRET)
    expect((await restore(file, settings(place), 'correct')).hasKey).toBe(true)
    const changedAt = (path: string) => statSync(path, { bigint: true }).ctimeNs
    expect(changedAt(key) <= changedAt(join(place, 'database'))).toBe(true)
    expect(await namesOf(await open(place))).toHaveLength(1)
  })

  test('is not restored if it is damaged, truncated, of a newer version, or with a wrong passphrase', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    await add(database, 'acme')
    await database.close()
    const file = join(dataDir, 'three.backup')
    await backUp(file, settings(dataDir), { passphrase: 'correct', now })
    const whole = await readFile(file)
    const flipped = Buffer.from(whole)
    flipped.writeUInt8((flipped.at(2000) ?? 0) ^ 1, 2000)
    const place = await scratch()
    for (const [content, passphrase, message] of [
      [flipped, 'correct', 'damaged'],
      [whole.subarray(0, -40), 'correct', 'damaged'],
      [Buffer.concat([whole, Buffer.from('more')]), 'correct', 'damaged'],
      [whole, 'wrong', 'passphrase'],
      [whole, null, 'encrypted'],
      [Buffer.from('something else\n'), null, 'isn’t a backup'],
    ] as const) {
      await writeFile(file, content)
      await expect(restore(file, settings(place), passphrase)).rejects.toThrow(message)
      expect(await readdir(place)).toEqual([])
    }
  })

  test('runs one at a time, and leaves nothing behind when aborted', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    const logged: string[] = []
    const log = pino({ base: undefined }, { write: (line: string) => void logged.push(line) })
    const end = await serveSnapshots(dataDir, database.pool, log)
    const copy = (name: string) => copyDatabase(dataDir, join(dataDir, name))
    const both = await Promise.allSettled([copy('a'), copy('b')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect.poll(async () => (await database.pool.query('SELECT 1 FROM pg_replication_slots')).rowCount).toBe(0)
    await copy('c')
    await end()
    expect(logged.some((line) => line.includes('failed'))).toBe(false)
    expect(await namesOf(database)).toEqual([])
  })
})

async function emptyDatabase(): Promise<string> {
  const { url, remove } = await serverDatabase(serverUrl ?? '')
  atTheEnd(remove)
  return url
}

describe.skipIf(serverUrl === undefined)('a backup of a PostgreSQL server', () => {
  test('is restored into an empty server database, and into a data directory', async () => {
    const [from, to] = [await emptyDatabase(), await emptyDatabase()]
    const onServer = (databaseUrl: string) => openDatabase({ dataDir: '', databaseUrl, log: silent })
    const database = await onServer(from)
    for (let index = 0; index < 300; index++) await add(database, `acme-${index}`)
    const content = await contentOf(database)
    const directory = await scratch()
    const file = join(directory, 'server.backup')
    const at = (DATABASE_URL: string) => ({ DATA_DIR: directory, DATABASE_URL, SECRET_KEY: SECRET })
    await backUp(file, at(from), { passphrase: 'correct', now })
    await database.close()

    await expect(restore(file, at(from), 'correct')).rejects.toThrow('already has tables')
    expect((await restore(file, at(to), 'correct')).hasKey).toBe(false)
    const restored = await onServer(to)
    expect(await contentOf(restored)).toEqual(content)
    await restored.close()

    const place = await scratch()
    await restore(file, settings(place), 'correct')
    expect(await contentOf(await open(place))).toEqual(content)
  })

  test('can be restored again after a killed restore, and never overwrites another key', async () => {
    const dataDir = await scratch()
    const embedded = await open(dataDir)
    await add(embedded, 'acme')
    await embedded.close()
    await writeFile(join(dataDir, 'secret.key'), SECRET)
    const file = join(dataDir, 'one.backup')
    await backUp(file, settings(dataDir), { passphrase: null, now })

    const [place, url] = [await scratch(), await emptyDatabase()]
    const client = new pg.Client(url)
    await client.connect()
    await client.query(`CREATE TABLE "${MOVE_MARK}" (); CREATE TABLE "Organization" (id text)`)
    await client.end()
    const openServer = () => openDatabase({ dataDir: '', databaseUrl: url, log: silent })
    await expect(openServer()).rejects.toThrow('has not finished')
    const into = { ...settings(place), DATABASE_URL: url }
    await writeFile(join(place, 'secret.key'), 'the key of something else')
    await expect(restore(file, into, null)).rejects.toThrow('is the key of other data')
    await rm(join(place, 'secret.key'))
    expect((await restore(file, into, null)).hasKey).toBe(true)
    expect(await readFile(join(place, 'secret.key'), 'utf8')).toBe(SECRET)
    const restored = await openServer()
    expect(await namesOf(restored)).toHaveLength(1)
    await restored.close()
  })
})
