import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { root } from '../../src/core/process/paths.ts'
import { truncate } from '../../src/core/truncate.ts'
import type { HostileCase, Target } from '../hostile/case.ts'
import { corpus } from '../hostile/corpus.ts'
import { measure, targetOf } from '../hostile/measure.ts'
import { fillOrganization } from '../hostile/organization.ts'
import { startRegistries } from '../hostile/registry.ts'
import { hostileZones } from '../hostile/zone.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { line, median, title, verdict } from './report.ts'
import { type Service, startService } from './service.ts'

const LONGEST_WAIT = 50
const MOST_MEMORY = 100 * 1024 * 1024
const rounds = 3

/**
 * (i) The harm that one caller can do to others: how long they wait, how much of that time the main thread computes,
 * and how much memory it takes. `BENCH_CASES` contains parts of the names of the cases to send, separated by `|`;
 * absent: all.
 */
export async function hostile(dataDir: string): Promise<void> {
  title(
    `(i) What one caller sends keeps others waiting for at most ${LONGEST_WAIT} ms, and takes at most 100 MB (medians of ${rounds})`,
  )
  const filled = await fillOrganization(dataDir, undefined, rounds)
  const dns = await startDnsServer(hostileZones(scriptedLists()))
  const registries = await startRegistries()
  const service = await startService(dns, dataDir, {
    ...registries.settings,
    // Custom domains require this.
    BASE_URL: 'https://status.allclear.example',
    ALLOW_PRIVATE_NETWORKS: 'true',
    SIGNUP: 'open',
    LOG_LEVEL: 'fatal',
  })
  const url = `http://127.0.0.1:${service.port}`
  const target = await targetOf(url, filled)
  const watcher = new Worker(new URL('test/hostile/watcher.mjs', root), { workerData: `${url}/healthz` })
  await once(watcher, 'online')
  // Attackers have machines of their own. On Linux, this applies only to this thread, and to what it starts from now on.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  try {
    const named = (process.env['BENCH_CASES'] ?? '').split('|')
    const isNamed = (name: string) => named.some((part) => name.includes(part))
    const sent = corpus.filter(({ name, awaits }) => awaits === undefined && isNamed(name))
    const weighed: Weighed[] = []
    for (const each of sent) weighed.push(await weigh(each, { target, watcher, service }))
    const missed = weighed.filter(({ met }) => !met)
    title(`Cases that do not meet this: ${missed.length || 'none'}`)
    for (const each of missed) line(each.line)
    const most = (of: 'busy' | 'waited') => Math.max(...weighed.map((one) => one[of]))
    verdict('the longest that the main thread computed without a pause, in ms', most('busy'), { most: LONGEST_WAIT })
    verdict('the longest wait of another caller, in ms', most('waited'), { most: LONGEST_WAIT })
  } finally {
    await watcher.terminate()
    target.close()
    registries.close()
    await service.stop()
    await dns.close()
  }
}

/** A service under attack, and who watches it. */
interface Attacked {
  readonly target: Target
  readonly watcher: Worker
  readonly service: Service
}

/** Medians of a case's effects. */
interface Effects {
  /** The longest wait of the second client, in milliseconds, including the rest of the machine's load. */
  readonly waited: number
  /**
   * The longest turn of the main thread, in milliseconds of processor time, excluding the rest of the machine's load.
   */
  readonly busy: number
  /** The growth of the memory, in bytes. */
  readonly grown: number
}

/** What a case does, and whether that is permitted. */
interface Weighed extends Effects {
  readonly met: boolean
  /** What is printed about it. */
  readonly line: string
}

/** Sends a case, and prints its line. If it fails, it has met nothing, and the others are sent all the same. */
async function weigh(hostile: HostileCase, on: Attacked): Promise<Weighed> {
  const weighed = await weighUnlessItFails(hostile, on).catch((error: Error) => ({
    ...{ waited: 0, busy: 0, grown: 0, met: false },
    line: `NOT MET  failed: ${hostile.name}: ${truncate(error.message, 300)}`,
  }))
  line(weighed.line)
  return weighed
}

/** @throws Error when a round of the case cannot be sent. */
async function weighUnlessItFails(hostile: HostileCase, { target, watcher, service }: Attacked): Promise<Weighed> {
  const all: (Effects & { readonly status: number })[] = []
  for (let round = 0; round < rounds; round++) {
    await Promise.all([longestWait(watcher), service.longestTurn()])
    const { status, grownBy } = await measure(hostile, target)
    all.push({ status, waited: await longestWait(watcher), busy: await service.longestTurn(), grown: grownBy })
  }
  const middle = (of: keyof Effects) => median(all.map((one) => one[of]))
  const effects = { waited: middle('waited'), busy: middle('busy'), grown: middle('grown') }
  const { waited, busy, grown } = effects
  const expected = all.every(({ status }) => hostile.statuses.includes(status))
  const met = expected && Math.max(waited, busy) <= LONGEST_WAIT && grown <= MOST_MEMORY
  const [waits, turns, megabytes] = [waited, busy, grown / 2 ** 20].map((figure) => figure.toFixed(0).padStart(5))
  const status = String(all[0]?.status).padStart(4)
  const figures = `${status} ${waits} ms waited ${turns} ms busy ${megabytes} MB  ${hostile.name}`
  return { ...effects, met, line: `${met ? '    met' : 'NOT MET'} ${figures}` }
}

/** The longest latency of the second client since the previous call. */
function longestWait(watcher: Worker): Promise<number> {
  return new Promise((resolve) => {
    watcher.once('message', resolve)
    watcher.postMessage(null)
  })
}
