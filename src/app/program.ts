import { rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { EarlyOpening } from '../database/embedded/early-opening.ts'
import { provideEarlyOpening } from '../database/embedded/early-opening.ts'
import { examineSettings } from '../diagnosis/settings.ts'
import { bundledAssets, writeBundled } from '../http/assets/assets.ts'
import * as backups from './backup.ts'
import { createLog } from './log.ts'
import { readSettings, serve } from './serve.ts'

/**
 * Runs the service in this process.
 * @param opening the opening of the embedded database, begun before this program was loaded.
 */
export async function run(opening: EarlyOpening | null): Promise<void> {
  if (opening) provideEarlyOpening(opening)
  const config = readSettings()
  await serve(config, createLog(config.LOG_LEVEL))
}

/** Commands that need the database. */
export const { backUp, isEncrypted, restore, move } = backups
export { examineSettings }

/** Executes the largest part of a start that needs no settings, so that its functions get into the code cache. */
export async function warmUp(): Promise<void> {
  await import('./schema.ts')
}

/** Builds the assets of pages, for starts from the bundle. Part of the build. @returns the paths of their sources. */
export async function writeAssets(): Promise<readonly string[]> {
  const [{ bundleAssets }, { pageAssets }] = await Promise.all([
    import('../http/assets/asset-bundle.ts'),
    import('./router.ts'),
  ])
  const { files, sources } = await bundleAssets(pageAssets)
  const path = fileURLToPath(bundledAssets)
  // Writes the file atomically, because another process may start from it meanwhile.
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, await writeBundled(files))
  await rename(unfinished, path)
  return sources
}
