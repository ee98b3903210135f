import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database/client.ts'
import { serverDatabase, serverUrl } from './database.ts'
import { silent, temporaryDirectory } from './scratch.ts'

/** Makes the migrated, empty database that every test file copies, once per run. Gives what removes it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (serverUrl !== undefined) {
    const { name, url, remove } = await serverDatabase(serverUrl)
    await migrated('', url)
    project.provide('databaseTemplate', name)
    return remove
  }
  const { path, remove } = await temporaryDirectory()
  await migrated(path, undefined)
  project.provide('databaseTemplate', path)
  return remove
}

async function migrated(dataDir: string, databaseUrl: string | undefined): Promise<void> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  await database.close()
}
