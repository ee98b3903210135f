import { setMaxListeners } from 'node:events'
import type { z } from 'zod'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import { SECOND } from '../time.ts'
import type { Finding } from './finding.ts'
import { found, oneLine } from './finding.ts'
import type { Configuration } from './options.ts'
import { blacklist } from './probe/blacklist.ts'
import { dns } from './probe/dns.ts'
import { heartbeat } from './probe/heartbeat.ts'
import { http } from './probe/http.ts'
import { ping } from './probe/ping.ts'
import type { KindRules, Probe, ProbeRun } from './probe/probe.ts'
import { tcp } from './probe/tcp.ts'
import { partyOf } from './target.ts'

/** The kinds that are probed; a heartbeat comes by itself. */
export type ProbedKind = Exclude<MonitorKind, 'HEARTBEAT'>

const probes = { HTTP: http, TCP: tcp, DNS: dns, PING: ping, BLACKLIST: blacklist } satisfies Record<ProbedKind, Probe>

const rules = { ...probes, HEARTBEAT: heartbeat } satisfies Record<MonitorKind, KindRules>

/** What holds for each kind of monitor. */
export const kindRules: Readonly<Record<MonitorKind, KindRules>> = rules

/** The options of each kind as its schema gives them. */
export type KindOptions = { readonly [K in MonitorKind]: z.output<(typeof rules)[K]['options']> }

/** Whether a kind looks the same from everywhere, so that it is watched once and not from each region. */
export function isAnywhere(kind: MonitorKind): boolean {
  return kindRules[kind].anywhere
}

/** How much longer than its deadline a probe is waited for: it ends by itself, and on a busy machine a little late. */
const GRACE = 0.5 * SECOND

/** The longest message that is kept. */
const LONGEST_MESSAGE = 500

/** How long a probe waits for its turn to ask a third party, in milliseconds; its own time begins then. */
const LONGEST_WAIT = 5 * SECOND

/**
 * Runs a probe. Never rejects: one that fails by itself, does not end by its deadline, or does not come to its turn because
 * too many others ask the same third party, has found nothing out.
 * @param options what the kind's schema gave, with secrets opened.
 */
export async function runProbe<K extends ProbedKind>(
  kind: K,
  options: KindOptions[K],
  run: ProbeRun,
): Promise<Finding> {
  // The registry gives each kind's options, but not that these belong to this one.
  const party = partyOf({ kind, options } as Configuration)
  if (party === null) return runNow(kind, options, run)
  const limits = { waitMs: LONGEST_WAIT, signal: run.signal }
  const finding = await run.tools.turns.use(party, limits, () => runNow(kind, options, run))
  return finding ?? found('UNKNOWN', `Not checked: too many checks of ${party} were due from here at once`)
}

async function runNow<K extends ProbedKind>(kind: K, options: KindOptions[K], run: ProbeRun): Promise<Finding> {
  const probe: Probe = probes[kind]
  const cut = new AbortController()
  const leave = () => cut.abort()
  if (run.signal.aborted) leave()
  // One signal ends all the probes of a process; Node 20 takes more than ten listeners for a leak.
  setMaxListeners(0, run.signal)
  run.signal.addEventListener('abort', leave)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      run.tools.log.error({ kind }, 'monitoring: a probe did not end by its deadline')
      resolve(failure('it did not end in time'))
    }, run.timeoutMs + GRACE)
  })
  try {
    return tidy(await Promise.race([probe.run(options, { ...run, signal: cut.signal }), late]))
  } catch (error) {
    run.tools.log.error({ err: error, kind }, 'monitoring: a probe failed by itself')
    return failure('it failed by an error of its own, which is logged')
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', leave)
    leave()
  }
}

function failure(why: string): Finding {
  return found('UNKNOWN', `The probe itself failed: ${why}`)
}

/** Messages may repeat what came from outside. */
function tidy({ message, latencyMs, ...finding }: Finding): Finding {
  const rounded = latencyMs === null ? null : Math.round(latencyMs)
  return { ...finding, message: oneLine(message, LONGEST_MESSAGE), latencyMs: rounded }
}
