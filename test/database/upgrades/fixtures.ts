import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readArchive } from '../../../src/backup/archive.ts'
import type { DumpHead } from '../../../src/backup/dump.ts'

const directory = fileURLToPath(new URL('.', import.meta.url))

const isRelease = (name: string) => /^\d+\.\d+\.\d+$/.test(name)
const order = new Intl.Collator('en', { numeric: true })

/** The versions with a stored database, oldest first: migrations from before the first release, then releases. */
export const fixtures = (await readdir(directory))
  .flatMap((file) => /^(.+)\.backup$/.exec(file)?.[1] ?? [])
  .sort((one, other) => Number(isRelease(one)) - Number(isRelease(other)) || order.compare(one, other))

/** The versions of `fixtures` that were released. */
export const releases = fixtures.filter(isRelease)

/** Returns the file of a version. */
export const fileOf = (version: string): string => `${directory}${version}.backup`

/** Returns the names of the migrations that a version had. */
export async function migrationsOf(version: string): Promise<string[]> {
  const lines = readArchive(fileOf(version), null)
  const { value } = await lines.next()
  await lines.return(undefined)
  const { migrations }: DumpHead = JSON.parse(value ?? '{"migrations":{}}')
  return Object.keys(migrations)
}
