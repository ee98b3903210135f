import type { ChannelKind } from '../../generated/prisma/enums.ts'
import type { PreferenceProps } from './preferences.tsx'
import { PreferenceFields } from './preferences.tsx'

export interface SubscribeProps extends PreferenceProps {
  readonly name: string
  readonly action: string
  readonly isMailEnabled: boolean
  /** The rejected input and its error; null: an empty form. */
  readonly given: { readonly channel: string; readonly address: string; readonly problem: string } | null
}

const channelLabels = {
  EMAIL: 'Email',
  WEBHOOK: 'Webhook',
  SLACK: 'Slack',
  DISCORD: 'Discord',
  TEAMS: 'Microsoft Teams',
  TELEGRAM: 'Telegram',
} as const satisfies Record<ChannelKind, string>

/** Renders the form to subscribe. It works without scripts. */
export function SubscribeForm({ name, action, isMailEnabled, given, ...preferences }: SubscribeProps) {
  const offered = Object.entries(channelLabels).filter(([kind]) => isMailEnabled || kind !== 'EMAIL')
  return (
    <form class="subscribe" action={action} method="post">
      <p class="lead">
        Get notified about incidents and maintenance of {name}.{' '}
        {isMailEnabled ? 'We’ll email a link to confirm.' : 'We’ll send a link to confirm.'}
      </p>
      {given === null ? null : (
        <p class="problem" id="problem" role="alert">
          {given.problem}
        </p>
      )}
      <label for="channel">Channel</label>
      <select id="channel" name="channel">
        {offered.map(([kind, words]) => (
          <option value={kind} selected={given?.channel === kind}>
            {words}
          </option>
        ))}
      </select>
      {isMailEnabled ? null : <p class="about">Email isn’t set up on this service.</p>}
      <label for="address">Address</label>
      <input
        id="address"
        name="address"
        type="text"
        required
        autocomplete="email"
        autocapitalize="none"
        spellcheck={false}
        value={given?.address ?? ''}
        aria-invalid={given === null ? undefined : 'true'}
        aria-describedby={given === null ? 'where' : 'where problem'}
      />
      <p class="about" id="where">
        {isMailEnabled ? 'Your email address, the' : 'The'} URL of your webhook or of an incoming webhook of Slack,
        Discord or a Microsoft Teams workflow, or the ID of a Telegram chat.
      </p>
      <details open={given?.channel === 'TELEGRAM'}>
        <summary>Telegram: bot token</summary>
        <label for="botToken">Token from @BotFather of a bot that can post to the chat</label>
        <input id="botToken" name="botToken" type="password" autocomplete="off" />
      </details>
      <PreferenceFields {...preferences} />
      <p class="actions">
        <button type="submit">Subscribe</button>
      </p>
    </form>
  )
}

/** Renders the confirmation after subscribing, which is the same for known and new addresses. */
export function SubscriptionRequested() {
  return (
    <>
      <p class="lead">We sent a message with a confirmation link to the address you gave.</p>
      <p>
        The link works for 48 hours. If you don’t get a message, check your spam folder and the address. Already
        subscribed? The message links to your settings.
      </p>
    </>
  )
}
