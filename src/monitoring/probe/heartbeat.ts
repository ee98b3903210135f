import { z } from 'zod'
import { zoneName } from '../../account/page/page-settings.ts'
import { DAY, SECOND } from '../../core/time.ts'
import { trimmedText } from '../../core/validation.ts'
import { cronProblem } from '../watch/cron.ts'
import type { KindRules } from './probe.ts'

const schedule = trimmedText(100).superRefine((text, issues) => {
  const problem = cronProblem(text)
  if (problem !== null) issues.addIssue({ code: 'custom', message: problem })
})

const options = z
  .strictObject({
    /**
     * How late a job may report after its interval or scheduled time, in seconds. Covers a late start and the run time.
     */
    graceSeconds: z.int().min(0).max(86_400).default(300),
    /** A cron expression for when the job runs. It replaces the interval. */
    schedule: schedule.optional(),
    /** The time zone of the schedule. */
    timeZone: zoneName.optional(),
    /** The time limit of a run, in seconds. */
    maxRunSeconds: z
      .int()
      .min(1)
      .max((7 * DAY) / SECOND)
      .optional(),
  })
  .superRefine(({ schedule, timeZone }, issues) => {
    if (timeZone !== undefined && schedule === undefined)
      issues.addIssue({ code: 'custom', path: ['timeZone'], message: 'must be given with a schedule' })
  })

/** The kind that waits for a job to report. It has no probe. */
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
