import { loadBundle } from './core/compiled-bundle.ts'
import { isBundled } from './core/worker-thread.ts'
import { startThread } from './database/embedded-thread.ts'

// Before all else: PostgreSQL takes longer to load than the program, and beside it.
const databaseThread = process.env['DATABASE_URL'] ? null : startThread()

// Not a literal, which would put the program into this file's bundle too.
const source: string = './app/program.ts'
type Program = typeof import('./app/program.ts')
const program: Program = isBundled ? loadBundle<Program>('app/program').exports : await import(source)
await program.run(databaseThread)
