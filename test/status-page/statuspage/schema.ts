import { z } from 'zod'

/**
 * The answers of Atlassian Statuspage, field for field, as the pages of MongoDB (their OpenAPI document), Huobi (their
 * samples) and Cloudflare have them. Strict: extra fields are errors, as are missing ones.
 */

const id = z.string().regex(/^\w+$/)
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$/)
const statuses = ['operational', 'degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance'] as const

const page = z.strictObject({ id, name: z.string(), url: z.url(), time_zone: z.string(), updated_at: time })

const status = z.strictObject({
  indicator: z.enum(['none', 'minor', 'major', 'critical', 'maintenance']),
  description: z.enum([
    'All Systems Operational',
    'Partially Degraded Service',
    'Minor Service Outage',
    'Partial System Outage',
    'Major Service Outage',
    'Service Under Maintenance',
    // Our own, for a page without services: it claims nothing about any.
    'No open incidents',
    'One incident is open',
  ]),
})

const row = {
  id,
  name: z.string(),
  status: z.enum(statuses),
  created_at: time,
  updated_at: time,
  position: z.int().min(1),
  description: z.string().min(1).nullable(),
  showcase: z.boolean(),
  start_date: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .nullable(),
  group_id: id.nullable(),
  page_id: id,
  only_show_if_degraded: z.boolean(),
}

const component = z.discriminatedUnion('group', [
  z.strictObject({ ...row, group: z.literal(false) }),
  z.strictObject({ ...row, group: z.literal(true), group_id: z.null(), components: z.array(id).min(1) }),
])

const affectedComponent = z.strictObject({
  code: id,
  name: z.string(),
  old_status: z.enum(statuses),
  new_status: z.enum(statuses),
})

const updateOf = <S extends z.ZodType>(state: S) =>
  z.strictObject({
    id,
    status: state,
    body: z.string().min(1),
    incident_id: id,
    created_at: time,
    updated_at: time,
    display_at: time,
    affected_components: z.array(affectedComponent).min(1).nullable(),
    deliver_notifications: z.boolean(),
    custom_tweet: z.string().nullable(),
    tweet_id: z.string().nullable(),
  })

const reported = <S extends z.ZodType>(state: S) => ({
  id,
  name: z.string(),
  status: state,
  created_at: time,
  updated_at: time,
  monitoring_at: time.nullable(),
  resolved_at: time.nullable(),
  shortlink: z.url(),
  started_at: time,
  page_id: id,
  incident_updates: z.array(updateOf(state)).min(1),
  components: z.array(component),
})

const incident = z.strictObject({
  ...reported(z.enum(['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'])),
  impact: z.enum(['none', 'minor', 'major', 'critical', 'maintenance']),
  postmortem_body: z.string().nullable().optional(),
  postmortem_body_last_updated_at: time.optional(),
  postmortem_ignored: z.boolean().optional(),
  postmortem_notified_subscribers: z.boolean().optional(),
  postmortem_published_at: time.optional(),
})

const maintenance = z.strictObject({
  ...reported(z.enum(['scheduled', 'in_progress', 'verifying', 'completed'])),
  impact: z.literal('maintenance'),
  scheduled_for: time,
  scheduled_until: time,
})

const components = z.array(component)
const incidents = z.array(incident)
const scheduled_maintenances = z.array(maintenance)

/** The schema of the response at each path. */
export const statuspageSchemas = {
  'summary.json': z.strictObject({ page, components, incidents, scheduled_maintenances, status }),
  'status.json': z.strictObject({ page, status }),
  'components.json': z.strictObject({ page, components }),
  'incidents.json': z.strictObject({ page, incidents }),
  'incidents/unresolved.json': z.strictObject({ page, incidents }),
  'scheduled-maintenances.json': z.strictObject({ page, scheduled_maintenances }),
  'scheduled-maintenances/upcoming.json': z.strictObject({ page, scheduled_maintenances }),
  'scheduled-maintenances/active.json': z.strictObject({ page, scheduled_maintenances }),
} as const

export type StatuspagePath = keyof typeof statuspageSchemas
