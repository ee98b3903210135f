import { Worker } from 'node:worker_threads'
import type { DnsServer } from '../../src/config.ts'
import { root } from '../../src/paths.ts'
import type { HostileCase, Target } from '../hostile/case.ts'
import { corpus } from '../hostile/corpus.ts'
import { measure, targetOf } from '../hostile/measure.ts'
import { fillOrganization } from '../hostile/organization.ts'
import { line, median, title, verdict } from './report.ts'
import { startService } from './service.ts'

const LONGEST_WAIT = 50
const MOST_MEMORY = 100 * 1024 * 1024
const rounds = 3

/** (i) What one caller sends that would harm the others, and how long they wait and what it takes of memory. */
export async function hostile(dns: DnsServer, dataDir: string): Promise<void> {
  title(
    `(i) What one caller sends keeps others waiting for at most ${LONGEST_WAIT} ms, and takes at most 100 MB (medians of ${rounds})`,
  )
  const filled = await fillOrganization(dataDir)
  const service = await startService(dns, dataDir, { ALLOW_PRIVATE_NETWORKS: 'true', LOG_LEVEL: 'fatal' })
  const url = `http://127.0.0.1:${service.port}`
  const target = await targetOf(url, filled)
  const watcher = new Worker(new URL('test/hostile/watcher.mjs', root), { workerData: `${url}/healthz` })
  try {
    const waits: number[] = []
    for (const each of corpus.filter(({ awaits }) => awaits === undefined))
      waits.push(await weigh(each, target, watcher))
    verdict('the longest that anybody waited, in ms', Math.max(...waits), { most: LONGEST_WAIT })
  } finally {
    await watcher.terminate()
    target.close()
    await service.stop()
  }
}

/** Prints a line of a case, and gives for how long others waited. */
async function weigh(hostile: HostileCase, target: Target, watcher: Worker): Promise<number> {
  const all: { waited: number; stalled: number; grown: number; status: number }[] = []
  for (let round = 0; round < rounds; round++) {
    await longestWait(watcher)
    const { status, stalledMs, grownBy } = await measure(hostile, target)
    all.push({ waited: await longestWait(watcher), stalled: stalledMs, grown: grownBy, status })
  }
  const [waited, stalled, grown] = (['waited', 'stalled', 'grown'] as const).map((name) =>
    median(all.map((one) => one[name])),
  )
  const expected = all.every(({ status }) => hostile.statuses.includes(status))
  const met = expected && (waited ?? 0) <= LONGEST_WAIT && (grown ?? 0) <= MOST_MEMORY
  const megabytes = ((grown ?? 0) / 2 ** 20).toFixed(0)
  line(
    `${met ? '      met' : '  NOT MET'} ${String(all[0]?.status).padStart(4)} ${(waited ?? 0).toFixed(0).padStart(6)} ms waited ${(stalled ?? 0).toFixed(0).padStart(6)} ms stalled ${megabytes.padStart(5)} MB  ${hostile.name}`,
  )
  return waited ?? 0
}

/** The longest that the second client waited for an answer since it was asked last. */
function longestWait(watcher: Worker): Promise<number> {
  return new Promise((resolve) => {
    watcher.once('message', resolve)
    watcher.postMessage(null)
  })
}
