import { listOtherChannels } from '../../../alerting/alert-queries.ts'
import { pushMembers } from '../../../alerting/channel.ts'
import type { AddressKey } from '../../../alerting/channel-address.ts'
import { quietTimesInput, quietTimesOf, weekdays } from '../../../alerting/quiet-hours.ts'
import { nameText } from '../../../core/validation.ts'
import type { AlertChannel, Monitor, Service } from '../../../generated/prisma/client.ts'
import type { Choice, FormState } from '../../../http/page/form.tsx'
import {
  CheckboxesField,
  fieldProblem,
  InputField,
  isFieldLocked,
  SelectField,
  textRules,
} from '../../../http/page/form.tsx'
import { offerMonitors } from '../../../monitoring/monitor/monitor-queries.ts'
import { isMailEnabled } from '../../../notification/context.ts'
import { membersOf } from '../../../people/membership.ts'
import { offerServices } from '../../../status/service/service-queries.ts'
import { currentValue, EditProblem, isOutdated, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields } from '../frame/managed.tsx'
import { ManyCheckboxes, namesInWords, readChosen } from '../frame/many-choices.tsx'
import { PrivateTargetsOffer } from '../frame/private-targets.tsx'
import type { Screen } from '../frame/screen.tsx'
import { addressForms, addressKeyOf, changeChoices, kindLabel } from './alert-words.ts'

/** The choices in the editor of an alert channel. */
export interface ChannelChoices {
  readonly monitors: readonly Pick<Monitor, 'id' | 'name'>[]
  readonly services: readonly Pick<Service, 'id' | 'name'>[]
  /** Whether there are more of either. */
  readonly hasMore: boolean
  /** The other channels, to escalate to. */
  readonly others: readonly Pick<AlertChannel, 'id' | 'name'>[]
  /** The members whose browsers a channel can reach, and those that it names. */
  readonly members: readonly Choice[]
  readonly chosenMembers: readonly string[]
}

/** The maximum number of monitors, services and members to choose from, besides the selected ones. */
const MAX_OFFERED = 50

/**
 * Reads the choices of the editor. They include the selected items, so that saving keeps them.
 * @param channel null: a new one.
 */
export async function readChoices(
  { ctx, organization }: Screen,
  channel: AlertChannel | null,
): Promise<ChannelChoices> {
  const { monitorIds = [], serviceIds = [] } = channel ?? {}
  const [monitors, services, others, members] = await Promise.all([
    offerMonitors(ctx, organization.id, { chosenIds: monitorIds, excludedId: null, limit: MAX_OFFERED }),
    offerServices(ctx, organization.id, serviceIds, MAX_OFFERED),
    listOtherChannels(ctx, organization.id, channel?.id ?? null),
    membersOf(ctx),
  ])
  return {
    monitors: [...monitors.chosen, ...monitors.others],
    services: [...services.chosen, ...services.others],
    hasMore: monitors.hasMore || services.hasMore,
    others,
    members: members.slice(0, MAX_OFFERED).map(({ user: { id, name, email } }) => ({ value: id, text: name || email })),
    chosenMembers: channel === null ? [] : pushMembers(ctx, channel),
  }
}

/** The fields of an address in a form, as `ntfy.topic`. */
export function addressIn(fields: URLSearchParams, key: AddressKey): Record<string, unknown> | null {
  if (key === 'push') return fields.has('push.userIds.shown') ? { userIds: readChosen(fields, 'push.userIds') } : null
  const given = addressForms[key].flatMap(({ name, choices }) => {
    const value = fields.get(`${key}.${name}`)?.trim() ?? ''
    return value === '' ? [] : [{ name, value, isChoice: choices !== undefined }]
  })
  if (given.every(({ isChoice }) => isChoice)) return null
  return Object.fromEntries(
    given.map(({ name, value, isChoice }) => [name, isChoice && value === 'true' ? true : value]),
  )
}

/** Reads the settings of a form, as the input's members. */
export function settingsIn(fields: URLSearchParams): Record<string, unknown> {
  const number = (name: string) => (fields.get(name)?.trim() ? Number(fields.get(name)) : null)
  const chosen = (name: string) => (fields.has(`${name}.shown`) ? readChosen(fields, name) : undefined)
  const channelId = fields.get('escalate.channelId') || null
  return {
    name: fields.get('name') ?? undefined,
    when: chosen('when'),
    monitorIds: chosen('monitorIds'),
    serviceIds: chosen('serviceIds'),
    remindAfterMinutes: number('remindAfterMinutes'),
    escalate: channelId === null ? null : { channelId, afterMinutes: number('escalate.afterMinutes') ?? 15 },
    // A disabled choice is not sent.
    quietTimes: fields.has('quietTimes.timeZone') ? quietTimesIn(fields) : undefined,
  }
}

/** The maximum number of rows of windows in the editor. */
const MAX_WINDOWS = 14
const rowName = (index: number) => `quietTimes.windows.${index}`

/** Reads the quiet times of a form: skips rows without times; a row without days applies every day. */
function quietTimesIn(fields: URLSearchParams) {
  const windows = Array.from({ length: MAX_WINDOWS }, (_, index) => {
    const of = (name: string) => fields.get(`${rowName(index)}.${name}`)?.trim() ?? ''
    const days = readChosen(fields, `${rowName(index)}.days`)
    return { days: days.length === 0 ? weekdays : days, from: of('from'), to: of('to') }
  }).filter(({ from, to }) => from !== '' || to !== '')
  if (windows.length === 0) return null
  return { windows, timeZone: fields.get('quietTimes.timeZone')?.trim() || null }
}

const fieldNames = ['name', 'when', 'monitorIds', 'serviceIds', 'remindAfterMinutes', 'escalate', 'quietTimes']

/** Renders the editor of an alert channel. */
export function ChannelForm(props: {
  readonly screen: Screen
  readonly state: FormState
  readonly kind: AlertChannel['kind']
  /** Null: a new channel. */
  readonly channel: AlertChannel | null
  readonly choices: ChannelChoices
}) {
  const { screen, state, kind, channel, choices } = props
  const key = addressKeyOf(kind)
  const isMissing = kind === 'MAIL' && !isMailEnabled(screen.ctx.config)
  return (
    <form method="post" class="stack" id="channel-form">
      <EditProblem state={state} version={channel?.version ?? 0} fields={[...fieldNames, key]} />
      {channel === null ? (
        <input type="hidden" name="kind" value={key} />
      ) : (
        <>
          <VersionField state={state} version={channel.version} />
          <LockedFields state={state} />
        </>
      )}
      {isMissing ? <p class="problem">Email is not available: the operator has not set up SMTP_URL.</p> : null}
      <InputField
        label="Name"
        name="name"
        state={state}
        value={channel?.name ?? kindLabel(kind)}
        {...textRules(nameText)}
        hint={now(state, channel, { name: 'name', value: channel?.name ?? '' })}
      />
      {channel === null ? <AddressFields {...{ state, choices, addressKey: key, isNew: true }} /> : null}
      <CheckboxesField
        label="Notify about"
        name="when"
        state={state}
        values={channel?.changes ?? changeChoices.map(({ value }) => value)}
        choices={changeChoices}
        hint={nowOf(state, channel, 'when', channel?.changes ?? [], changeChoices)}
      />
      <Scope {...{ state, channel, choices }} />
      <Timing {...{ screen, state, channel, choices }} />
      {channel === null || isFieldLocked(state, key) ? null : (
        <details open={fieldProblem(state, key) !== null || (hasConflict(state, channel) && hasTyped(state, key))}>
          <summary>Replace the address ({channel.label})</summary>
          <div class="stack">
            <AddressFields {...{ state, choices, addressKey: key, isNew: false }} />
          </div>
        </details>
      )}
      <p class="actions">
        <button type="submit">{channel === null ? 'Create channel' : 'Save'}</button>
        <a href={screen.path('alerts')}>Cancel</a>
      </p>
      <PrivateTargetsOffer {...{ screen, state }} />
    </form>
  )
}

function AddressFields({
  state,
  choices: { members, chosenMembers },
  addressKey,
  isNew,
}: {
  readonly state: FormState
  readonly choices: ChannelChoices
  readonly addressKey: AddressKey
  readonly isNew: boolean
}) {
  if (addressKey === 'push')
    return (
      <ManyCheckboxes
        label="Members"
        name="push.userIds"
        state={state}
        values={chosenMembers}
        choices={members}
        hint="Their browsers get alerts once they turn on notifications under their name. None chosen: every member."
      />
    )
  return (
    <>
      {addressForms[addressKey].map(({ name, choices, required, ...field }) => {
        const common = { ...field, name: `${addressKey}.${name}`, state, ...(isNew && required && { required }) }
        return choices === undefined ? (
          <InputField {...common} autocomplete="off" maxlength={2048} />
        ) : (
          <SelectField {...{ ...common, choices }} value={choices[0]?.value} />
        )
      })}
    </>
  )
}

/** Returns whether the address is not empty. */
const hasTyped = ({ fields }: FormState, key: AddressKey) => addressIn(fields, key) !== null

const hasConflict = (state: FormState, channel: AlertChannel | null) =>
  channel !== null && isOutdated(state, channel.version)

/** Returns the hint of a field, or its current value if another person has changed the channel. */
function now(
  state: FormState,
  channel: AlertChannel | null,
  field: {
    readonly name: string
    readonly value: string | readonly string[]
    readonly shown?: string
    hint?: string
    typed?: readonly string[]
  },
) {
  return channel === null ? field.hint : currentValue(state, channel.version, field)
}

/** Returns the hint of a multiple choice, or its current value, like `now`. */
function nowOf(
  state: FormState,
  channel: AlertChannel | null,
  name: string,
  value: readonly string[],
  choices: readonly Choice[],
  hint?: string,
) {
  const shown = choices.filter((choice) => value.includes(choice.value)).map(({ text }) => text)
  const typed = readChosen(state.fields, name)
  const given = { name, value, typed, shown: namesInWords(shown), ...(hint !== undefined && { hint }) }
  return now(state, channel, given)
}

interface PartProps {
  readonly state: FormState
  readonly channel: AlertChannel | null
  readonly choices: ChannelChoices
}

/** Renders the choice of monitors and services. */
function Scope({ state, channel, choices: { monitors, services, hasMore } }: PartProps) {
  const options = (all: readonly { readonly id: string; readonly name: string }[]) =>
    all.map(({ id, name }) => ({ value: id, text: name }))
  if (monitors.length + services.length === 0) return null
  const isChosen = channel !== null && channel.monitorIds.length + channel.serviceIds.length > 0
  return (
    <details open={isChosen || hasConflict(state, channel) || fieldProblem(state, 'monitorIds') !== null}>
      <summary>Only some monitors or services</summary>
      <div class="stack">
        {hasMore ? <p class="hint">Only the first {MAX_OFFERED} are offered. Choose others over GraphQL.</p> : null}
        {services.length === 0 ? null : (
          <ManyCheckboxes
            label="Services"
            name="serviceIds"
            state={state}
            values={channel?.serviceIds ?? []}
            choices={options(services)}
            hint={nowOf(
              state,
              channel,
              'serviceIds',
              channel?.serviceIds ?? [],
              options(services),
              'All of their monitors.',
            )}
          />
        )}
        {monitors.length === 0 ? null : (
          <ManyCheckboxes
            label="Monitors"
            name="monitorIds"
            state={state}
            values={channel?.monitorIds ?? []}
            choices={options(monitors)}
            hint={nowOf(
              ...([state, channel, 'monitorIds', channel?.monitorIds ?? [], options(monitors)] as const),
              'None chosen: every monitor, including those without a service.',
            )}
          />
        )}
      </div>
    </details>
  )
}

/** Renders reminders, escalation and quiet times. */
function Timing({ screen, state, channel, choices: { others } }: PartProps & { readonly screen: Screen }) {
  const quiet = channel && quietTimesOf(channel)
  const escalates = [{ value: '', text: 'No one' }, ...others.map(({ id, name }) => ({ value: id, text: name }))]
  const wrong = ['remindAfterMinutes', 'escalate', 'quietTimes'].some((name) => fieldProblem(state, name) !== null)
  const value = (
    name: string,
    stored: string | number | null | undefined,
    of: { shown?: string; hint?: string } = {},
  ) => now(state, channel, { name, value: String(stored ?? ''), ...of })
  const isSet = quiet !== null || channel?.remindAfterMinutes != null || channel?.escalateToId != null
  return (
    <details open={wrong || isSet || hasConflict(state, channel)}>
      <summary>Reminders, escalation and quiet times</summary>
      <div class="stack">
        <InputField
          label="Remind every … minutes"
          name="remindAfterMinutes"
          type="number"
          min={5}
          max={1440}
          state={state}
          value={channel?.remindAfterMinutes}
          hint={value('remindAfterMinutes', channel?.remindAfterMinutes, {
            hint: 'While it lasts and no one has acknowledged it. Empty: never.',
          })}
        />
        {others.length === 0 ? null : (
          <>
            <SelectField
              label="When no one acknowledges, notify"
              name="escalate.channelId"
              state={state}
              value={channel?.escalateToId ?? ''}
              choices={escalates}
              hint={value('escalate.channelId', channel?.escalateToId, {
                shown: escalates.find((each) => each.value === (channel?.escalateToId ?? ''))?.text ?? 'No one',
              })}
            />
            <InputField
              label="After … minutes"
              name="escalate.afterMinutes"
              type="number"
              min={1}
              max={1440}
              state={state}
              value={channel?.escalateAfterMinutes ?? 15}
              hint={value('escalate.afterMinutes', channel?.escalateAfterMinutes ?? 15)}
            />
          </>
        )}
        <QuietTimesFields {...{ screen, state, channel }} />
      </div>
    </details>
  )
}

const dayLabels = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const dayChoices = weekdays.map((value, index) => ({ value, text: dayLabels[index] ?? value }))

/** Renders the windows in which a channel gets no messages: a row for each, and an empty one. */
function QuietTimesFields({
  screen,
  state,
  channel,
}: Pick<PartProps, 'state' | 'channel'> & { readonly screen: Screen }) {
  const times = channel && quietTimesOf(channel)
  const stored = times === null ? null : quietTimesInput(times)
  const zone = stored?.timeZone ?? screen.organization.timeZone
  const windows = stored?.windows ?? []
  const typed = quietTimesIn(state.fields)?.windows.length ?? 0
  const rows = Math.min(Math.max(windows.length, typed) + 1, MAX_WINDOWS)
  const isLocked = isFieldLocked(state, 'quietTimes')
  return (
    <fieldset class="stack" disabled={isLocked}>
      <legend>Quiet times</legend>
      <p class="hint">
        The channel gets no messages at these times; alerts wait until the window ends. If “Until” is not later than
        “From”, the window ends on the next day; the latest time is 24:00. If you choose no day, the window applies
        every day.
      </p>
      {fieldProblem(state, 'quietTimes') === null ? null : <p class="problem">{fieldProblem(state, 'quietTimes')}</p>}
      {Array.from({ length: rows }, (_, index) => (
        <WindowRow {...{ state, channel, index }} stored={windows[index] ?? null} />
      ))}
      <InputField
        label="Time zone"
        name="quietTimes.timeZone"
        state={state}
        value={zone}
        hint={now(state, channel, { name: 'quietTimes.timeZone', value: zone })}
      />
    </fieldset>
  )
}

function WindowRow({
  state,
  channel,
  index,
  stored,
}: Pick<PartProps, 'state' | 'channel'> & {
  readonly index: number
  readonly stored: ReturnType<typeof quietTimesInput>['windows'][number] | null
}) {
  const name = (part: string) => `${rowName(index)}.${part}`
  const days = stored?.days ?? []
  const time = (part: 'from' | 'to', label: string, pattern: string) => (
    <InputField
      label={`${label} (${index + 1})`}
      name={name(part)}
      state={state}
      value={stored?.[part]}
      pattern={pattern}
      placeholder={part === 'from' ? '22:00' : '07:00'}
      hint={now(state, channel, { name: name(part), value: stored?.[part] ?? '' })}
    />
  )
  return (
    <>
      <CheckboxesField
        label={`Days (${index + 1})`}
        name={name('days')}
        state={state}
        values={days}
        choices={dayChoices}
        hint={nowOf(state, channel, name('days'), days, dayChoices)}
      />
      {time('from', 'From', '([01][0-9]|2[0-3]):[0-5][0-9]')}
      {time('to', 'Until', '(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)')}
    </>
  )
}
