import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { root } from './paths.ts'
import { setV8Flags } from './v8-flags.ts'

/** CommonJS bundles of `dist/`; `build.js` creates each, and the code cache from which V8 starts it. */
export type CompiledBundle = 'app/program'

/** A loaded bundle. */
export interface Loaded<T> {
  readonly exports: T
  /** Whether V8 accepted its code cache. */
  readonly isCached: boolean
  /** Writes the functions that V8 has compiled so far into the code cache. */
  writeCodeCache(): void
}

/**
 * The length of the hexadecimal hash at the end of a bundle and at the beginning of its cache; V8 itself only compares
 * lengths.
 */
const HASH_LENGTH = 64

/**
 * Loads a bundle with its code cache, which takes a fraction of the time of compiling. Without a cache, or with one of
 * another version of Node.js, V8 compiles the source.
 */
export function loadBundle<T>(bundle: CompiledBundle): Loaded<T> {
  setV8Flags()
  const filename = pathOf(bundle)
  // The build only writes ASCII.
  const content = readFileSync(filename)
  const source = content.toString('latin1')
  // A slice of the source would keep all of it in memory.
  const hash = content.toString('latin1', content.length - HASH_LENGTH)
  const cachedData = readCache(`${filename}.cache`, hash)
  const script = new Script(`(function (${PARAMETERS}) {${source}\n})`, { filename, ...(cachedData && { cachedData }) })
  const module: { exports: unknown } = { exports: {} }
  const url = new URL(`dist/${bundle}.cjs`, root).href
  script.runInThisContext()(module.exports, createRequire(url), module, filename, dirname(filename), url)
  return {
    exports: module.exports as T,
    isCached: cachedData !== null && script.cachedDataRejected === false,
    writeCodeCache() {
      const unfinished = `${filename}.cache.${process.pid}`
      writeFileSync(unfinished, Buffer.concat([Buffer.from(hash), script.createCachedData()]))
      renameSync(unfinished, `${filename}.cache`)
    },
  }
}

/** The variables of a CommonJS module, and the name with which `build.js` replaces `import.meta.url`. */
const PARAMETERS = 'exports, require, module, __filename, __dirname, importMetaUrl'

const pathOf = (bundle: CompiledBundle) => fileURLToPath(new URL(`dist/${bundle}.cjs`, root))

/** Reads the code cache of the bundle with this hash, or null. */
function readCache(path: string, hash: string): Buffer | null {
  try {
    const content = readFileSync(path)
    return content.toString('latin1', 0, HASH_LENGTH) === hash ? content.subarray(HASH_LENGTH) : null
  } catch {
    return null
  }
}
