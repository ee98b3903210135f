import { quietHoursInput } from '../../alerting/channel.ts'
import type { AddressKey } from '../../alerting/channel-address.ts'
import { nameText } from '../../core/validation.ts'
import type { AlertChannel, Monitor, Service } from '../../generated/prisma/client.ts'
import type { Choice, FormState } from '../../http/form.tsx'
import { CheckboxesField, fieldProblem, InputField, isFieldLocked, SelectField, textRules } from '../../http/form.tsx'
import { isMailEnabled } from '../../notification/context.ts'
import { addressForms, addressKeyOf, changeChoices, kindLabel } from './alert-words.ts'
import { currentValue, EditProblem, isOutdated, VersionField } from './edit-fields.tsx'
import { LockedFields } from './managed.tsx'
import { ManyCheckboxes, namesInWords, readChosen } from './many-choices.tsx'
import type { Screen } from './screen.tsx'

/** What the editor of an alert channel offers. */
export interface ChannelChoices {
  readonly monitors: readonly Pick<Monitor, 'id' | 'name'>[]
  readonly services: readonly Pick<Service, 'id' | 'name'>[]
  /** Whether there are more of either. */
  readonly hasMore: boolean
  /** The other channels, to escalate to. */
  readonly others: readonly Pick<AlertChannel, 'id' | 'name'>[]
}

/** The most monitors, and services, that are offered besides those that are chosen. */
const MAX_OFFERED = 50

/** Reads what the editor offers: what is chosen always, so that saving keeps it. @param channel the edited one; null: a new one. */
export async function readChoices(
  { ctx: { db }, organization }: Screen,
  channel: AlertChannel | null,
): Promise<ChannelChoices> {
  const where = { organizationId: organization.id }
  const select = { id: true, name: true } as const
  const orderBy = [{ name: 'asc' as const }, { id: 'asc' as const }]
  const chosen = (ids: readonly string[] = []) => ({ where: { ...where, id: { in: [...ids] } }, select, orderBy })
  const rest = (ids: readonly string[] = []) => {
    return { where: { ...where, id: { notIn: [...ids] } }, select, orderBy, take: MAX_OFFERED + 1 }
  }
  const { monitorIds, serviceIds } = channel ?? {}
  const [ownMonitors, monitors, ownServices, services, others] = await Promise.all([
    db.monitor.findMany(chosen(monitorIds)),
    db.monitor.findMany(rest(monitorIds)),
    db.service.findMany(chosen(serviceIds)),
    db.service.findMany(rest(serviceIds)),
    db.alertChannel.findMany({ where: { ...where, id: { not: channel?.id ?? '' } }, select, orderBy }),
  ])
  return {
    monitors: [...ownMonitors, ...monitors.slice(0, MAX_OFFERED)],
    services: [...ownServices, ...services.slice(0, MAX_OFFERED)],
    hasMore: monitors.length > MAX_OFFERED || services.length > MAX_OFFERED,
    others,
  }
}

/** The fields of an address in a form, as `ntfy.topic`. */
export function addressIn(fields: URLSearchParams, key: AddressKey): Record<string, string> | null {
  const given = addressForms[key].flatMap(({ name, choices }) => {
    const value = fields.get(`${key}.${name}`)?.trim() ?? ''
    return value === '' ? [] : [{ name, value, isChoice: choices !== undefined }]
  })
  if (given.every(({ isChoice }) => isChoice)) return null
  return Object.fromEntries(given.map(({ name, value }) => [name, value]))
}

/** Reads the settings of a form, as the input's members. */
export function settingsIn(fields: URLSearchParams): Record<string, unknown> {
  const number = (name: string) => (fields.get(name)?.trim() ? Number(fields.get(name)) : null)
  const chosen = (name: string) => (fields.has(`${name}.shown`) ? readChosen(fields, name) : undefined)
  const channelId = fields.get('escalate.channelId') || null
  const [from, to] = [fields.get('quietHours.from') || null, fields.get('quietHours.to') || null]
  const timeZone = fields.get('quietHours.timeZone')?.trim() || null
  return {
    name: fields.get('name') ?? undefined,
    when: chosen('when'),
    monitorIds: chosen('monitorIds'),
    serviceIds: chosen('serviceIds'),
    remindAfterMinutes: number('remindAfterMinutes'),
    escalate: channelId === null ? null : { channelId, afterMinutes: number('escalate.afterMinutes') ?? 15 },
    quietHours: from === null && to === null ? null : { from: from ?? '', to: to ?? '', timeZone },
  }
}

const fieldNames = ['name', 'when', 'monitorIds', 'serviceIds', 'remindAfterMinutes', 'escalate', 'quietHours']

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
      {isMissing ? <p class="problem">Mail is not available: the operator has not set up SMTP_URL.</p> : null}
      <InputField
        label="Name"
        name="name"
        state={state}
        value={channel?.name ?? kindLabel(kind)}
        {...textRules(nameText)}
        hint={now(state, channel, { name: 'name', value: channel?.name ?? '' })}
      />
      {channel === null ? <AddressFields {...{ state, addressKey: key, isNew: true }} /> : null}
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
            <AddressFields {...{ state, addressKey: key, isNew: false }} />
          </div>
        </details>
      )}
      <p class="actions">
        <button type="submit">{channel === null ? 'Create channel' : 'Save'}</button>
        <a href={screen.path('alerts')}>Cancel</a>
      </p>
    </form>
  )
}

function AddressFields({
  state,
  addressKey,
  isNew,
}: {
  readonly state: FormState
  readonly addressKey: AddressKey
  readonly isNew: boolean
}) {
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

/** Returns whether an address was typed. */
const hasTyped = ({ fields }: FormState, key: AddressKey) => addressIn(fields, key) !== null

const hasConflict = (state: FormState, channel: AlertChannel | null) =>
  channel !== null && isOutdated(state, channel.version)

/** Returns the hint of a field, or its current value where somebody else has changed the channel. */
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

/** Does the same for a choice of any number. */
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

/** Chooses monitors and services. */
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
              'Nothing chosen: every monitor, those without a service too.',
            )}
          />
        )}
      </div>
    </details>
  )
}

/** Sets reminders, escalation and quiet hours. */
function Timing({ screen, state, channel, choices: { others } }: PartProps & { readonly screen: Screen }) {
  const quiet = channel === null ? null : quietHoursInput(channel)
  const escalates = [{ value: '', text: 'Nobody' }, ...others.map(({ id, name }) => ({ value: id, text: name }))]
  const wrong = ['remindAfterMinutes', 'escalate', 'quietHours'].some((name) => fieldProblem(state, name) !== null)
  const zone = quiet?.timeZone ?? screen.organization.timeZone
  const value = (
    name: string,
    stored: string | number | null | undefined,
    of: { shown?: string; hint?: string } = {},
  ) => now(state, channel, { name, value: String(stored ?? ''), ...of })
  const isSet = quiet !== null || channel?.remindAfterMinutes != null || channel?.escalateToId != null
  return (
    <details open={wrong || isSet || hasConflict(state, channel)}>
      <summary>Reminders, escalation and quiet hours</summary>
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
            hint: 'While it lasts and nobody has acknowledged it. Empty: never.',
          })}
        />
        {others.length === 0 ? null : (
          <>
            <SelectField
              label="When nobody acknowledges, notify"
              name="escalate.channelId"
              state={state}
              value={channel?.escalateToId ?? ''}
              choices={escalates}
              hint={value('escalate.channelId', channel?.escalateToId, {
                shown: escalates.find((each) => each.value === (channel?.escalateToId ?? ''))?.text ?? 'Nobody',
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
        <InputField
          label="Quiet from"
          name="quietHours.from"
          state={state}
          value={quiet?.from}
          pattern="([01][0-9]|2[0-3]):[0-5][0-9]"
          placeholder="22:00"
          hint={value('quietHours.from', quiet?.from, { hint: 'What comes in quiet hours waits until they end.' })}
        />
        <InputField
          label="Quiet until"
          name="quietHours.to"
          state={state}
          value={quiet?.to}
          pattern="([01][0-9]|2[0-3]):[0-5][0-9]"
          placeholder="07:00"
          hint={value('quietHours.to', quiet?.to)}
        />
        <InputField
          label="Time zone"
          name="quietHours.timeZone"
          state={state}
          value={zone}
          hint={value('quietHours.timeZone', zone)}
        />
      </div>
    </details>
  )
}
