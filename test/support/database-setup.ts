import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database/client.ts'
import { dropDatabases, serverDatabase, serverUrl } from './database.ts'
import { silent } from './scratch.ts'
import { embeddedTemplate } from './template.ts'

/** State that several projects of a run share, because each loads this module separately. */
const shared = globalThis as { databaseTemplate?: Promise<string> }

/** Creates the migrated, empty database that the test files of a project copy. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  shared.databaseTemplate ??= serverUrl === undefined ? embeddedTemplate() : serverTemplate(serverUrl)
  const template = await shared.databaseTemplate
  project.provide('databaseTemplate', template)
  if (serverUrl === undefined) return
  const url = serverUrl
  return () => dropDatabases(url, template)
}

async function serverTemplate(on: string): Promise<string> {
  const { name, url } = await serverDatabase(on)
  const database = await openDatabase({ dataDir: '', databaseUrl: url, log: silent })
  await database.close()
  return name
}
