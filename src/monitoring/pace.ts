import { z } from 'zod'
import { tierLimits } from '../account/plan.ts'
import type { Issue } from '../errors.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitorKind, Tier } from '../generated/prisma/enums.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts'
import { invalid } from '../validate.ts'
import { MOST_IN_A_ROW } from './judge.ts'
import { kindRules } from './probes.ts'

/** How often a monitor is checked, how long that may take, and how many results in a row change its state. */
export type Pace = Pick<Monitor, 'intervalSeconds' | 'timeoutMs' | 'failureThreshold' | 'recoveryThreshold'>

const seconds = z.int().min(1)
const milliseconds = z.int().min(500).max(30_000)
const inARow = z.int().min(1).max(MOST_IN_A_ROW)

/** What the input for a new monitor may say of its pace. */
export const newPace = {
  intervalSeconds: seconds.nullish(),
  timeoutMs: milliseconds.nullish(),
  failureThreshold: inARow.nullish(),
  recoveryThreshold: inARow.nullish(),
}

/** What an edit may say of it. */
export const paceEdit = {
  intervalSeconds: seconds.optional(),
  timeoutMs: milliseconds.optional(),
  failureThreshold: inARow.optional(),
  recoveryThreshold: inARow.optional(),
}

/** How often a monitor is checked unless its owner says otherwise, in milliseconds. */
const usualInterval: Readonly<Record<MonitorKind, number>> = {
  HTTP: MINUTE,
  TCP: MINUTE,
  DNS: MINUTE,
  PING: MINUTE,
  HEARTBEAT: DAY,
  BLACKLIST: HOUR,
}

/**
 * The pace of a monitor that is made, or is changed from what it was `before`: what is not given stays so. The thresholds of
 * a heartbeat are always 1: its grace is its tolerance.
 * @throws Invalid when its kind or tier does not allow how often it is checked; one that was allowed before stays so.
 */
export function paceOf(
  given: { readonly [K in keyof Pace]?: Pace[K] | null | undefined },
  { kind, tier, before }: { readonly kind: MonitorKind; readonly tier: Tier; readonly before?: Pace },
): Pace {
  const isHeartbeat = kind === 'HEARTBEAT'
  const pace = {
    intervalSeconds: given.intervalSeconds ?? before?.intervalSeconds ?? usualInterval[kind] / SECOND,
    timeoutMs: given.timeoutMs ?? before?.timeoutMs ?? 10 * SECOND,
    failureThreshold: isHeartbeat ? 1 : (given.failureThreshold ?? before?.failureThreshold ?? 2),
    recoveryThreshold: isHeartbeat ? 1 : (given.recoveryThreshold ?? before?.recoveryThreshold ?? 1),
  }
  const isSame = pace.intervalSeconds === before?.intervalSeconds && pace.timeoutMs === before.timeoutMs
  const issues = isSame ? [] : refusalsOf(pace, kind, tier)
  if (issues.length > 0) throw invalid(issues)
  return pace
}

const LONGEST_INTERVAL = DAY / SECOND
const LONGEST_HEARTBEAT = (31 * DAY) / SECOND

/** Why a monitor of a kind may not be checked so often or so seldom, or may not take so long. */
function refusalsOf({ intervalSeconds, timeoutMs }: Pace, kind: MonitorKind, tier: Tier): Issue[] {
  const issues: Issue[] = []
  const isHeartbeat = kind === 'HEARTBEAT'
  const ofTier = tierLimits[tier].minIntervalSeconds
  const ofKind = kindRules[kind].minIntervalSeconds
  const most = isHeartbeat ? LONGEST_HEARTBEAT : LONGEST_INTERVAL
  const wrong = (path: string, message: string) => issues.push({ path: [path], message })
  if (intervalSeconds < ofKind) wrong('intervalSeconds', `must be at least ${ofKind} for the kind ${kind}`)
  else if (intervalSeconds < ofTier) wrong('intervalSeconds', `must be at least ${ofTier} in the tier ${tier}`)
  if (intervalSeconds > most) wrong('intervalSeconds', `must be at most ${most}`)
  if (!isHeartbeat && timeoutMs > intervalSeconds * SECOND) wrong('timeoutMs', 'must not be longer than the interval')
  return issues
}
