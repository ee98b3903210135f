// @slow
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyArchive } from '../../src/backup/archive.ts'
import { scheduleBackups } from '../../src/backup/schedule.ts'
import { serveSnapshots } from '../../src/backup/snapshot.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

let dataDir = ''
let directory = ''
let now = new Date('2026-11-23T12:00:00.400Z')

beforeAll(async () => {
  dataDir = await scratch()
  const database = await openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  atTheEnd(() => database.close())
  atTheEnd(await serveSnapshots(dataDir, database.pool, silent))
})
beforeEach(async () => {
  directory = join(await scratch(), 'backups')
  now = new Date('2026-11-23T12:00:00.400Z')
})

async function scratch(): Promise<string> {
  const { path, remove } = await temporaryDirectory()
  atTheEnd(remove)
  return path
}

const settings = () => ({
  ...{ DATA_DIR: dataDir, DATABASE_URL: undefined, SECRET_KEY: undefined },
  ...{ BACKUP_DIR: directory, BACKUP_EVERY_HOURS: 6, BACKUP_KEEP: 2, ALLCLEAR_BACKUP_PASSPHRASE: 'correct horse' },
})
function scheduled() {
  const backups = scheduleBackups(settings(), () => now)
  if (backups === null) throw new Error('Nothing is scheduled.')
  return backups
}
const pass = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds)
}
const names = async () => (await readdir(directory)).sort()

describe('scheduled backups', () => {
  test('are off without a directory', () => {
    expect(scheduleBackups({ ...settings(), BACKUP_DIR: undefined }, () => now)).toBe(null)
  })

  test('run when due, also after a restart, and delete the oldest', async () => {
    const backups = scheduled()
    expect(backups.state().lastAt).toBe(null)
    expect(await backups.run()).toBe(HOUR)
    expect(await names()).toEqual(['allclear-2026-11-23T12-00-00Z.backup'])
    await verifyArchive(join(directory, 'allclear-2026-11-23T12-00-00Z.backup'), 'correct horse')
    expect(backups.state()).toMatchObject({ lastAt: new Date('2026-11-23T12:00:00Z'), failures: 0, failure: null })
    expect(backups.state().bytes).toBeGreaterThan(1000)

    pass(5 * HOUR + 30 * MINUTE)
    const restarted = scheduled()
    expect(await restarted.run()).toBe(30 * MINUTE - 400)
    expect(await names()).toHaveLength(1)
    expect(restarted.state().lastAt).toEqual(new Date('2026-11-23T12:00:00Z'))

    await writeFile(join(directory, 'mine.backup'), 'by hand')
    await writeFile(join(directory, 'allclear-2026-11-23T12-00-00Z.backup.unfinished'), 'interrupted')
    await mkdir(join(directory, 'allclear-2026-11-23T12-00-00Z.backup.snapshot'))
    for (let round = 0; round < 2; round++) {
      pass(6 * HOUR)
      await restarted.run()
    }
    expect(await names()).toEqual([
      'allclear-2026-11-23T23-30-00Z.backup',
      'allclear-2026-11-24T05-30-00Z.backup',
      'mine.backup',
    ])
  })

  test('that fail delete nothing, are reported, and are retried', async () => {
    const backups = scheduled()
    await backups.run()
    const before = await names()
    pass(7 * HOUR)
    const broken = scheduleBackups({ ...settings(), DATA_DIR: join(directory, 'none') }, () => now)
    await expect(broken?.run()).rejects.toThrow('There is no database')
    expect(broken?.state()).toMatchObject({
      failures: 1,
      failure: { at: now, message: expect.stringContaining('none') },
    })
    expect(await names()).toEqual(before)

    await writeFile(join(directory, '..', 'file'), '')
    const noPlace = scheduleBackups({ ...settings(), BACKUP_DIR: join(directory, '..', 'file') }, () => now)
    await expect(noPlace?.run()).rejects.toThrow()
    expect(noPlace?.state().failures).toBe(1)

    pass(10 * MINUTE)
    await backups.run()
    expect(backups.state().failure).toBe(null)
    expect(await names()).toHaveLength(2)
  })

  test('run even if an existing backup is dated in the future', async () => {
    await mkdir(directory)
    await chmod(directory, 0o700)
    await writeFile(join(directory, 'allclear-2030-01-01T00-00-00Z.backup'), 'made while the clock was wrong')
    const backups = scheduled()
    await backups.run()
    expect(backups.state().lastAt).toEqual(new Date('2026-11-23T12:00:00Z'))
    pass(HOUR)
    await backups.run()
    expect(await names()).toHaveLength(2)
  })
})
