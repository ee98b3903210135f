import type { ChannelKind } from '../generated/prisma/enums.ts'
import type { Channel } from './channel/channel.ts'
import { discord } from './channel/discord.ts'
import { email } from './channel/email.ts'
import { slack } from './channel/slack.ts'
import { webhook } from './channel/standard-webhook.ts'
import { teams } from './channel/teams.ts'
import { telegram } from './channel/telegram.ts'

/** All channels by kind. */
export const channels = {
  EMAIL: email,
  WEBHOOK: webhook,
  SLACK: slack,
  DISCORD: discord,
  TEAMS: teams,
  TELEGRAM: telegram,
} as const satisfies Record<ChannelKind, Channel>
