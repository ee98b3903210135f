import { join } from 'node:path'
import type { DnsServer } from '../../src/config.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { line, median, title, verdict } from './report.ts'
import { startService, warmedUp } from './service.ts'

const firstStarts = 3
const warmStarts = 5

/** (d) From the start of the process to `/readyz`: on an empty disk, and when it has run before. */
export async function start(dns: DnsServer): Promise<void> {
  title(`(d) Start to /readyz on the embedded database, ${firstStarts} first starts, ${warmStarts} warm ones`)
  const first: number[] = []
  const warm: number[] = []
  for (let round = 0; round < firstStarts; round++) {
    const disk = await temporaryDirectory()
    const dataDir = join(disk.path, 'data')
    first.push(await timeOfStart(dns, dataDir))
    while (round === firstStarts - 1 && warm.length < warmStarts) warm.push(await timeOfStart(dns, dataDir))
    await disk.remove()
  }
  line(`first: ${seconds(first)}`)
  line(`warm: ${seconds(warm)}`)
  verdict('median first start in seconds', median(first) / 1000, { most: 8 })
  verdict('median warm start in seconds', median(warm) / 1000, { most: 2 })
}

async function timeOfStart(dns: DnsServer, dataDir: string): Promise<number> {
  const service = await startService(dns, dataDir)
  await warmedUp(service)
  await service.stop()
  return service.startedIn
}

const seconds = (times: readonly number[]) => times.map((time) => `${(time / 1000).toFixed(2)} s`).join(', ')
