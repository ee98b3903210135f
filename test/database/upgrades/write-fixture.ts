/**
 * `npm run upgrade-fixture -- 1.2.0` writes test/database/upgrades/1.2.0.backup: a backup of a database with the
 * current migrations and rows in every table. `test/database/upgrade.test.ts` upgrades it to every later version. Given
 * the name of a migration instead of a version, applies the migrations up to that one.
 */
import { fileURLToPath } from 'node:url'
import { writeArchive } from '../../../src/backup/archive.ts'
import { onEmbedded } from '../../../src/backup/backup.ts'
import { dump } from '../../../src/backup/dump.ts'
import { applyOn, migrationsDirectory, readMigrations } from '../../../src/database/migration/migrate.ts'
import { temporaryDirectory } from '../../support/scratch.ts'
import { fillTables } from './sample-rows.ts'

const migrations = await readMigrations(migrationsDirectory)
for (const name of process.argv.slice(2)) {
  const last = migrations.findIndex((migration) => migration.name === name)
  if (last === -1 && !/^\d+\.\d+\.\d+$/.test(name)) {
    throw new Error(`${name} is neither a version such as 1.2.0 nor a migration.`)
  }
  await writeFixture(name, last === -1 ? migrations : migrations.slice(0, last + 1))
}

async function writeFixture(name: string, applied: typeof migrations): Promise<void> {
  const { path, remove } = await temporaryDirectory()
  const file = fileURLToPath(new URL(`${name}.backup`, import.meta.url))
  try {
    await onEmbedded(
      `${path}/database`,
      async (connection) => {
        await applyOn(connection, applied)
        await fillTables(connection)
        await writeArchive(file, dump(connection, null), { passphrase: null, now: new Date('2026-11-24T00:00:00Z') })
      },
      async () => null,
    )
  } finally {
    await remove()
  }
  process.stdout.write(`Wrote ${file}.\n`)
}
