/**
 * Writes the files that a start from the bundles also uses: the code cache of the service's bundle, and the assets of
 * pages. Part of the build; runs from the bundles. Prints the paths of the assets' sources as JSON. With the argument
 * `code-cache`, writes only the code cache, where the package is installed, because each version of Node.js needs its
 * own.
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
