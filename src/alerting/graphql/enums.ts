import { AlertChange, AlertChannelKind, AlertSilence } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'

builder.enumType(AlertChannelKind, {
  name: 'AlertChannelKind',
  description: 'How an alert channel reaches the team.',
  values: describedValues({
    DISCORD: 'A Discord webhook.',
    GOTIFY: 'An application of a Gotify server.',
    MAIL: 'A mail address.',
    MATRIX: 'A Matrix room.',
    MATTERMOST: 'A Mattermost incoming webhook.',
    NTFY: 'A topic of an ntfy server.',
    OPSGENIE: 'An Opsgenie integration: alerts are created, acknowledged and closed.',
    PAGERDUTY: 'A PagerDuty service (Events API v2): alerts are triggered, acknowledged and resolved.',
    PUSHOVER: 'A Pushover user or group.',
    SLACK: 'A Slack incoming webhook.',
    TEAMS: 'A Microsoft Teams workflow.',
    TELEGRAM: 'A Telegram chat.',
    WEBHOOK: 'A webhook, signed as Standard Webhooks specifies.',
  }),
})
builder.enumType(AlertChange, {
  name: 'AlertChange',
  description: 'A change of a monitor or an objective that an alert channel is notified of.',
  values: describedValues({
    BUDGET_BURNING: 'The error budget of an objective burns too fast, or faster than before.',
    BUDGET_RECOVERED: 'The error budget of an objective no longer burns too fast.',
    CERTIFICATE: 'A TLS certificate has expired, or expires soon. DEGRADED includes it.',
    DEGRADED: 'A monitor is degraded.',
    DELISTED: 'What a blacklist monitor watches is on no list any more. UP includes it.',
    DOWN: 'A monitor is down; a heartbeat was missed.',
    LISTED: 'What a blacklist monitor watches is on a list. DOWN includes it.',
    UNKNOWN: 'Nothing is known of a monitor for long.',
    UP: 'A monitor is up again.',
    WORKER_SILENT: 'No worker of Allclear probes a monitor. UNKNOWN includes it.',
  }),
})
builder.enumType(AlertSilence, {
  name: 'AlertSilence',
  description: 'Why nobody is notified of an alert.',
  values: describedValues({
    FLAPPING: 'Its monitor fails and recovers again and again, which was told once.',
    MAINTENANCE: 'The service of its monitor is under maintenance.',
    PARENT_DOWN: 'A monitor that its monitor depends on is down.',
  }),
})
