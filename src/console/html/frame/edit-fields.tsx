import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { zoneName } from '../../../account/page/page-settings.ts'
import { Conflict } from '../../../core/errors.ts'
import { formatLocalTime, parseLocalTime } from '../../../core/time-zone.ts'
import { invalid, validate } from '../../../core/validation.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { CheckboxField, FormProblem, InputField, TextField, textRules } from '../../../http/page/form.tsx'
import { wordsOf } from '../../../language/catalogue.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { message as messageText } from '../../../status/timeline/timeline-limits.ts'
import type { Zone } from '../../../status-page/time-format.ts'
import { zoneOf } from '../../../status-page/time-format.ts'

/**
 * Contains the version that an edit is based on: the one that was read first, even after a preview or a refusal, until
 * a conflict has shown the current values.
 * @param version the current one.
 */
export function VersionField({ state, version }: { readonly state: FormState; readonly version: number }) {
  const read = readVersion(state.fields)
  const isKept = read !== undefined && Number.isInteger(read) && !isOutdated(state, version)
  return <input type="hidden" name="version" value={isKept ? read : version} />
}

/** Returns the version that an edit is based on; undefined: none. */
export function readVersion(fields: URLSearchParams): number | undefined {
  const version = fields.get('version')
  return version === null ? undefined : Number(version)
}

/** Returns whether a form was refused because another person has changed the same object. */
export function isOutdated({ fields, problem }: FormState, version: number): boolean {
  return problem instanceof Conflict && fields.has('version') && readVersion(fields) !== version
}

/**
 * Shows why an edit was refused.
 * @param version the current one.
 */
export function EditProblem({
  state,
  version,
  fields,
}: {
  readonly state: FormState
  readonly version: number
  readonly fields: readonly string[]
}) {
  if (!isOutdated(state, version)) return <FormProblem state={state} fields={fields} />
  return (
    <p class="problem" id="problem" role="alert">
      Another person has changed this in the meantime. Where a value differs, the current one is beside yours. Submit
      the form again to replace it with yours.
    </p>
  )
}

/** A field of an edited object, and its current value. */
interface CurrentField {
  readonly name: string
  /** As the field would send it; several for a multiple choice. */
  readonly value: string | readonly string[]
  /** For display; absent: as the field would send it. */
  readonly shown?: Child
  /** The hint if nothing differs. */
  readonly hint?: Child
  /** The input; absent: the values of its field. */
  readonly typed?: readonly string[]
}

/** Returns the hint of a field: the current value if another person has changed it and the input differs. */
export function currentValue(
  state: FormState,
  version: number,
  { name, value, shown, hint, typed = state.fields.getAll(name) }: CurrentField,
): Child | undefined {
  const { fields } = state
  const isSent = fields.has(name) || fields.has(`${name}.shown`)
  if (!isSent || !isOutdated(state, version)) return hint
  const values = [value].flat()
  if (asSet(typed) === asSet(values)) return hint
  const text = values.filter((each) => each !== '').join(', ')
  return <CurrentValue>{shown ?? (text === '' ? 'nothing' : text)}</CurrentValue>
}

/** Shows the value that another person has saved. */
export function CurrentValue({ children }: { readonly children: Child }) {
  return <span class="current-value">Now: {children}</span>
}

const asSet = (values: readonly string[]) =>
  values
    .map((value) => value.replaceAll('\r\n', '\n'))
    .filter((value) => value !== '')
    .sort()
    .join('\0')

/** Returns the hint of a time field: its zone, or the current time as in `currentValue`. */
export function currentTime(state: FormState, version: number, zone: Zone, name: string, at: Date): Child | undefined {
  const value = formatLocalTime(zone.name, at)
  return currentValue(state, version, { name, value, shown: zone.time(at), hint: `In the zone ${zone.name}.` })
}

/** Renders a field for a date and a time in the organization's zone. */
export function TimeField({
  zone,
  at,
  ...field
}: {
  readonly label: string
  readonly name: string
  readonly state: FormState
  readonly zone: Zone
  /** The time before any input; null: none. */
  readonly at?: Date | null | undefined
  readonly hint?: Child
  readonly required?: boolean
}) {
  return <InputField type="datetime-local" value={at ? formatLocalTime(zone.name, at) : ''} {...field} />
}

/**
 * Reads the time of a field; null: empty.
 * @param known the time shown in the field, which is more exact.
 * @throws Invalid unless it is a date and a time.
 */
export function readTime(fields: URLSearchParams, name: string, zone: Zone, known?: Date | null): Date | null {
  const text = fields.get(name)?.trim() ?? ''
  if (text === '') return null
  if (known && formatLocalTime(zone.name, known) === text) return known
  const at = parseLocalTime(zone.name, text)
  if (at === null) throw invalid([{ path: [name], message: 'must be a date and a time' }])
  return at
}

/** Renders the time zone of the times in a form, which `readZone` reads. */
export function ZoneField({
  state,
  zone,
  hint,
}: {
  readonly state: FormState
  readonly zone: Zone
  readonly hint: Child
}) {
  return (
    <InputField
      label="Time zone"
      name="timeZone"
      state={state}
      value={zone.name}
      required
      autocomplete="off"
      hint={hint}
    />
  )
}

/**
 * Reads the time zone of a form; without one, it is the default.
 * @throws Invalid for an unknown one.
 */
export function readZone(fields: URLSearchParams, defaultZone: Zone): Zone {
  const name = fields.get('timeZone')?.trim() || defaultZone.name
  return name === defaultZone.name
    ? defaultZone
    : zoneOf(validate(z.object({ timeZone: zoneName }), { timeZone: name }).timeZone)
}

/** Renders the field of a message in Markdown, with a preview. */
export function MessageField({
  state,
  preview,
  value,
  hint,
  rows = 5,
  rules = messageText,
}: {
  readonly state: FormState
  /** The rendered message; null: not requested. */
  readonly preview: MessagePreview | null
  readonly value?: string
  readonly hint?: Child
  readonly rows?: number
  readonly rules?: typeof messageText
}) {
  return (
    <>
      <TextField
        label="Message"
        name="message"
        state={state}
        value={value}
        hint={hint}
        rows={rows}
        {...textRules(rules)}
      />
      {preview === null ? null : (
        <section class="preview" id="preview" aria-label="Preview" tabindex={-1}>
          <div class="prose" dir="auto">
            {raw(preview.html)}
          </div>
          {preview.translations.map(({ language, html }) => (
            <div lang={wordsOf(language).tag}>
              <h3>{wordsOf(language).name}</h3>
              <div class="prose" dir="auto">
                {raw(html)}
              </div>
            </div>
          ))}
        </section>
      )}
    </>
  )
}

/**
 * Renders the choice whether subscribers are notified.
 * @param checked the choice before any input.
 */
export function NotifySubscribersField({
  state,
  checked = true,
  hint,
}: {
  readonly state: FormState
  readonly checked?: boolean
  readonly hint?: Child
}) {
  return <CheckboxField label="Notify subscribers" name="notifySubscribers" {...{ state, checked, hint }} />
}

/** Returns the hint of `NotifySubscribersField`, or the current choice as in `currentValue`. */
export function currentNotifySubscribers(
  state: FormState,
  version: number,
  checked: boolean,
  hint: string,
): Child | undefined {
  const value = checked ? 'true' : ''
  return currentValue(state, version, { name: 'notifySubscribers', value, shown: checked ? 'yes' : 'no', hint })
}

/** Reads the choice of `NotifySubscribersField`; undefined: the form does not have it. */
export function readNotifySubscribers(fields: URLSearchParams): boolean | undefined {
  return fields.has('notifySubscribers.shown') ? fields.has('notifySubscribers') : undefined
}

/** Renders the button that previews the message without sending it. */
export function PreviewButton() {
  return (
    <button type="submit" name="preview" value="true" class="quiet" formnovalidate>
      Preview
    </button>
  )
}

/** Renders a separate page that asks for confirmation of a deletion, and lists what is deleted too. */
export function ConfirmDeletion({
  state,
  what,
  back,
  label = 'Delete',
  children,
}: {
  readonly state: FormState
  /** The name of the object to delete. */
  readonly what: string
  /** The page to go back to. */
  readonly back: string
  readonly label?: string
  readonly children: Child
}) {
  return (
    <form method="post" class="stack" id="confirm">
      <FormProblem state={state} />
      <p class="lead">{what}</p>
      {children}
      <p class="actions">
        <button type="submit" class="danger">
          {label}
        </button>
        <a class="button quiet" href={back}>
          Keep it
        </a>
      </p>
    </form>
  )
}
