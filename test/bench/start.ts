import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { line, median, roundsOf, title, verdict } from './report.ts'
import { startNode, startService, stopNode, warmedUp } from './service.ts'

const rounds = roundsOf(5)

/** The permitted time beyond the share of a bare PGlite, in milliseconds. */
const ALLOWANCE = 300

/**
 * (d) From the start of the process to `/readyz`: on an empty disk, including the check that the bundle is up to date,
 * which users wait for; and on later starts. Each is compared with a process that only creates a PGlite on an empty
 * disk, or opens the same database. They alternate, so that other load of the machine affects all alike.
 */
export async function start(dns: DnsServer): Promise<void> {
  title(`(d) Start to /readyz on the embedded database beside a bare PGlite, ${rounds} rounds`)
  const creations: number[] = []
  const firsts: number[] = []
  const openings: number[] = []
  const warms: number[] = []
  for (let round = 0; round < rounds; round++) {
    const disk = await temporaryDirectory()
    const dataDir = join(disk.path, 'data')
    await mkdir(join(disk.path, 'bare'))
    creations.push(await timeOfPglite(join(disk.path, 'bare')))
    firsts.push((await timeOfBuild()) + (await timeOfStart(dns, dataDir)))
    openings.push(await timeOfPglite(join(dataDir, 'database')))
    warms.push(await timeOfStart(dns, dataDir))
    await disk.remove()
  }
  line(`bare creation: ${seconds(creations)}`)
  line(`first start, with the check of the bundle: ${seconds(firsts)}`)
  line(`bare opening: ${seconds(openings)}`)
  line(`warm start: ${seconds(warms)}`)
  verdict('first start less 0.3 s, to bare creation', ratio(firsts, creations), { most: 1.3 })
  verdict('warm start less 0.3 s, to bare opening', ratio(warms, openings), { most: 1.5 })
}

const ratio = (ours: readonly number[], bare: readonly number[]) => (median(ours) - ALLOWANCE) / median(bare)

async function timeOfStart(dns: DnsServer, dataDir: string): Promise<number> {
  const service = await startService(dns, dataDir, {}, false)
  await warmedUp(service)
  await service.stop()
  return service.startedIn
}

/** The time from the start of a process until its PGlite has answered. */
async function timeOfPglite(directory: string): Promise<number> {
  const begun = performance.now()
  const child = startNode('dist/bare-pglite.js', [], { PGLITE_DIRECTORY: directory })
  await once(child, 'message')
  const time = performance.now() - begun
  await stopNode(child)
  return time
}

async function timeOfBuild(): Promise<number> {
  const begun = performance.now()
  await promisify(execFile)(process.execPath, ['src/build.js'], { cwd: root })
  return performance.now() - begun
}

const seconds = (times: readonly number[]) => times.map((time) => `${(time / 1000).toFixed(2)} s`).join(', ')
