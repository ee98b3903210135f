import { tmpdir } from 'node:os'
import type { TestProject } from 'vitest/node'
import { writeGeoFiles } from './geo-files.ts'
import { placeTemporaryFiles } from './scratch.ts'
import { bundleWorkers } from './worker-bundles.ts'

/**
 * Creates what all test files of a run share: the directory for their files, geo data, and the bundles of worker
 * threads.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeFiles = await placeTemporaryFiles()
  project.provide('geoFiles', await writeGeoFiles(tmpdir()))
  const workers = await bundleWorkers()
  project.provide('workers', workers.url)
  return async () => {
    await workers.remove()
    await removeFiles()
  }
}
