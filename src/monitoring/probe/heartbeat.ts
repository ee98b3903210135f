import { z } from 'zod'
import { DAY, SECOND } from '../../core/time.ts'
import type { KindRules } from './probe.ts'

const options = z.strictObject({
  /** How late a job may report after its interval, in seconds: its run time and start delay. */
  graceSeconds: z.int().min(0).max(86_400).default(300),
})

/** The kind without a probe: its job reports. */
export const heartbeat: KindRules<typeof options> = {
  kind: 'HEARTBEAT',
  options,
  anywhere: true,
  minIntervalSeconds: 30,
  defaultIntervalSeconds: DAY / SECOND,
  smallest: {},
  subject: null,
  target: () => null,
}
