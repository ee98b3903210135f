// @slow
import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, type TestContext, test } from 'vitest'
import { StartError } from '../../../src/core/errors.ts'
import { openDatabase } from '../../../src/database/client.ts'
import { asOpenError, FILES_VERSION, holdsDatabase } from '../../../src/database/embedded/embedded-directory.ts'
import { copyDataDir, serverUrl } from '../../support/database.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'

describe.skipIf(serverUrl !== undefined)('the directory of the embedded database', () => {
  let dataDir: string
  let database: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const temporary = await temporaryDirectory()
    dataDir = join(temporary.path, 'data')
    database = join(dataDir, 'database')
    remove = temporary.remove
  })
  afterEach(() => remove())

  const filesIn = async (directory: string) => (await readdir(directory, { recursive: true })).sort()
  const open = () => openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  const refusal = async () => {
    const error = await open().then(
      async (opened) => {
        await opened.close()
        return null
      },
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(StartError)
    return String((error as StartError).message)
  }
  const wal = async () => (await readdir(join(database, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name))

  test('is created if it is missing, and is complete then', async () => {
    expect(await holdsDatabase(database)).toBe(false)
    await mkdir(database, { recursive: true })
    expect(await holdsDatabase(database)).toBe(false)
    await rm(dataDir, { recursive: true })
    copyDataDir(inject('databaseTemplate'), dataDir)
    expect((await readFile(join(database, 'PG_VERSION'), 'utf8')).trim()).toBe(FILES_VERSION)
    expect(await holdsDatabase(database)).toBe(true)
  })

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['without PG_VERSION', () => rm(join(database, 'PG_VERSION')), /contains files but no PG_VERSION/],
    ['with an empty PG_VERSION', () => truncate(join(database, 'PG_VERSION'), 0), /has a damaged PG_VERSION/],
    ['of another version', () => writeFile(join(database, 'PG_VERSION'), '16\n'), /is a database of PostgreSQL 16;/],
    ['without its control file', () => rm(join(database, 'global/pg_control')), /global\/pg_control is missing/],
    [
      'with half a control file',
      () => truncate(join(database, 'global/pg_control'), 4096),
      /has 4096 bytes instead of 8192/,
    ],
    ['without its log', () => rm(join(database, 'pg_wal'), { recursive: true }), /pg_wal is missing/],
    ['without its tables', () => rm(join(database, 'base'), { recursive: true }), /base is missing/],
    [
      'whose log was truncated',
      async () => {
        for (const name of await wal()) await truncate(join(database, 'pg_wal', name), 100)
      },
      /PostgreSQL cannot start from its files/,
    ],
    [
      'whose control file is garbage',
      () => writeFile(join(database, 'global/pg_control'), Buffer.alloc(8192, 7)),
      /PostgreSQL cannot start from its files/,
    ],
  ])('%s is rejected with a clear message and not modified', async (_what, damage, said) => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    await damage()
    const before = await filesIn(database)
    const message = await refusal()
    expect(message).toMatch(said)
    expect(message).toMatch(/Restore it from a backup, or move it away/)
    expect(message).not.toMatch(/Aborted|ASSERTIONS|wasm|RuntimeError/)
    expect((await filesIn(database)).filter((name) => before.includes(name))).toEqual(before)
  })

  test('with foreign files is rejected and not modified', async () => {
    await mkdir(database, { recursive: true })
    await writeFile(join(database, 'photo.jpg'), 'x')
    expect(await refusal()).toMatch(/contains files but no PG_VERSION/)
    expect(await readdir(database)).toEqual(['photo.jpg'])
  })

  test('that is a file is rejected', async () => {
    await mkdir(dataDir, { recursive: true })
    await writeFile(database, '')
    expect(await refusal()).toContain('is a file, not a directory')
  })

  test('opens again once the missing files are back', async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    const aside = join(dataDir, '..', 'aside')
    await rename(join(database, 'PG_VERSION'), aside)
    await refusal()
    await rename(aside, join(database, 'PG_VERSION'))
    await (await open()).close()
  })

  /** Mounts a small file system for the test, if this user may. */
  async function mounted(given: TestContext, options: string, use: (path: string) => Promise<void>): Promise<void> {
    await mkdir(dataDir, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dataDir], { stdio: 'ignore' })
    } catch {
      given.skip('mounting a file system is not allowed here')
    }
    try {
      await use(dataDir)
    } finally {
      execFileSync('umount', ['-l', dataDir])
    }
  }

  test('on a read-only file system is reported', (given) =>
    mounted(given, 'size=100m', async (path) => {
      await cp(inject('databaseTemplate'), path, { recursive: true })
      execFileSync('mount', ['-o', 'remount,ro', path])
      expect(await refusal()).toMatch(/read-only file system\. Mount it writable, or set DATA_DIR/)
    }))

  test('on a full file system is reported before the start', (given) =>
    mounted(given, 'size=8m', async () => {
      await writeFile(join(dataDir, 'ballast'), Buffer.alloc(8 * 1024 * 1024)).catch(() => {})
      expect(await refusal()).toMatch(/file system is full\. Free some space/)
    }))
})

test('file system errors get clear messages, other errors stay unchanged', async () => {
  const failed = (code: string) => Object.assign(new Error('x'), { code })
  expect((await asOpenError(failed('ENOSPC'), '/data')).message).toContain(
    '/data cannot be used: its file system is full.',
  )
  expect((await asOpenError(failed('EACCES'), '/data')).message).toContain('this user may not read and write it')
  expect((await asOpenError(new Error('a reason.'), '/data')).message).toContain('/data is damaged: a reason.')
  expect((await asOpenError(new Error('a reason.'), '/data', { isNew: true })).message).toBe(
    'Could not create a database in /data: a reason.',
  )
})
