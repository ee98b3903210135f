import { inject } from 'vitest'
import { copyDataDir, serverDatabase, serverUrl } from './database.ts'
import { temporaryDirectory } from './scratch.ts'

/** The operator's token of every service under test. */
export const operatorToken = 'op_token-of-the-tests'

/** The data directory of a service under test: a copy of the suite's migrated, empty database. */
export async function testData(): Promise<{ dataDir: string; settings: NodeJS.ProcessEnv; remove(): Promise<void> }> {
  const { path: dataDir, remove } = await temporaryDirectory()
  const template = inject('databaseTemplate')
  if (serverUrl === undefined) {
    copyDataDir(template, dataDir)
    return { dataDir, settings: {}, remove }
  }
  const own = await serverDatabase(serverUrl, template)
  return {
    dataDir,
    settings: { DATABASE_URL: own.url },
    remove: async () => {
      await own.remove()
      await remove()
    },
  }
}
