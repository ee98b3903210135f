import { ownValue } from '../core/own-value.ts'
import type { Note } from './translation.ts'

/** The section of each list or table of a source. */
const sectionsByList: Readonly<Record<string, Note['section']>> = {
  ...{ monitors: 'monitors', data: 'monitors', components: 'services' },
  ...{ groups: 'groups', component_groups: 'groups', sections: 'groups' },
  ...{ pages: 'pages', status_pages: 'pages', psps: 'pages', resources: 'pages', page: 'pages' },
  ...{ incidents: 'incidents', updates: 'incidents', status_reports: 'incidents', status_updates: 'incidents' },
  ...{ schedules: 'maintenance', maintenances: 'maintenance', mwindows: 'maintenance', maintenance: 'maintenance' },
  ...{ scheduled_maintenances: 'maintenance', subscribers: 'subscribers', alert_contacts: 'channels' },
  ...{ endpoints: 'monitors', 'external-endpoints': 'monitors', suites: 'monitors', alerting: 'channels' },
  ...{ monitorList: 'monitors', notificationList: 'channels', proxyList: 'monitors' },
  ...{ monitor: 'monitors', notification: 'channels', proxy: 'monitors', group: 'groups' },
  ...{ status_page: 'pages', incident: 'incidents' },
  ...{ sites: 'monitors', notifications: 'channels', 'status-website': 'pages' },
  ...{ modules: 'monitors', scrape_configs: 'monitors' },
}

/** Returns the section of a list or table of a source; `settings` if none is known. */
export const sectionOf = (list: string): Note['section'] => ownValue(sectionsByList, list) ?? 'settings'
