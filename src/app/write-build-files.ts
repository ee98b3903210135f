/**
 * Writes what a start from the bundles uses beside them: the code cache of the service's bundle, and the assets of pages. Part of
 * the build: it runs from the bundles. Writes the paths of what the assets are made of to standard output, as JSON. With the argument
 * `code-cache` only that, for the package where it is installed: another Node.js needs another.
 */
import { loadBundle } from '../core/process/compiled-bundle.ts'

type Program = typeof import('./program.ts')

const { exports, writeCodeCache } = loadBundle<Program>('app/program')
await exports.warmUp()
writeCodeCache()
if (!loadBundle<Program>('app/program').isCached) throw new Error('V8 does not accept its own code cache.')
if (process.argv[2] === 'code-cache') process.exit(0)
const sources = await exports.writeAssets()
process.stdout.write(JSON.stringify(sources), () => process.exit(0))
