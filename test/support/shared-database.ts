import { inject } from 'vitest'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { copyDataDir, openPatiently, serverDatabase, serverUrl } from './database.ts'
import { temporaryDirectory } from './scratch.ts'

/** A database that several processes use one after another. */
export async function ownDatabase(): Promise<{ where: string; remove(): Promise<void> }> {
  const template = inject('databaseTemplate')
  if (serverUrl !== undefined) {
    const { url, remove } = await serverDatabase(serverUrl, template)
    return { where: url, remove }
  }
  const { path, remove } = await temporaryDirectory()
  copyDataDir(template, path)
  return { where: path, remove }
}

/** Opens it, runs `work` and closes it for the next process. */
export async function using<T>(where: string, work: (database: DatabaseHandle) => Promise<T>): Promise<T> {
  const databaseUrl = where.startsWith('postgresql:') ? where : undefined
  const database = await openPatiently({ dataDir: where, databaseUrl })
  return work(database).finally(() => database.close())
}
