import { ownValue } from '../core/own-value.ts'
import type { IncidentImpact, ServiceStatus } from '../generated/prisma/enums.ts'
import { csvRows } from '../notification/subscriber/csv.ts'
import { SubscriberList } from '../notification/subscriber/subscriber-csv.ts'
import { noteUnfetched } from './fetch-notes.ts'
import { Fields } from './fields.ts'
import { affecting, firstTime, htmlMessageOf, slugOf, statusOf, timeOf, titleOf } from './incident-fields.ts'
import { type KnownKeys, NO_LOSS, noLossOf, noteLosses, unless, words } from './losses.ts'
import {
  Draft,
  type Drafted,
  type KeyedStatus,
  keyOf,
  nameOf,
  present,
  readJsonObject,
  type SourceUpdate,
  Unreadable,
} from './translation.ts'

const PREFIX = 'statuspage'
const MAX_SUBSCRIBERS = 100_000

const SMS = 'Its telephone number is not imported, because SMS is not supported.'
const LOOK = 'The look of pages is not imported.'

/** The keys of a component, which incidents and maintenance repeat. */
const COMPONENT = ['name', 'description', 'showcase', 'only_show_if_degraded', 'automation_email']

const known: KnownKeys = {
  ...noLossOf(COMPONENT, 'incidents.components'),
  ...noLossOf(COMPONENT, 'scheduled_maintenances.components'),
  ...noLossOf(['name', 'old_status', 'code', 'new_status'], 'affected_components'),
  ...noLossOf(['indicator', 'description'], 'status'),
  affected_components: NO_LOSS,
  // Ids, times, the current state, and what repeats data of another place.
  ...noLossOf(
    words(`
      id page_id created_at updated_at started_at monitoring_at resolved_at position status start_date
      shortlink incident_id wants_twitter_update twitter_updated_at tweet_id display_at component_groups group
      group_id components.components component_groups.components impact deliver_notifications
      skip_confirmation_notification page.url page.time_zone scheduled_remind_prior scheduled_reminded_at
      scheduled_for scheduled_until purge_at obfuscated_channel_name display_phone_number mode
      postmortem_notified_subscribers postmortem_notified_twitter postmortem_ignored
      postmortem_body_last_updated_at custom_tweet
    `),
  ),
  showcase: unless('The history of this component is hidden there.', true),
  only_show_if_degraded: unless('It is always shown here.', false),
  automation_email: 'Its email address for automation is not imported. Use an integration here.',
  ...{ phone_number: SMS, phone_country: SMS },
  metadata: 'Its metadata is not imported.',
  impact_override: NO_LOSS,
  ...{ scheduled_auto_in_progress: unless('It starts and ends by itself here.', true) },
  ...{ scheduled_auto_completed: unless('It starts and ends by itself here.', true) },
  ...noLossOf([
    'scheduled_auto_transition',
    'scheduled_remind_subscribers',
    'auto_transition_to_maintenance_state',
    'auto_transition_to_operational_state',
    'auto_transition_deliver_notifications_at_start',
  ]),
  auto_transition_deliver_notifications_at_end: NO_LOSS,
  backfilled: NO_LOSS,
  ...{
    css_body_background_color: LOOK,
    hero_cover: LOOK,
    favicon_logo: LOOK,
    transactional_logo: LOOK,
    email_logo: LOOK,
  },
}

/**
 * Translates data of Atlassian Statuspage: `/api/v2/summary.json`, an object that combines several of these answers, answers of the
 * API with a key, or the CSV file of subscribers. @throws Unreadable.
 */
export function translateStatuspage(text: string): Drafted {
  if (!/^\s*[{[]/.test(text.replace(/^\uFEFF/, ''))) return translateSubscribers(text)
  const file = readJsonObject(text)
  const lists = ['components', 'incidents', 'scheduled_maintenances', 'subscribers']
  if (!lists.some((name) => Array.isArray(file.get(name)))) {
    throw new Unreadable('This isn’t a summary of a status page: it has no components. Use /api/v2/summary.json.')
  }
  const draft = new Draft()
  const components = file.list('components').map((each) => new Fields(each))
  const groups = [
    ...components.filter((each) => each.isTrue('group')),
    ...file.list('component_groups').map((each) => new Fields(each)),
  ]
  for (const group of groups) {
    if (group.text('id') === '') continue
    const description = group.text('description').slice(0, 2000)
    draft.objects.groups.set(
      keyOf(PREFIX, group.text('id')),
      present({ name: nameOf(group.text('name'), 'Group'), description }),
    )
  }
  for (const component of components.filter((each) => !each.isTrue('group'))) addService(draft, component)
  addPage(draft, file.fields('page'))
  const records = [...file.list('incidents'), ...file.list('scheduled_maintenances')].map((each) => new Fields(each))
  for (const record of records) {
    if (firstTime(record, 'scheduled_for') !== null) addMaintenance(draft, record)
    else addIncident(draft, record)
  }
  for (const subscriber of file.list('subscribers')) addSubscriber(draft, new Fields(subscriber))
  noteUnfetched(draft, file)
  noteLosses(draft, [file], known)
  return { ...draft, hasVariables: false }
}

function addService(draft: Draft, component: Fields): void {
  const name = nameOf(component.text('name'), 'Component')
  if (component.text('id') === '') {
    draft.skip('services', name, 'It has no id.', component)
    return
  }
  const key = keyOf(PREFIX, component.text('group_id'))
  const group = draft.objects.groups.has(key) ? key : undefined
  const description = component.text('description').slice(0, 2000)
  const status = ownValue(componentStatuses, component.text('status'))
  draft.objects.services.set(keyOf(PREFIX, component.text('id')), present({ name, group, description, status }))
}

function addPage(draft: Draft, page: Fields): void {
  const services = [...draft.objects.services.keys()]
  if (page.text('id') === '' || services.length === 0) return
  const name = nameOf(page.text('name'), 'Status')
  const description = page.text('page_description').slice(0, 2000)
  draft.objects.pages.set(keyOf(PREFIX, page.text('id')), present({ slug: slugOf(name), name, description, services }))
}

const serviceStatuses: Readonly<Record<string, KeyedStatus['status']>> = {
  operational: 'OPERATIONAL',
  degraded_performance: 'DEGRADED_PERFORMANCE',
  partial_outage: 'PARTIAL_OUTAGE',
  major_outage: 'MAJOR_OUTAGE',
}
const componentStatuses: Readonly<Record<string, ServiceStatus>> = {
  ...serviceStatuses,
  under_maintenance: 'UNDER_MAINTENANCE',
}
const impacts: Readonly<Record<string, IncidentImpact>> = { minor: 'MINOR', major: 'MAJOR', critical: 'CRITICAL' }
const incidentStatuses: Readonly<Record<string, SourceUpdate['status']>> = {
  investigating: 'INVESTIGATING',
  identified: 'IDENTIFIED',
  monitoring: 'MONITORING',
  resolved: 'RESOLVED',
  postmortem: 'RESOLVED',
}

/** Returns the timeline of a record without its post-mortem. `display_at` is the time shown on the page. */
const updatesOf = (record: Fields) =>
  record
    .list('incident_updates')
    .map((each) => new Fields(each))
    .flatMap((update) => {
      const at = firstTime(update, 'display_at', 'created_at')
      return at === null
        ? []
        : [{ update, at, status: update.text('status'), message: htmlMessageOf(update.text('body')) }]
    })

function addIncident(draft: Draft, incident: Fields): void {
  const name = titleOf(incident.text('name'), 'Incident')
  const all = updatesOf(incident)
  const begun = firstTime(incident, 'started_at', 'created_at') ?? all.at(-1)?.at ?? null
  if (incident.text('id') === '' || begun === null) {
    draft.skip('incidents', name, incident.text('id') === '' ? 'It has no id.' : 'It has no time.', incident)
    return
  }
  const impact = ownValue(impacts, incident.text('impact')) ?? 'NONE'
  const affected = incident.list('components').map((each) => keyOf(PREFIX, new Fields(each).text('id')))
  const current = ownValue(incidentStatuses, incident.text('status')) ?? 'RESOLVED'
  const updates = all
    .filter(({ status }) => status !== 'postmortem')
    .map(({ update, at, status, message }): SourceUpdate => {
      return { at, status: ownValue(incidentStatuses, status) ?? current, message, services: affectedOf(update) }
    })
  const postmortem = all.find(({ status }) => status === 'postmortem')
  const body = htmlMessageOf(incident.text('postmortem_body')) || postmortem?.message || ''
  const publishedAt = firstTime(incident, 'postmortem_published_at') ?? postmortem?.at ?? null
  draft.records.incidents.push({
    ...{ id: incident.text('id'), title: name, impact, startedAt: begun },
    resolvedAt: current === 'RESOLVED' ? (timeOf(incident.get('resolved_at')) ?? updates.at(0)?.at ?? begun) : null,
    updates: affecting(
      updates.length > 0 ? updates : [{ at: begun, status: current, message: '', services: [] }],
      affected.map((key) => ({ key, status: statusOf(impact) })),
    ),
    postmortem: body === '' || publishedAt === null ? null : { message: body, publishedAt },
  })
}

const affectedOf = (update: Fields): KeyedStatus[] =>
  update.list('affected_components').flatMap((each) => {
    const component = new Fields(each)
    const status = ownValue(serviceStatuses, component.text('new_status'))
    return status === undefined || component.text('code') === ''
      ? []
      : [{ key: keyOf(PREFIX, component.text('code')), status }]
  })

const maintenanceStatuses = {
  scheduled: 'SCHEDULED',
  in_progress: 'IN_PROGRESS',
  verifying: 'VERIFYING',
  completed: 'COMPLETED',
} as const

function addMaintenance(draft: Draft, record: Fields): void {
  const title = titleOf(record.text('name'), 'Maintenance')
  const [startsAt, endsAt] = [firstTime(record, 'scheduled_for'), firstTime(record, 'scheduled_until')]
  if (record.text('id') === '' || startsAt === null || endsAt === null) {
    draft.skip('maintenance', title, 'It has no id or times.', record)
    return
  }
  const statusIn = (text: string) =>
    ownValue<(typeof maintenanceStatuses)[keyof typeof maintenanceStatuses]>(maintenanceStatuses, text)
  const status = statusIn(record.text('status')) ?? 'COMPLETED'
  const updates = updatesOf(record).map((update) => ({
    ...{ at: update.at, status: statusIn(update.status) ?? status, message: update.message },
  }))
  const services = record.list('components').map((each) => keyOf(PREFIX, new Fields(each).text('id')))
  draft.records.maintenances.push({ id: record.text('id'), title, status, startsAt, endsAt, services, updates })
}

/** Adds a subscriber that is confirmed and not quarantined. */
function addSubscriber(draft: Draft, subscriber: Fields): void {
  const mode = subscriber.text('mode')
  const address = subscriber.text('email')
  const skip = (reason: string) => draft.skip('subscribers', address || mode || 'Subscriber', reason, subscriber)
  if (subscriber.get('quarantined_at') !== undefined)
    skip('It is quarantined there: its messages could not be delivered.')
  else if (subscriber.get('skip_confirmation_notification') === undefined && subscriber.get('confirmed') === false)
    skip('It has not confirmed its subscription there.')
  else if (mode !== 'email' && !(mode === '' && address !== ''))
    skip(ownValue(reasons, mode) ?? 'Channels of this kind are not imported.')
  else {
    const services = subscriber.list('components').map((each) => keyOf(PREFIX, String(each)))
    draft.records.subscribers.push({ address, services })
  }
}

const reasons: Readonly<Record<string, string>> = {
  sms: 'SMS is not supported.',
  webhook: 'Webhooks are not imported: the receiver must subscribe again to get its signing secret.',
  slack: 'Slack is not imported: connect the workspace again.',
  teams: 'Teams is not imported: connect the channel again.',
}

/** The maximum length of an address, in characters (RFC 5321, section 4.5.3.1). */
const MAX_ADDRESS = 320

/** Translates the exported list of subscribers, which refers to components by name. */
function translateSubscribers(text: string): Drafted {
  const draft = new Draft()
  const list = new SubscriberList()
  for (const row of csvRows(text)) {
    const found = list.read(row)
    if (found === null) continue
    const { line, email, problem, services } = found
    if (problem !== '' || email === null) draft.skip('subscribers', email || `Line ${line}`, problem)
    else if (email.length > MAX_ADDRESS) draft.skip('subscribers', `Line ${line}`, 'Its address is too long.')
    // Names are cut like those of the imported services, which have these.
    else draft.records.subscribers.push({ address: email, services: services.map((name) => nameOf(name, '')) })
    if (draft.records.subscribers.length > MAX_SUBSCRIBERS) throw new Unreadable('This list has too many subscribers.')
  }
  if (!draft.records.subscribers.some(({ address }) => address.includes('@')) && draft.notes.length === 0)
    throw new Unreadable('This is neither a summary of a status page nor a list of subscribers.')
  return { ...draft, hasVariables: false }
}
