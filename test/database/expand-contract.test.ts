import { expect, test } from 'vitest'
import { migrationsDirectory, readMigrations } from '../../src/database/migration/migrate.ts'
import { migrationsOf, releases } from './upgrades/fixtures.ts'

/**
 * While instances are replaced one by one, those of the previous version still read and write. So a release only adds
 * to the schema. The next release drops the parts that are no longer used.
 */
const breaking: Readonly<Record<string, RegExp>> = {
  'drops a table': /^DROP TABLE/,
  'drops a type': /^DROP TYPE/,
  'drops a column': /\bDROP COLUMN/,
  'drops a default': /\bDROP DEFAULT/,
  'renames a table or a column': /^ALTER TABLE (?!.*RENAME CONSTRAINT).*\bRENAME\b/,
  'renames a type or its value': /^ALTER TYPE .*\bRENAME\b/,
  'changes the type of a column': /\bSET DATA TYPE\b|\bALTER COLUMN \S+ TYPE\b/,
  'makes a column required': /\bSET NOT NULL\b/,
  'adds a required column without a default': /\bADD COLUMN(?:(?!DEFAULT|ADD COLUMN).)*\bNOT NULL(?! DEFAULT)/,
  'adds a value that the previous version cannot read': /^ALTER TYPE .*\bADD VALUE\b/,
  'adds a condition to a table that is in use': /^ALTER TABLE .*\bADD (CONSTRAINT \S+ )?(CHECK|UNIQUE|EXCLUDE)\b/,
}

/**
 * Exceptions and their reasons. For each, “What you must change” of the changelog must say: stop every instance first.
 */
const exceptions: Readonly<Record<string, string>> = {}

/** Splits a script at its semicolons, except those in function bodies, and drops comments. */
function statementsOf(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .split(/\$\$/)
    .map((part, index) => (index % 2 === 0 ? part : part.replaceAll(';', ',')))
    .join('$$$$')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
}

/**
 * Returns the parts of a migration that would break the previous version. A table that the same migration creates is
 * not in use yet.
 */
function breaksOf(sql: string): string[] {
  const statements = statementsOf(sql)
  const own = new Set(statements.flatMap((statement) => /^CREATE (?:TABLE|TYPE) (\S+)/.exec(statement)?.[1] ?? []))
  const uniques = statements.filter((statement) => {
    const table = /^CREATE UNIQUE INDEX .* ON ("[^"]+")/.exec(statement)?.[1]
    return table !== undefined && !own.has(table)
  })
  const found = statements
    .filter((statement) => !own.has(/^ALTER (?:TABLE|TYPE) (\S+)/.exec(statement)?.[1] ?? ''))
    .flatMap((statement) => Object.keys(breaking).filter((name) => breaking[name]?.test(statement)))
  return [...found, ...uniques.map(() => 'makes values unique in a table that is in use')]
}

const migrations = await readMigrations(migrationsDirectory)

test.each([
  ['DROP TABLE "A";', ['drops a table']],
  ['ALTER TABLE "A" DROP COLUMN "b",\nDROP COLUMN "c";', ['drops a column']],
  ['ALTER TABLE "A" RENAME COLUMN "b" TO "c";', ['renames a table or a column']],
  ['ALTER TABLE "A" RENAME CONSTRAINT "b" TO "c";', []],
  ['ALTER TABLE "A" ADD COLUMN "b" TEXT NOT NULL;', ['adds a required column without a default']],
  ['ALTER TABLE "A" ADD COLUMN     "b" TEXT NOT NULL DEFAULT \'\';', []],
  ['ALTER TABLE "A" ADD COLUMN "b" TEXT, ADD COLUMN "c" INTEGER NOT NULL DEFAULT 1;', []],
  ['ALTER TABLE "A" ALTER COLUMN "b" SET NOT NULL;', ['makes a column required']],
  ['ALTER TABLE "A" ALTER COLUMN "b" SET DATA TYPE BIGINT;', ['changes the type of a column']],
  ['ALTER TYPE "A" ADD VALUE \'B\';', ['adds a value that the previous version cannot read']],
  ['CREATE UNIQUE INDEX "i" ON "A"("b");', ['makes values unique in a table that is in use']],
  ['CREATE TABLE "A" ("b" TEXT NOT NULL); CREATE UNIQUE INDEX "i" ON "A"("b");', []],
  ['CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DROP TABLE "A"; END $$; CREATE INDEX "i" ON "A"("b");', []],
  ['-- DROP TABLE "A";\nCREATE TABLE "B" ("c" TEXT);', []],
] as const)('%s', (sql, expected) => {
  expect(breaksOf(sql)).toEqual(expected)
})

test('migrations since the last release keep that version working, or the exceptions explain why not', async () => {
  const [last] = releases.slice(-1)
  // Before the first release, two versions never run at the same time.
  const applied = last === undefined ? migrations.map(({ name }) => name) : await migrationsOf(last)
  const added = migrations.filter(({ name }) => !applied.includes(name) && exceptions[name] === undefined)
  expect(added.map(({ name, sql }) => [name, breaksOf(sql)]).filter(([, breaks]) => breaks?.length !== 0)).toEqual([])
  const known = migrations.map(({ name }) => name)
  expect(known).toEqual(expect.arrayContaining(Object.keys(exceptions)))
})

test('the rules detect incompatible earlier migrations', () => {
  const breaks = migrations.flatMap(({ sql }) => breaksOf(sql))
  for (const name of ['drops a column', 'renames a table or a column', 'makes a column required'] as const) {
    expect(breaks).toContain(name)
  }
})
