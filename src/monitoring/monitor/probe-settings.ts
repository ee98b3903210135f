import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { described } from '../../core/described.ts'
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
const TIMEOUT = 'The timeout of a probe, in milliseconds: 500 to 30000, and not longer than the interval.'
const FAILURES = 'The number of consecutive failures that make it DOWN, 1 to 10.'
const SUCCESSES = 'The number of consecutive successes that end an outage, 1 to 10.'

/** The settings in the input for a new monitor. */
export const newProbeSettings = {
  intervalSeconds: described(seconds.nullish(), {
    description:
      'The time between probes, in seconds. Default: 60; 3600 for a blacklist, 86400 for a heartbeat. At least the minimum of the tier; at most a day, 31 days for a heartbeat.',
  }),
  timeoutMs: described(milliseconds.nullish(), { description: `${TIMEOUT} Default: 10000.` }),
  failureThreshold: described(inARow.nullish(), { description: `${FAILURES} Default: 2. Always 1 for a heartbeat.` }),
  recoveryThreshold: described(inARow.nullish(), { description: `${SUCCESSES} Default: 1. Always 1 for a heartbeat.` }),
}

/** The settings in the input for an update. */
export const probeSettingsEdit = {
  intervalSeconds: described(seconds.optional(), { description: 'The probe interval, in seconds.' }),
  timeoutMs: described(milliseconds.optional(), { description: TIMEOUT }),
  failureThreshold: described(inARow.optional(), { description: FAILURES }),
  recoveryThreshold: described(inARow.optional(), { description: SUCCESSES }),
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
