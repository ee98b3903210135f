import { loadBundle } from './core/process/compiled-bundle.ts'
import { dataDirectory } from './core/process/data-directory.ts'
import { setV8Flags } from './core/process/v8-flags.ts'
import { isBundled } from './core/thread/worker-module.ts'
import { startEarlyOpening } from './database/embedded/early-opening.ts'

setV8Flags()
// First, because PostgreSQL takes longer to start than the program takes to load. Both run at the same time.
const opening = process.env['DATABASE_URL'] ? null : await startEarlyOpening(dataDirectory(process.env['DATA_DIR']))

// Not a literal, which would put the program into this file's bundle too.
const source: string = './app/program.ts'
type Program = typeof import('./app/program.ts')
const program: Program = isBundled ? loadBundle<Program>('app/program').exports : await import(source)
await program.run(opening)
