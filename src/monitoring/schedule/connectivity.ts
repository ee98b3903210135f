import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { SECOND } from '../../core/time.ts'
import type { DnsClient } from '../../network/dns/client.ts'
import type { ProbeResult } from '../result/probe-result.ts'

/** How long a failure may indicate that our own network is down, in milliseconds. */
const WINDOW_MS = 30 * SECOND
/** The number of different hosts that must fail before our own network is a likely cause. */
const MIN_HOSTS = 3
/** How long to reuse the result of a network check, in milliseconds. */
const PROOF_MS = 5 * SECOND
/**
 * The timeout of a resolver, in milliseconds. It is longer than the client needs to retry and to query the next server.
 */
const RESOLVER_TIMEOUT_MS = 2.5 * SECOND

/** Detects that this worker has lost its network. */
export interface Connectivity {
  /**
   * Turns a failed probe result into UNKNOWN if our own network is the likely cause: every recently probed host has
   * failed in a way that our network may cause, and the network check fails too. Ignores monitors that were already
   * down.
   * @param at when the result was received, in milliseconds of a monotonic clock.
   */
  assess(result: ProbeResult, wasDown: boolean, at: number): Promise<ProbeResult>
}

/**
 * Creates the connectivity of a new worker.
 * @param isNetworkUp contacts a host that is not a target, and returns whether it responded. Must not reject.
 */
export function createConnectivity({
  isNetworkUp,
  log,
}: {
  readonly isNetworkUp: () => Promise<boolean>
  readonly log: Logger
}): Connectivity {
  /** The hosts that have failed since the last success, with the time of their last failure, oldest first. */
  const failed = new Map<string, number>()
  let proof: { readonly at: number; readonly isUp: Promise<boolean> } | null = null
  let isCutOff = false

  function proveNetwork(at: number): Promise<boolean> {
    if (proof === null || at - proof.at > PROOF_MS) proof = { at, isUp: isNetworkUp() }
    return proof.isUp
  }

  /** Logs each change once. */
  function logChange(cutOff: boolean): void {
    if (isCutOff === cutOff) return
    isCutOff = cutOff
    if (cutOff) log.warn({ hosts: failed.size }, CUT_OFF_MESSAGE)
    else log.info('monitoring: our own network works again')
  }

  /** Adds an unreachable host, as the newest. */
  function addFailed(suspect: string, at: number): void {
    failed.delete(suspect)
    failed.set(suspect, at)
  }

  function removeOld(at: number): void {
    for (const [host, when] of failed) {
      if (at - when <= WINDOW_MS) return
      failed.delete(host)
    }
  }

  function reset(): void {
    failed.clear()
    logChange(false)
  }

  return {
    async assess(result, wasDown, at) {
      const { suspect, outcome } = result
      if (suspect === null) {
        if (outcome !== 'UNKNOWN') reset()
        return result
      }
      if (!wasDown) addFailed(suspect, at)
      removeOld(at)
      if (failed.size < MIN_HOSTS) return result
      const cutOff = !(await proveNetwork(at))
      logChange(cutOff)
      if (!cutOff) return result
      const message = `Neither targets nor resolvers respond, so our own network may be down: ${result.message}`
      return { ...result, outcome: 'UNKNOWN', message, latencyMs: null }
    },
  }
}

const CUT_OFF_MESSAGE =
  'monitoring: neither targets nor resolvers respond, so our own network may be down; probe results are unknown'

/**
 * Returns whether a resolver answers a query for a random name, for which a local resolver has to reach the name
 * servers of `com`. A refusal or a failure of the resolver proves nothing.
 */
export async function resolverAnswers(dns: DnsClient): Promise<boolean> {
  const { kind } = await dns.query(`${randomBytes(12).toString('hex')}.com`, 'A', {
    fresh: true,
    timeoutMs: RESOLVER_TIMEOUT_MS,
  })
  return kind !== 'failed'
}
