import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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

const settings = (dataDir: string, databaseUrl?: string) => ({
  ...{ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: undefined },
})

/** Stops a service that wrote, changed and deleted after it was copied. */
function service(database: DatabaseHandle, gone: string, stop: () => Promise<unknown>) {
  const told: string[] = []
  let content: Record<string, string[]> = {}
  let changing: Promise<void> = Promise.resolve()
  async function change() {
    for (let index = 0; index < 5; index++) await add(database, `late-${index}`)
    await database.prisma.organization.update({ where: { slug: 'acme-1' }, data: { name: 'Renamed' } })
    // What is deleted frees its slug.
    await database.prisma.organization.delete({ where: { slug: 'acme-2' } })
    await add(database, 'acme-2')
    await database.prisma.organization.delete({ where: { slug: gone } })
    content = await contentOf(database)
    await stop()
  }
  const watcher = {
    copied: () => {
      told.push('copied')
      changing = change()
    },
    waiting: () => void told.push('waiting'),
  }
  return { watcher, told, content: () => changing.then(() => content) }
}

test('a data directory is not moved to another', async () => {
  await expect(
    move(settings(await scratch()), await scratch(), service({} as DatabaseHandle, '', async () => {}).watcher),
  ).rejects.toThrow('by copying')
})

describe.skipIf(serverUrl === undefined)('a move', () => {
  test('to a server and back has all that was written until the service stopped', async () => {
    const [dataDir, url] = [await scratch(), await emptyServer()]
    const database = await open({ dataDir })
    await writeFile(join(dataDir, 'secret.key'), SECRET)
    const end = await serveSnapshots(dataDir, database.pool, silent)
    for (let index = 0; index < 30; index++) await add(database, `acme-${index}`)
    const embedded = service(database, 'acme-3', async () => {
      await end()
      await database.close()
    })
    const moved = await move(settings(dataDir), url, embedded.watcher)
    expect(embedded.told).toEqual(['copied', 'waiting'])
    const server = await open({ databaseUrl: url })
    const content = await embedded.content()
    expect(await contentOf(server)).toEqual(content)
    expect(moved.counts.get('Organization')).toBe(34)
    expect(await readdir(dataDir)).not.toContain('move.snapshot')
    // Triggers and foreign keys are as they were.
    const { id } = await add(server, 'after')
    expect(await server.prisma.page.count({ where: { organizationId: id } })).toBe(1)
    await server.prisma.organization.delete({ where: { id } })
    expect(await server.prisma.page.count({ where: { organizationId: id } })).toBe(0)
    await server.prisma.organization.deleteMany({ where: { slug: { startsWith: 'late' } } })

    const place = await scratch()
    const onServer = service(server, 'acme-4', () => server.close())
    await move(settings(dataDir, url), place, onServer.watcher)
    expect(onServer.told).toEqual(['copied', 'waiting'])
    expect(await contentOf(await open({ dataDir: place }))).toEqual(await onServer.content())
    expect(await readFile(join(place, 'secret.key'), 'utf8')).toBe(SECRET)
  })

  test('is refused into a place with data, and can be repeated when it was interrupted', async () => {
    const [dataDir, url] = [await scratch(), await emptyServer()]
    const database = await open({ dataDir })
    for (let index = 0; index < 4; index++) await add(database, `acme-${index}`)
    const content = await contentOf(database)
    await database.close()
    const idle = { copied: () => {}, waiting: () => {} }
    const interrupted = { ...idle, copied: fail }
    await expect(move(settings(dataDir), url, interrupted)).rejects.toThrow('killed')
    // Nobody takes what is there for the whole.
    await expect(open({ databaseUrl: url })).rejects.toThrow('has not ended')
    await move(settings(dataDir), url, idle)
    const server = await open({ databaseUrl: url })
    expect(await contentOf(server)).toEqual(content)
    await server.close()
    await expect(move(settings(dataDir), url, idle)).rejects.toThrow('has tables already')
    await expect(move(settings(dataDir, url), dataDir, idle)).rejects.toThrow('has a database already')

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
