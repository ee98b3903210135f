import type { Child } from 'hono/jsx'
import type { DomainError } from '../../core/errors.ts'
import { Conflict, Invalid, LimitExceeded, RateLimited, TierLimitReached } from '../../core/errors.ts'
import { ownValue } from '../../core/own-value.ts'
import type { ChannelKind } from '../../generated/prisma/enums.ts'
import type { FormState } from '../../http/page/form.tsx'
import { fieldProblem, InputField } from '../../http/page/form.tsx'
import { badgeSnippet, embedSnippet } from '../../http/page/snippet.tsx'
import type { Catalogue } from '../../language/catalogue.ts'
import type { PreferenceProps } from './preferences.tsx'
import { PreferenceFields } from './preferences.tsx'

export interface SubscribeProps extends PreferenceProps {
  readonly words: Catalogue
  readonly name: string
  readonly action: string
  /** The URL of the status page. */
  readonly pageUrl: string
  readonly isMailEnabled: boolean
  /** What other sites can show of the page; null if it is private. */
  readonly site: SiteProps | null
  /** The initially selected channel. */
  readonly channel: UpdateChannel
  readonly state: FormState
  /** The only incident to notify about, while it is open; null for the whole page. */
  readonly incident: { readonly id: string; readonly title: string } | null
}

/** What other sites can show of a page. */
interface SiteProps {
  /** The URL of its badge, in the reader's language. */
  readonly badge: string
  /** The URL of its status line, in the reader's language; null if the owner allows no site to show it. */
  readonly statusLine: string | null
}

/** A channel for updates. The last three need no subscription. */
export type UpdateChannel = ChannelKind | 'FEED' | 'CALENDAR' | 'SITE'

const channels = [
  'EMAIL',
  'WEBHOOK',
  'SLACK',
  'DISCORD',
  'TEAMS',
  'TELEGRAM',
  'FEED',
  'CALENDAR',
  'SITE',
] as const satisfies readonly UpdateChannel[]

/** Parses a channel; null for other texts. */
export function channelIn(text: string | null | undefined): UpdateChannel | null {
  return channels.find((channel) => channel === text) ?? null
}

/**
 * Renders the form that subscribes. Styles show only the fields of the selected channel, so that it works without
 * scripts.
 */
export function SubscribeForm(props: SubscribeProps) {
  const { words, name, action, isMailEnabled, incident, ...preferences } = props
  const state = inWords(props.state, words)
  const { subscribe } = words
  const isOffered = (channel: UpdateChannel) =>
    (isMailEnabled || channel !== 'EMAIL') &&
    (props.site !== null || channel !== 'SITE') &&
    (incident === null || isSent(channel))
  const offered = channels.filter(isOffered)
  const selected = offered.includes(props.channel) ? props.channel : offered[0]
  return (
    <form class="subscribe" action={action} method="post">
      <p class="lead">{incident === null ? subscribe.lead(name) : subscribe.leadIncident(incident.title)}</p>
      <Problem state={state} words={words} />
      {incident === null ? null : <input type="hidden" name="incidentId" value={incident.id} />}
      <fieldset>
        <legend>{subscribe.how}</legend>
        <div class="channels">
          {offered.map((channel) => (
            <label>
              <input
                type="radio"
                id={`channel-${channel.toLowerCase()}`}
                name="channel"
                value={channel}
                checked={channel === selected}
              />
              {subscribe.channels[channel]}
            </label>
          ))}
        </div>
        {isMailEnabled ? null : <p class="about">{subscribe.noMail}</p>}
      </fieldset>
      {offered.map((channel) => (
        <div class={`channel channel-${channel.toLowerCase()}`}>{channelFields(channel, { ...props, state })}</div>
      ))}
      <div class="sent">
        {incident === null ? (
          <PreferenceFields {...preferences} words={words} problem={topicProblem(state, words)} />
        ) : null}
        <p class="actions">
          <button type="submit">{subscribe.submit}</button>
        </p>
      </div>
    </form>
  )
}

const isSent = (channel: UpdateChannel) => channel !== 'FEED' && channel !== 'CALENDAR' && channel !== 'SITE'

const topicProblem = (state: FormState, { subscribe }: Catalogue) =>
  fieldProblem(state, 'topics') === null ? null : subscribe.needsTopic

/** The fields that show their own problems. */
const fields = ['email', 'webhook', 'slack', 'discord', 'teams', 'telegram.botToken', 'telegram.chatId', 'topics']

/** Translates the problems of fields. */
function inWords(state: FormState, { subscribe: { problems } }: Catalogue): FormState {
  const { problem } = state
  if (!(problem instanceof Invalid)) return state
  const messages: Readonly<Record<string, string>> = {
    email: problems.email,
    webhook: problems.url,
    slack: problems.webhookUrl('Slack'),
    discord: problems.webhookUrl('Discord'),
    teams: problems.webhookUrl('Microsoft Teams'),
    'telegram.botToken': problems.botToken,
    'telegram.chatId': problems.chatId,
  }
  const issues = problem.issues.flatMap((issue) => {
    const message = ownValue(messages, issue.path.join('.'))
    // Fields add the full stop.
    return message === undefined ? [issue] : [{ ...issue, message: message.replace(/[.。]$/, '') }]
  })
  return { ...state, problem: new Invalid(problem.code, problem.message, issues) }
}

/** Returns why a form was refused if every field is valid. */
function refusal(problem: DomainError, { subscribe: { problems } }: Catalogue): string {
  if (problem instanceof RateLimited || problem instanceof LimitExceeded) return problems.tooMany
  if (problem instanceof TierLimitReached) return problems.full
  return problem instanceof Conflict ? problems.resolved : problems.other
}

function Problem({ state, words }: Pick<SubscribeProps, 'state' | 'words'>) {
  if (state.problem === null) return null
  const isShown = fields.some((name) => fieldProblem(state, name) !== null)
  return (
    <p class="problem" id="problem" role="alert">
      {isShown ? words.subscribe.check : refusal(state.problem, words)}
    </p>
  )
}

/** Renders the fields of a channel, or the URLs to copy. */
function channelFields(
  channel: UpdateChannel,
  { words: { subscribe, page }, state, pageUrl, name, site }: SubscribeProps,
): Child {
  const url = { state, inputmode: 'url', autocomplete: 'off', placeholder: 'https://' } as const
  switch (channel) {
    case 'EMAIL':
      return (
        <InputField
          state={state}
          name="email"
          label={subscribe.email}
          hint={subscribe.emailHint}
          inputmode="email"
          autocomplete="email"
        />
      )
    case 'WEBHOOK':
      return <InputField {...url} name="webhook" label={subscribe.webhook} hint={subscribe.webhookHint} />
    case 'SLACK':
      return <InputField {...url} name="slack" label={subscribe.slack} hint={subscribe.slackHint} />
    case 'DISCORD':
      return <InputField {...url} name="discord" label={subscribe.discord} hint={subscribe.discordHint} />
    case 'TEAMS':
      return <InputField {...url} name="teams" label={subscribe.teams} hint={subscribe.teamsHint} />
    case 'TELEGRAM':
      return (
        <>
          <InputField
            state={state}
            name="telegram.botToken"
            type="password"
            autocomplete="off"
            label={subscribe.botToken}
            hint={subscribe.botTokenHint}
          />
          <InputField
            state={state}
            name="telegram.chatId"
            autocomplete="off"
            label={subscribe.chatId}
            hint={subscribe.chatIdHint}
          />
        </>
      )
    case 'FEED':
      return (
        <>
          <p>{subscribe.feedText}</p>
          <Address label="Atom" url={`${pageUrl}/history.atom`} />
          <Address label="RSS" url={`${pageUrl}/history.rss`} />
        </>
      )
    case 'CALENDAR':
      return (
        <>
          <p>{subscribe.calendarText}</p>
          <Address label={page.calendar} url={`${pageUrl}/maintenance.ics`} />
        </>
      )
    case 'SITE':
      return site === null ? null : (
        <>
          <p>{subscribe.siteText}</p>
          <Snippet label={subscribe.badge} html={badgeSnippet(pageUrl, site.badge, page.feed(name))}>
            <img src={site.badge} alt="" />
          </Snippet>
          {site.statusLine === null ? null : (
            <Snippet
              label={subscribe.statusLine}
              hint={subscribe.statusLineHint(name)}
              html={embedSnippet(site.statusLine, page.feed(name))}
            />
          )}
        </>
      )
  }
}

/** A URL to copy; one click selects it. */
function Address({ label, url }: { readonly label: string; readonly url: string }) {
  return (
    <div class="form-field">
      <a href={url}>{label}</a>
      <p class="address">
        <code>{url}</code>
      </p>
    </div>
  )
}

interface SnippetProps {
  readonly label: string
  readonly hint?: string
  readonly html: string
  /** A preview. */
  readonly children?: Child
}

/** HTML to copy; one click selects it. */
function Snippet({ label, hint, html, children }: SnippetProps) {
  return (
    <div class="form-field">
      <p class="snippet">
        {label} {children}
      </p>
      <p class="address">
        <code>{html}</code>
      </p>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  )
}

/** Renders the confirmation after subscribing, which is the same for known and new addresses. */
export function SubscriptionRequested({ words: { subscribe } }: Pick<SubscribeProps, 'words'>) {
  return (
    <>
      <p class="lead">{subscribe.sent}</p>
      <p>{subscribe.sentText}</p>
    </>
  )
}
