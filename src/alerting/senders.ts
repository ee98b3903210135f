import type { AlertChannelKind } from '../generated/prisma/enums.ts'
import { gotify } from './sender/gotify.ts'
import { mail } from './sender/mail.ts'
import { matrix } from './sender/matrix.ts'
import { mattermost } from './sender/mattermost.ts'
import { ntfy } from './sender/ntfy.ts'
import { opsgenie } from './sender/opsgenie.ts'
import { pagerduty } from './sender/pagerduty.ts'
import { push } from './sender/push.ts'
import { pushover } from './sender/pushover.ts'
import type { AlertSender } from './sender/sender.ts'
import { discord, slack, teams, telegram } from './sender/subscriber-channels.ts'
import { webhook } from './sender/webhook.ts'

/** The sender of each channel kind. */
export const senders = {
  MAIL: mail,
  WEBHOOK: webhook,
  SLACK: slack,
  DISCORD: discord,
  TEAMS: teams,
  TELEGRAM: telegram,
  NTFY: ntfy,
  GOTIFY: gotify,
  PUSHOVER: pushover,
  PAGERDUTY: pagerduty,
  OPSGENIE: opsgenie,
  MATTERMOST: mattermost,
  MATRIX: matrix,
  PUSH: push,
} as const satisfies Record<AlertChannelKind, AlertSender>
