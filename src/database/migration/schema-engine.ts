import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
} from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

/**
 * Starts Prisma's schema engine on a pool, which it leaves open. It compares schemas, and applies and records
 * migrations like Prisma's own commands. It is for writing migrations and for tests; the service does not need it.
 */
export async function startSchemaEngine(pool: pg.Pool): Promise<bindings.SchemaEngine> {
  loaded ??= load()
  await loaded
  return bindings.SchemaEngine.new(
    { datamodels: undefined },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adaptersFor(pool)),
  )
}

/** Loaded once per process, because the bindings keep views of the memory of the first instance. */
let loaded: Promise<void> | undefined

async function load(): Promise<void> {
  const file = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const binary = await readFile(join(dirname(file), 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(binary, { './schema_engine_bg.js': { ...bindings } })
  bindings.__wbg_set_wasm(instance.exports)
  const start = instance.exports['__wbindgen_start']
  if (typeof start === 'function') start()
}

/**
 * Returns the SQL that changes the schema of a database to a Prisma schema, given as text; empty: they match. To derive
 * a new migration, `pool` should be a database with only the existing migrations.
 */
export async function difference(pool: pg.Pool, schema: string): Promise<string> {
  const engine = await startSchemaEngine(pool)
  try {
    const files = [{ path: 'schema.prisma', content: schema }]
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return exitCode === 0 ? '' : (stdout ?? '')
  } finally {
    engine.free()
  }
}

/**
 * Creates Prisma's adapter with two fixes for the engine. First, it sends a script to the server whole, which runs it
 * in one transaction. Prisma's adapter would split it at every semicolon, even inside strings and function bodies, and
 * leave it half applied on failure. Second, it reads columns of the type "char", which are common in the catalogs and
 * which Prisma's adapter rejects.
 */
function adaptersFor(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const characterColumns = new WeakMap<object, readonly boolean[]>()
  const query = async (config: pg.QueryArrayConfig) => {
    const result = await pool.query(config)
    const isCharacter = result.fields.map((field) => field.dataTypeID === oidOfChar)
    for (const [index, field] of result.fields.entries()) if (isCharacter[index]) field.dataTypeID = oidOfText
    characterColumns.set(result.rows, isCharacter)
    return result
  }
  const factory = new PrismaPg(Object.create(pool, { query: { value: query } }))
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    async connect() {
      const adapter = await factory.connect()
      const read = adapter.queryRaw.bind(adapter)
      return Object.assign(adapter, {
        executeScript: (script: string) => execute(pool, script),
        async queryRaw(sql: SqlQuery) {
          const set = await read(sql)
          const isCharacter = characterColumns.get(set.rows)
          const columnTypes = set.columnTypes.map((type, index) =>
            isCharacter?.[index] ? ColumnTypeEnum.Character : type,
          )
          return { ...set, columnTypes }
        },
      })
    },
  }
}

/** Object ids of types in PostgreSQL's catalog `pg_type`. */
const oidOfChar = 18
const oidOfText = 25

async function execute(pool: pg.Pool, script: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(script)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    const { code = '', severity = 'ERROR', message, detail, hint, column } = error
    throw new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, hint, column })
  } finally {
    client.release()
  }
}
