import { SECOND } from '../time.ts'
import type { Finding } from './finding.ts'

/** For how long a failure tells of our own network. */
const WINDOW = 30 * SECOND
/** How many different hosts have to be out of reach for our own network to be the likelier reason. */
const FEWEST = 3

/** Whether this worker is itself cut off, by what its latest probes found. */
export interface Connectivity {
  /**
   * What a probe's finding is worth: while every host that was tried of late failed in a way that our own network may have
   * caused, such a failure tells nothing of its target. One that was down before tells nothing of our network.
   * @param at when it is known, in milliseconds of a clock that nobody sets.
   */
  weigh(finding: Finding, wasDown: boolean, at: number): Finding
}

/** The connectivity of a worker that has tried nothing yet. */
export function createConnectivity(): Connectivity {
  /** The hosts that failed since anything was reached, and when they did last; the longest ago first. */
  const failed = new Map<string, number>()
  return {
    weigh(finding, wasDown, at) {
      const { suspect } = finding
      if (suspect === null) {
        if (finding.outcome !== 'UNKNOWN') failed.clear()
        return finding
      }
      if (!wasDown) {
        failed.delete(suspect)
        failed.set(suspect, at)
      }
      for (const [host, when] of failed) {
        if (at - when <= WINDOW) break
        failed.delete(host)
      }
      if (failed.size < FEWEST) return finding
      const message = `Our own network seems to be down: ${finding.message}`
      return { ...finding, outcome: 'UNKNOWN', message, latencyMs: null }
    },
  }
}
