import { HOUR, MINUTE } from '../core/time.ts'

/** The outcomes of a watch in the last hour, outages excepted. */
export interface Steadiness {
  /** Whether so many probes failed, scattered, that the target is unreliable although it never went down. */
  readonly unstable: boolean
  /** The hour in intervals, oldest first. */
  readonly pieces: readonly Piece[]
}

/** The start of an interval in epoch milliseconds, its number of probes, and how many of them failed. */
type Piece = readonly [start: number, probes: number, failures: number]

/** No probes counted yet. */
export const steady: Steadiness = { unstable: false, pieces: [] }

const PIECE_MS = 5 * MINUTE
const MAX_PIECES = HOUR / PIECE_MS + 1
/** The minimum number of probes for a meaningful share. */
const MIN_PROBES = 10
/** Unstable above a tenth of failures, stable again below a twentieth, so that it does not flap. */
const UNSTABLE_ABOVE = 1 / 10
const STABLE_BELOW = 1 / 20

/** Counts a successful probe and the failures right before it: only now is it known that they were no outage. */
export function countResult(before: Steadiness, failuresBefore: number, at: Date): Steadiness {
  const now = at.getTime()
  const start = Math.floor(now / PIECE_MS) * PIECE_MS
  // Intervals lie in the future when the clock was set back.
  const past = before.pieces.filter(([begin]) => begin > now - HOUR && begin < start)
  const [, probes = 0, failures = 0] = before.pieces.find(([begin]) => begin === start) ?? []
  const pieces = [...past, [start, probes + failuresBefore + 1, failures + failuresBefore] as const]
  const all = sumOf(pieces)
  const share = all.failures / all.probes
  const unstable = all.probes >= MIN_PROBES && (before.unstable ? share >= STABLE_BELOW : share > UNSTABLE_ABOVE)
  return { unstable, pieces }
}

/** Describes why a watch is unstable: `Unstable: 14 of 60 probes failed in the last hour`. */
export function instabilityInWords({ pieces }: Steadiness): string {
  const { probes, failures } = sumOf(pieces)
  return `Unstable: ${failures} of ${probes} probes failed in the last hour`
}

function sumOf(pieces: readonly Piece[]) {
  return {
    probes: pieces.reduce((sum, [, probes]) => sum + probes, 0),
    failures: pieces.reduce((sum, [, , failures]) => sum + failures, 0),
  }
}

/** Reads the counts stored with a watch; malformed data counts as none. */
export function readSteadiness(json: unknown): Steadiness {
  if (typeof json !== 'object' || json === null || !('pieces' in json)) return steady
  const { pieces } = json
  if (!Array.isArray(pieces) || !pieces.every(isPiece)) return steady
  return { unstable: 'unstable' in json && json.unstable === true, pieces: pieces.slice(-MAX_PIECES) }
}

function isPiece(value: unknown): value is Piece {
  return Array.isArray(value) && value.length === 3 && value.every((each) => Number.isSafeInteger(each) && each >= 0)
}
