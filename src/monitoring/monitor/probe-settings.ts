import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import type { Issue } from '../../core/errors.ts'
import { DAY, SECOND } from '../../core/time.ts'
import { invalid } from '../../core/validation.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { MonitorKind, Tier } from '../../generated/prisma/enums.ts'
import { MAX_THRESHOLD } from '../watch/judge.ts'
import { kindRules } from './probe-kinds.ts'

/** The interval, timeout and thresholds of a monitor. */
export type ProbeSettings = Pick<Monitor, 'intervalSeconds' | 'timeoutMs' | 'failureThreshold' | 'recoveryThreshold'>

const seconds = z.int().min(1)
const milliseconds = z.int().min(500).max(30_000)
const inARow = z.int().min(1).max(MAX_THRESHOLD)

/** The settings in the input for a new monitor. */
export const newProbeSettings = {
  intervalSeconds: seconds.nullish(),
  timeoutMs: milliseconds.nullish(),
  failureThreshold: inARow.nullish(),
  recoveryThreshold: inARow.nullish(),
}

/** The settings in the input for an update. */
export const probeSettingsEdit = {
  intervalSeconds: seconds.optional(),
  timeoutMs: milliseconds.optional(),
  failureThreshold: inARow.optional(),
  recoveryThreshold: inARow.optional(),
}

/**
 * Returns the settings of a new or updated monitor. Settings that are not given keep their value in `before`. The
 * thresholds of a heartbeat are always 1, because it has a grace period. A group has no settings, because it is not
 * probed.
 * @throws Invalid when the kind or the tier does not allow the interval. Unchanged settings stay allowed.
 */
export function probeSettingsOf(
  given: { readonly [K in keyof ProbeSettings]?: ProbeSettings[K] | null | undefined },
  { kind, tier, before }: { readonly kind: MonitorKind; readonly tier: Tier; readonly before?: ProbeSettings },
): ProbeSettings {
  if (kind === 'GROUP') return groupSettings
  const isHeartbeat = kind === 'HEARTBEAT'
  const settings = {
    intervalSeconds: given.intervalSeconds ?? before?.intervalSeconds ?? kindRules[kind].defaultIntervalSeconds,
    timeoutMs: given.timeoutMs ?? before?.timeoutMs ?? 10 * SECOND,
    failureThreshold: isHeartbeat ? 1 : (given.failureThreshold ?? before?.failureThreshold ?? 2),
    recoveryThreshold: isHeartbeat ? 1 : (given.recoveryThreshold ?? before?.recoveryThreshold ?? 1),
  }
  const isSame = settings.intervalSeconds === before?.intervalSeconds && settings.timeoutMs === before.timeoutMs
  const issues = isSame ? [] : refusalsOf(settings, kind, tier)
  if (issues.length > 0) throw invalid(issues)
  return settings
}

const groupSettings: ProbeSettings = {
  intervalSeconds: kindRules.GROUP.defaultIntervalSeconds,
  timeoutMs: 10 * SECOND,
  failureThreshold: 1,
  recoveryThreshold: 1,
}

const MAX_INTERVAL_SECONDS = DAY / SECOND
const MAX_HEARTBEAT_INTERVAL_SECONDS = (31 * DAY) / SECOND

/** Returns why an interval or timeout is not allowed. */
function refusalsOf({ intervalSeconds, timeoutMs }: ProbeSettings, kind: MonitorKind, tier: Tier): Issue[] {
  const issues: Issue[] = []
  const isHeartbeat = kind === 'HEARTBEAT'
  const ofTier = tierLimits[tier].minIntervalSeconds
  const ofKind = kindRules[kind].minIntervalSeconds
  const maximum = isHeartbeat ? MAX_HEARTBEAT_INTERVAL_SECONDS : MAX_INTERVAL_SECONDS
  const refuse = (path: string, message: string) => issues.push({ path: [path], message })
  if (intervalSeconds < ofKind) refuse('intervalSeconds', `must be at least ${ofKind} for monitors of kind ${kind}`)
  else if (intervalSeconds < ofTier) refuse('intervalSeconds', `must be at least ${ofTier} on the tier ${tier}`)
  if (intervalSeconds > maximum) refuse('intervalSeconds', `must be at most ${maximum}`)
  if (!isHeartbeat && timeoutMs > intervalSeconds * SECOND) refuse('timeoutMs', 'must not be longer than the interval')
  return issues
}
