import { type KnownKeys, NO_LOSS, noLossOf, unless, words } from './losses.ts'

/** The keys of a component that are not read where they repeat it. */
const COMPONENT = ['name', 'description', 'link', 'order', 'enabled', 'tags']

/** What is known of the keys of Cachet 2 and 3, in its API and its tables. */
export const cachetKeys: KnownKeys = {
  // Ids, times, the current state, and what repeats data of another place.
  ...noLossOf(
    words(`
      id type guid created_at updated_at deleted_at created updated status latest_status status_name
      human_status latest_human_status latest_icon permalink order occurred_at scheduled_at completed_at
      is_resolved published_at duration meta links version enabled_components enabled_components_lowest
      lowest_human_status component_id component_status incident_id schedule_id user_id verify_code verified_at
      email_verified_at group_id subscribers.subscriptions enabled
    `),
  ),
  // Objects that describe a status, a time or a visibility.
  ...noLossOf(
    words(`
      human string diff value icon timestamp timezone tz
    `),
  ),
  // The keys of a component, which incidents and schedules repeat.
  ...noLossOf(COMPONENT, 'incidents.components'),
  ...noLossOf(COMPONENT, 'incidents.data.components'),
  ...noLossOf(COMPONENT, 'schedules.components'),
  ...noLossOf(COMPONENT, 'schedules.data.components'),
  ...noLossOf(['component_id', 'component_status', 'status_id', 'incident_id'], 'pivot'),
  ...noLossOf(['group', 'incidents', 'components', 'updates', 'schedules'], 'relationships'),
  ...noLossOf(words('pagination total count per_page current_page total_pages next_page previous_page')),
  tags: 'Tags are not imported.',
  meta_data: 'Its metadata is not imported.',
  link: NO_LOSS,
  ...noLossOf(['collapsed', 'visible']),
  stickied: unless('It is not pinned here.', false, 0, '0'),
  ...{ external_provider: 'The other tool that opened it is not imported.', external_id: NO_LOSS },
  ...{
    phone_number: 'SMS is not supported.',
    slack_webhook_url: 'Slack is not imported: connect the workspace again.',
  },
  slack_webhook: 'Slack is not imported: connect the workspace again.',
}
