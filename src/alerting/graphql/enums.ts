import { AlertChange, AlertChannelKind, AlertSilence } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { builder } from './builder.ts'

builder.enumType(AlertChannelKind, {
  name: 'AlertChannelKind',
  description: 'How an alert channel reaches the team.',
  values: describedValues({
    DISCORD: 'A Discord webhook.',
    GOTIFY: 'An application of a Gotify server.',
    MAIL: 'An email address.',
    MATRIX: 'A Matrix room.',
    MATTERMOST: 'A Mattermost incoming webhook.',
    NTFY: 'A topic of an ntfy server.',
    OPSGENIE: 'An Opsgenie integration: alerts are created, acknowledged and closed.',
    PAGERDUTY: 'A PagerDuty service (Events API v2): alerts are triggered, acknowledged and resolved.',
    PUSH: 'The browsers of members (Web Push).',
    PUSHOVER: 'A Pushover user or group.',
    SLACK: 'A Slack incoming webhook.',
    TEAMS: 'A Microsoft Teams workflow.',
    TELEGRAM: 'A Telegram chat.',
    WEBHOOK: 'A webhook, signed as Standard Webhooks specifies.',
  }),
})
builder.enumType(AlertChange, {
  name: 'AlertChange',
  description: 'A change of a monitor or an objective that an alert channel can be notified of.',
  values: describedValues({
    BUDGET_BURNING: 'The error budget of an objective burns too fast, or faster than before.',
    BUDGET_RECOVERED: 'The error budget of an objective no longer burns too fast.',
    CERTIFICATE: 'A TLS certificate has expired, or expires soon. DEGRADED includes it.',
    DEGRADED: 'A monitor is degraded.',
    DELISTED: 'The target of a blacklist monitor is no longer on any list. UP includes it.',
    DOWN: 'A monitor is down, or missed a heartbeat.',
    LISTED: 'The target of a blacklist monitor is on a list. DOWN includes it.',
    UNKNOWN: 'The state of a monitor has been unknown for a while.',
    UP: 'A monitor is up again.',
    WORKER_SILENT: 'No worker of Allclear probes a monitor. UNKNOWN includes it.',
  }),
})
builder.enumType(AlertSilence, {
  name: 'AlertSilence',
  description: 'Why an alert notifies no channel.',
  values: describedValues({
    FLAPPING: 'The monitor keeps failing and recovering. The channels were notified of that once.',
    MAINTENANCE: 'The service of the monitor is under maintenance.',
    PARENT_DOWN: 'A monitor that this one depends on is down.',
  }),
})
