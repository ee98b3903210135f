import { z } from 'zod'
import { zoneName } from '../../account/page/page-settings.ts'
import { described } from '../../core/described.ts'
import { DAY, SECOND } from '../../core/time.ts'
import { trimmedText } from '../../core/validation.ts'
import { cronProblem } from '../watch/cron.ts'
import type { KindRules } from './probe.ts'

const schedule = trimmedText(100).superRefine((text, issues) => {
  const problem = cronProblem(text)
  if (problem !== null) issues.addIssue({ code: 'custom', message: problem })
})

const runSeconds = z
  .int()
  .min(1)
  .max((7 * DAY) / SECOND)

const options = z
  .strictObject({
    /** Covers a late start and the run time. */
    graceSeconds: described(z.int().min(0).max(86_400).default(300), {
      label: 'Grace',
      description: 'How late the job may report after its interval or its scheduled time, in seconds, up to 86400.',
      hint: 'Seconds that a report may be late.',
    }),
    schedule: described(schedule.optional(), {
      label: 'Schedule',
      description:
        'When the job runs: a cron expression of five fields, such as 30 2 * * 1-5, or @daily. Replaces the interval. Default: at the interval.',
      hint: 'A cron expression of five fields, such as 30 2 * * 1-5, instead of the interval.',
      isRare: true,
    }),
    timeZone: described(zoneName.optional(), {
      label: 'Time zone of the schedule',
      description: 'The IANA time zone of the schedule. Default: UTC.',
      hint: 'Such as Europe/Berlin. Empty: UTC.',
      isRare: true,
    }),
    maxRunSeconds: described(runSeconds.optional(), {
      label: 'Longest run',
      description:
        'The time limit of the job after /start, up to 604800 seconds. If it is exceeded, the monitor is DOWN. A running job does not count as late by its schedule. Default: no limit.',
      hint: 'Seconds from /start to the end; a longer run is down. Empty: no limit.',
      isRare: true,
    }),
  })
  .superRefine(({ schedule, timeZone }, issues) => {
    if (timeZone !== undefined && schedule === undefined)
      issues.addIssue({ code: 'custom', path: ['timeZone'], message: 'must be given with a schedule' })
  })

/** The kind that waits for a job to report. It has no probe. */
export const heartbeat: KindRules<typeof options> = {
  kind: 'HEARTBEAT',
  options,
  words: { name: 'Heartbeat', about: 'Waits for a job, such as a backup, to report.' },
  anywhere: true,
  minIntervalSeconds: 30,
  defaultIntervalSeconds: DAY / SECOND,
  smallest: {},
  subject: null,
  target: () => null,
}
