import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { backUp, restore } from '../../src/backup/backup.ts'
import { copyDatabase, serveSnapshots } from '../../src/backup/snapshot.ts'
import { newId } from '../../src/core/id.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { openDatabase } from '../../src/database/client.ts'
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

/** Adds an organization, whose trigger adds a page, with texts that are hard to carry. */
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
  test('while it is written to, has everything that was acknowledged before, and is restored with its key', async () => {
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
        // As the service does; the log that the backup needs must stay.
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
    // The trigger's pages came with them, and are not there twice.
    expect(await restored.prisma.page.count()).toBe(slugs.length)
    await expect(add(restored, 'before-0')).rejects.toThrow()
    await add(restored, 'after')
  })

  test('without a service is the same, row by row; only into an empty place', async () => {
    const dataDir = await scratch()
    const database = await open(dataDir)
    await add(database, 'acme')
    const content = await contentOf(database)
    await database.close()
    const file = join(dataDir, 'two.backup')
    await backUp(file, settings(dataDir), { passphrase: null, now })
    await expect(backUp(file, settings(dataDir), { passphrase: null, now })).rejects.toThrow('exists already')
    await expect(restore(file, settings(dataDir), null)).rejects.toThrow('has data already')
    const place = await scratch()
    expect((await restore(file, settings(place), null)).hasKey).toBe(false)
    expect(await contentOf(await open(place))).toEqual(content)
  })

  test('that is damaged, cut off, of another passphrase or of a newer version is not restored', async () => {
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
      [Buffer.from('something else\n'), null, 'no backup'],
    ] as const) {
      await writeFile(file, content)
      await expect(restore(file, settings(place), passphrase)).rejects.toThrow(message)
      expect(await readdir(place)).toEqual([])
    }
  })

  test('one at a time, and one that is given up leaves nothing behind', async () => {
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

    await expect(restore(file, at(from), 'correct')).rejects.toThrow('has tables already')
    expect((await restore(file, at(to), 'correct')).hasKey).toBe(false)
    const restored = await onServer(to)
    expect(await contentOf(restored)).toEqual(content)
    await restored.close()

    const place = await scratch()
    await restore(file, settings(place), 'correct')
    expect(await contentOf(await open(place))).toEqual(content)
  })
})
