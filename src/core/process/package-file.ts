import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { root } from './paths.ts'

/**
 * Returns the URL of a package's file, such as `@resvg/resvg-wasm/index_bg.wasm`. The published package contains copies
 * of the files that `pack.js` lists, because the packages themselves take ten times as much. For worker threads only.
 * @throws if neither the copy nor the package exists.
 */
export function packageFile(name: string): URL {
  const copy = new URL(`dist/files/${name}${extname(name) === '' ? '.js' : ''}`, root)
  return existsSync(copy) ? copy : new URL(import.meta.resolve(name))
}
