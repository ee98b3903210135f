import { defineConfig } from 'prisma/config'

// `prisma generate` looks for a migration engine, which it does not use, and would download it. Naming any file that
// exists avoids that, so an install needs nothing but the npm registry. Migrations run through src/database/migration/migrate.ts.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath

export default defineConfig({ schema: 'prisma/schema.prisma' })
