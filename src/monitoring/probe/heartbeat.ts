import { z } from 'zod'
import type { KindRules } from './probe.ts'

const options = z.strictObject({
  /** How much later than its interval a job may report, in seconds: how long it may take to run, and wait to start. */
  graceSeconds: z.int().min(0).max(86_400).default(300),
})

export type HeartbeatOptions = z.output<typeof options>

/** A job reports by itself; nothing is probed. */
export const heartbeat: KindRules<typeof options> = {
  kind: 'HEARTBEAT',
  options,
  anywhere: true,
  minIntervalSeconds: 30,
}
