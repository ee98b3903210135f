/** Writes the code cache of the service's bundle. Part of the build: it runs from the bundles. */
import { loadBundle } from '../core/compiled-bundle.ts'

type Program = typeof import('./program.ts')

const { exports, writeCodeCache } = loadBundle<Program>('app/program')
await exports.warmUp()
writeCodeCache()
if (!loadBundle<Program>('app/program').isCached) throw new Error('V8 does not accept its own code cache.')
process.exit(0)
