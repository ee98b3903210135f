import { ownValue } from '../core/own-value.ts'
import type { Draft, Fields, Note } from './translation.ts'

/** The section of each list in a fetched file. */
const sectionOf: Readonly<Record<string, Note['section']>> = {
  ...{ monitors: 'monitors', data: 'monitors', components: 'services' },
  ...{ groups: 'groups', component_groups: 'groups', sections: 'groups' },
  ...{ pages: 'pages', status_pages: 'pages', psps: 'pages', resources: 'pages' },
  ...{ incidents: 'incidents', updates: 'incidents', status_reports: 'incidents', status_updates: 'incidents' },
  ...{ schedules: 'maintenance', maintenances: 'maintenance', mwindows: 'maintenance' },
  ...{ scheduled_maintenances: 'maintenance', subscribers: 'subscribers', alert_contacts: 'channels' },
}

const times: ReadonlySet<string> = new Set(['incidents', 'maintenance', 'subscribers'])

/**
 * Adds notes on lists that were not fetched completely: `not_read` names those over the page limit, `refused` those that the source
 * refused, as `name status`. Both are absent from files that were not fetched.
 */
export function noteUnread(draft: Draft, file: Fields): void {
  for (const name of new Set(file.list('not_read').map(String))) {
    const section = ownValue(sectionOf, name) ?? 'incidents'
    draft.skip(section, times.has(section) ? 'Older items' : 'Further items', 'Not read, because there are too many.')
  }
  for (const refused of new Set(file.list('refused').map(String))) {
    const [name = '', status = ''] = refused.split(' ')
    const reason = `Not read, because the source answers with status ${status}.`
    draft.skip(ownValue(sectionOf, name) ?? 'incidents', name.replaceAll('_', ' '), reason)
  }
}
