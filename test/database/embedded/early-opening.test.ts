// @slow
import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { StartError } from '../../../src/core/errors.ts'
import { openDatabase } from '../../../src/database/client.ts'
import { lockDirectory } from '../../../src/database/embedded/directory-lock.ts'
import { provideEarlyOpening, startEarlyOpening } from '../../../src/database/embedded/early-opening.ts'
import { copyDataDir, serverUrl } from '../../support/database.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'

describe.skipIf(serverUrl !== undefined)('an embedded database that was opened early', () => {
  let dataDir: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const temporary = await temporaryDirectory()
    dataDir = join(temporary.path, 'data')
    remove = temporary.remove
  })
  afterEach(() => remove())

  const open = () => openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  const begin = async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    return startEarlyOpening(dataDir)
  }

  test('is locked at once, taken over, and unlocked on close', async () => {
    provideEarlyOpening(await begin())
    await expect(lockDirectory(dataDir)).rejects.toThrow('is in use by process')
    const database = await open()
    expect(await database.prisma.organization.count()).toBe(0)
    await database.close()
    expect(await readdir(dataDir)).toEqual(['database'])
  })

  test('can be opened again after it was closed', async () => {
    provideEarlyOpening(await begin())
    await (await open()).close()
    const again = await open()
    expect(await again.prisma.organization.count()).toBe(0)
    await again.close()
  })

  test('that does not exist yet is not created; the thread opens it after its creation', async () => {
    const opening = await startEarlyOpening(dataDir)
    expect(opening.database).toBeNull()
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT')
    provideEarlyOpening(opening)
    const database = await open()
    expect(opening.thread.listenerCount('message')).toBeGreaterThan(0)
    expect(await database.prisma.organization.count()).toBe(0)
    await database.close()
  })

  test('and is damaged is reported by the regular opening, and its directory is not locked', async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    await rm(join(dataDir, 'database', 'PG_VERSION'))
    const opening = await startEarlyOpening(dataDir)
    expect(opening.database).toBeNull()
    provideEarlyOpening(opening)
    await expect(open()).rejects.toThrow('contains files but no PG_VERSION')
    expect(await readdir(dataDir)).toEqual(['database'])
    await opening.thread.terminate()
  })

  test('and is in use by another process is reported by the regular opening', async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    const lock = await lockDirectory(dataDir)
    const opening = await startEarlyOpening(dataDir)
    expect(opening.database).toBeNull()
    provideEarlyOpening(opening)
    await expect(open()).rejects.toThrow(StartError)
    await lock.release()
    await opening.thread.terminate()
  })

  test.each(['before', 'after'])('whose thread ends %s it is open is reported and unlocked', async (when) => {
    const opening = await begin()
    if (when === 'after') await opening.database?.opened
    const ended = once(opening.thread, 'exit')
    void opening.thread.terminate()
    await ended
    provideEarlyOpening(opening)
    await expect(open()).rejects.toThrow(/is damaged: .*Restore it/s)
    expect(await readdir(dataDir)).toEqual(['database'])
  })
})
