import { HOUR, MINUTE } from '../time.ts'

/** What came of the checks of a watch in the last hour, as far as it was not down. */
export interface Steadiness {
  /** Whether so many of them failed, one here and one there, that it cannot be relied on though it never went down. */
  readonly unstable: boolean
  /** The hour in pieces, the oldest first. */
  readonly pieces: readonly Piece[]
}

/** When a piece begins, in epoch milliseconds, and how many checks of it there were and how many of them failed. */
type Piece = readonly [start: number, checks: number, failures: number]

/** A watch of which nothing has been counted. */
export const steady: Steadiness = { unstable: false, pieces: [] }

const PIECE = 5 * MINUTE
const PIECES = HOUR / PIECE + 1
/** Of fewer checks a share says little. */
const FEWEST = 10
/** More than a tenth of failures makes it unstable, and only less than a twentieth ends that, so that it does not flap. */
const BEGINS_ABOVE = 1 / 10
const ENDS_BELOW = 1 / 20

/**
 * Counts a check that did not fail, and the failures right before it: only now it is known that they were too few to be an
 * outage.
 */
export function countCheck(before: Steadiness, failuresBefore: number, at: Date): Steadiness {
  const now = at.getTime()
  const start = Math.floor(now / PIECE) * PIECE
  // By a clock that was set back some lie ahead.
  const past = before.pieces.filter(([begin]) => begin > now - HOUR && begin < start)
  const [, checks = 0, failures = 0] = before.pieces.find(([begin]) => begin === start) ?? []
  const pieces = [...past, [start, checks + failuresBefore + 1, failures + failuresBefore] as const]
  const all = sumOf(pieces)
  const share = all.failures / all.checks
  const unstable = all.checks >= FEWEST && (before.unstable ? share >= ENDS_BELOW : share > BEGINS_ABOVE)
  return { unstable, pieces }
}

/** What makes a watch unstable, in words: `Unstable: 14 of 60 checks failed in the last hour`. */
export function instabilityInWords({ pieces }: Steadiness): string {
  const { checks, failures } = sumOf(pieces)
  return `Unstable: ${failures} of ${checks} checks failed in the last hour`
}

function sumOf(pieces: readonly Piece[]) {
  return {
    checks: pieces.reduce((sum, [, checks]) => sum + checks, 0),
    failures: pieces.reduce((sum, [, , failures]) => sum + failures, 0),
  }
}

/** What a watch's row remembers; what is malformed there is as good as forgotten. */
export function readSteadiness(json: unknown): Steadiness {
  if (typeof json !== 'object' || json === null || !('pieces' in json)) return steady
  const { pieces } = json
  if (!Array.isArray(pieces) || !pieces.every(isPiece)) return steady
  return { unstable: 'unstable' in json && json.unstable === true, pieces: pieces.slice(-PIECES) }
}

function isPiece(value: unknown): value is Piece {
  return Array.isArray(value) && value.length === 3 && value.every((each) => Number.isSafeInteger(each) && each >= 0)
}
