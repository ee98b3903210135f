import { tmpdir } from 'node:os'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database/client.ts'
import { bundleProcesses } from './child.ts'
import { serverDatabase, serverUrl } from './database.ts'
import { writeGeoFiles } from './geo-files.ts'
import { placeTemporaryFiles, silent, temporaryDirectory } from './scratch.ts'

/** Makes what a run's test files share: the place for their files, and the migrated, empty database that they copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await bundleProcesses()
  const removeFiles = await placeTemporaryFiles()
  project.provide('geoFiles', await writeGeoFiles(tmpdir()))
  if (serverUrl !== undefined) {
    const { name, url, remove } = await serverDatabase(serverUrl)
    await migrated('', url)
    project.provide('databaseTemplate', name)
    return () => remove().then(removeFiles)
  }
  const { path } = await temporaryDirectory()
  await migrated(path, undefined)
  project.provide('databaseTemplate', path)
  return removeFiles
}

async function migrated(dataDir: string, databaseUrl: string | undefined): Promise<void> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  await database.close()
}
