import type { ChannelKind } from '../../generated/prisma/enums.ts'
import type { ChoiceProps } from './choices.tsx'
import { ChoiceFields } from './choices.tsx'

export interface SubscribeProps extends ChoiceProps {
  readonly name: string
  readonly action: string
  readonly offersMail: boolean
  /** What was typed before, and what is wrong with it; null: the form is new. */
  readonly given: { readonly channel: string; readonly address: string; readonly problem: string } | null
}

const channelWords = {
  EMAIL: 'E-mail',
  WEBHOOK: 'Webhook',
  SLACK: 'Slack',
  DISCORD: 'Discord',
  TEAMS: 'Microsoft Teams',
  TELEGRAM: 'Telegram',
} as const satisfies Record<ChannelKind, string>

/** The form to subscribe with. It needs no script. */
export function SubscribeForm({ name, action, offersMail, given, ...choices }: SubscribeProps) {
  const offered = Object.entries(channelWords).filter(([kind]) => offersMail || kind !== 'EMAIL')
  return (
    <form class="subscribe" action={action} method="post">
      <p class="lead">Be told when something happens at {name}. Nothing is sent before you have confirmed it.</p>
      {given === null ? null : (
        <p class="problem" id="problem" role="alert">
          {given.problem}
        </p>
      )}
      <label for="channel">How</label>
      <select id="channel" name="channel">
        {offered.map(([kind, words]) => (
          <option value={kind} selected={given?.channel === kind}>
            {words}
          </option>
        ))}
      </select>
      {offersMail ? null : <p class="about">E-mail is not offered: this service has not been set up to send any.</p>}
      <label for="address">Where</label>
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
        {offersMail ? 'Your e-mail address; or the' : 'The'} URL of your webhook, or of an incoming webhook of Slack,
        Discord or a workflow of Microsoft Teams; or the id of a Telegram chat.
      </p>
      <details open={given?.channel === 'TELEGRAM'}>
        <summary>For Telegram: the token of your bot</summary>
        <label for="botToken">Token of a bot that may write to the chat, from @BotFather</label>
        <input id="botToken" name="botToken" type="password" autocomplete="off" />
      </details>
      <ChoiceFields {...choices} />
      <p class="actions">
        <button type="submit">Subscribe</button>
      </p>
    </form>
  )
}

/** What everybody is told who has subscribed, whatever was known of the address. */
export function Asked() {
  return (
    <>
      <p class="lead">Thank you. A message is on its way to the address you gave; it holds a link to confirm with.</p>
      <p>
        The link works for 48 hours. If nothing comes, look into the spam folder, or see whether the address is right.
        When it was subscribed before, the message leads to what it is told.
      </p>
    </>
  )
}
