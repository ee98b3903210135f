import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { DnsClient } from '../network/dns/client.ts'
import { SECOND } from '../time.ts'
import type { Finding } from './finding.ts'

/** For how long a failure tells of our own network. */
const WINDOW = 30 * SECOND
/** How many different hosts have to be out of reach for our own network to be a likely reason. */
const FEWEST = 3
/** For how long it is known whether our network works. */
const PROVEN = 5 * SECOND
/** How long a resolver has for its answer: longer than the client takes to ask again, and the next server. */
const PATIENCE = 2.5 * SECOND

/** Whether this worker is itself cut off, by what its latest probes found and by what else it reaches. */
export interface Connectivity {
  /**
   * What a probe's finding is worth: while every host that was tried of late failed in a way that our own network may have
   * caused, and nothing else shows that our network works, such a failure tells nothing of its target. One that was down
   * before tells nothing of our network.
   * @param at when it is known, in milliseconds of a clock that nobody sets.
   */
  weigh(finding: Finding, wasDown: boolean, at: number): Promise<Finding>
}

/**
 * The connectivity of a worker that has tried nothing yet.
 * @param works asks something that is none of the targets, and gives whether it was reached. Must not reject.
 */
export function createConnectivity({
  works,
  log,
}: {
  readonly works: () => Promise<boolean>
  readonly log: Logger
}): Connectivity {
  /** The hosts that failed since anything was reached, and when they did last; the longest ago first. */
  const failed = new Map<string, number>()
  let proof: { readonly at: number; readonly works: Promise<boolean> } | null = null
  let isCutOff = false

  function prove(at: number): Promise<boolean> {
    if (proof === null || at - proof.at > PROVEN) proof = { at, works: works() }
    return proof.works
  }

  /** Says it once when it changes. */
  function tell(cutOff: boolean): void {
    if (isCutOff === cutOff) return
    isCutOff = cutOff
    if (cutOff) log.warn({ hosts: failed.size }, CUT_OFF)
    else log.info('monitoring: our own network works again')
  }

  /** Counts a host that is out of reach, as the last one. */
  function count(suspect: string, at: number): void {
    failed.delete(suspect)
    failed.set(suspect, at)
  }

  function forgetOld(at: number): void {
    for (const [host, when] of failed) {
      if (at - when <= WINDOW) return
      failed.delete(host)
    }
  }

  function reached(): void {
    failed.clear()
    tell(false)
  }

  return {
    async weigh(finding, wasDown, at) {
      const { suspect, outcome } = finding
      if (suspect === null) {
        if (outcome !== 'UNKNOWN') reached()
        return finding
      }
      if (!wasDown) count(suspect, at)
      forgetOld(at)
      if (failed.size < FEWEST) return finding
      const cutOff = !(await prove(at))
      tell(cutOff)
      if (!cutOff) return finding
      const message = `No target is reached, nor a resolver, so our own network may be down: ${finding.message}`
      return { ...finding, outcome: 'UNKNOWN', message, latencyMs: null }
    },
  }
}

const CUT_OFF = 'monitoring: no target is reached, nor a resolver: our own network may be down, and checks are unknown'

/**
 * Whether a resolver answers a question that nobody has asked before: one on this machine or in the next room then has to
 * reach the name servers of `com` for it. That a resolver refuses, or fails itself, proves nothing.
 */
export async function resolverAnswers(dns: DnsClient): Promise<boolean> {
  const { kind } = await dns.query(`${randomBytes(12).toString('hex')}.com`, 'A', { fresh: true, timeoutMs: PATIENCE })
  return kind !== 'failed'
}
