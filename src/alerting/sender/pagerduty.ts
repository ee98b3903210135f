import { z } from 'zod'
import { cutAtWord } from '../../core/truncate.ts'
import type { AlertChange } from '../../generated/prisma/enums.ts'
import { post } from '../../notification/channel/post.ts'
import { isOver } from './item.ts'
import type { AlertMessage } from './sender.ts'
import { defineSender, secretText } from './sender.ts'

/** https://support.pagerduty.com/main/docs/service-regions#events-api */
const hosts = { US: 'events.pagerduty.com', EU: 'events.eu.pagerduty.com' } as const

/**
 * PagerDuty's Events API v2 (https://developer.pagerduty.com/docs/events-api-v2/overview/). The `dedup_key` maps each of our alerts
 * to one of theirs. 202: accepted; 400: the event is invalid; 429: too many events.
 */
export const pagerduty = defineSender({
  name: 'PagerDuty',
  kind: 'LIFECYCLE',
  fields: z.object({
    routingKey: secretText(/^[A-Za-z0-9]{32}$/, 'must be the integration key of a service: 32 letters and digits'),
    region: z.enum(['US', 'EU']).default('US'),
  }),
  describe: ({ routingKey, region }) => ({
    label: `${region}, key …${routingKey.slice(-4)}`,
    destination: hosts[region],
    url: null,
  }),
  send: ({ routingKey, region }, message, tools) =>
    post(
      { url: `https://${hosts[region]}/v2/enqueue`, body: JSON.stringify(eventOf(routingKey, message)) },
      tools,
      ({ status }) => (status === 400 || status === 401 || status === 403 ? 'REFUSED' : null),
    ),
})

function eventOf(routingKey: string, { items: [item], title, url, organization }: AlertMessage) {
  const action = isOver(item) ? 'resolve' : item.about === 'ACKNOWLEDGED' ? 'acknowledge' : 'trigger'
  const { alertId, change, monitor, message, since, state, at } = item
  return {
    routing_key: routingKey,
    event_action: action,
    dedup_key: alertId,
    payload: {
      summary: cutAtWord(message === '' ? title : `${title}: ${message}`, 1024),
      source: monitor.name,
      severity: severities[change],
      timestamp: at.toISOString(),
      component: monitor.name,
      group: organization.name,
      class: change,
      custom_details: { monitor_id: monitor.id, state, since: since.toISOString(), message },
    },
    links: [{ href: url, text: 'Open in Allclear' }],
    client: 'Allclear',
    client_url: url,
  }
}

const severities = {
  DOWN: 'critical',
  LISTED: 'error',
  WORKER_SILENT: 'error',
  DEGRADED: 'warning',
  CERTIFICATE: 'warning',
  UNKNOWN: 'warning',
  UP: 'info',
  DELISTED: 'info',
  BUDGET_BURNING: 'warning',
  BUDGET_RECOVERED: 'info',
} as const satisfies Record<AlertChange, string>
