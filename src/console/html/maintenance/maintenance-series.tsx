import { invalid } from '../../../core/validation.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { CheckboxesField, fieldProblem, InputField, SelectField, textRules } from '../../../http/page/form.tsx'
import { listMaintenanceSeries, readSeriesServiceIds } from '../../../status/maintenance/maintenance-queries.ts'
import {
  createMaintenanceSeries,
  deleteMaintenanceSeries,
  endMaintenanceSeries,
  findMaintenanceSeries,
  previewDates,
  ruleWithEnd,
  updateMaintenanceSeries,
} from '../../../status/maintenance/maintenance-series.ts'
import {
  friendlyRule,
  instantOf,
  localOf,
  MAX_RULE_LENGTH,
  nextDates,
  ruleInWords,
} from '../../../status/maintenance/recurrence.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import { titleText } from '../../../status/timeline/timeline-limits.ts'
import type { BothTexts } from '../../../status/timeline/translations.ts'
import { storedTexts } from '../../../status/timeline/translations.ts'
import { Time } from '../../../status-page/html/time.tsx'
import type { Zone } from '../../../status-page/time-format.ts'
import { zoneOf } from '../../../status-page/time-format.ts'
import {
  ConfirmDeletion,
  currentNotifySubscribers,
  currentValue,
  EditProblem,
  MessageField,
  NotifySubscribersField,
  readNotifySubscribers,
  readTime,
  readVersion,
  readZone,
  TimeField,
  VersionField,
  ZoneField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import {
  currentServices,
  isDraft,
  readServiceIds,
  readServiceNames,
  ServiceChoice,
} from '../services/service-fields.tsx'

type Series = Prisma.MaintenanceSeriesGetPayload<object>

/** The number of dates in a preview. */
const PREVIEW_DATES = 5

/** Adds the screens of repeating maintenance: the list, and the forms that create, edit, end and delete it. */
export function maintenanceSeriesScreens({ get, form }: Screens): void {
  get('maintenance/series', showList)
  form('maintenance/series/new', (screen, state) => showForm(screen, state, null, null), submitNew)
  form(
    'maintenance/series/:id/edit',
    async (screen, state) => showForm(screen, state, await read(screen), null),
    submitEdit,
  )
  form(
    'maintenance/series/:id/end',
    (screen, state) => confirm(screen, state, 'End'),
    async (screen) => {
      await endMaintenanceSeries(screen.ctx, idIn(screen))
      return 'maintenance/series'
    },
  )
  form(
    'maintenance/series/:id/delete',
    (screen, state) => confirm(screen, state, 'Delete'),
    async (screen) => {
      await deleteMaintenanceSeries(screen.ctx, idIn(screen))
      return 'maintenance/series'
    },
  )
}

const read = (screen: Screen) => findMaintenanceSeries(screen.ctx, screen.organization.id, idIn(screen))

async function showList(screen: Screen): Promise<Response> {
  const { ctx, organization, zone } = screen
  const series = await listMaintenanceSeries(ctx, organization.id)
  const next = await Promise.all(series.map((each) => nextDates(each, ctx.now(), 1)))
  const content =
    series.length === 0 ? (
      <p class="lead">No repeating maintenance yet.</p>
    ) : (
      <ul class="rows">
        {series.map((each, index) => (
          <SeriesRow series={each} next={next[index]?.dates[0]?.startsAt} {...{ screen, zone }} />
        ))}
      </ul>
    )
  const create = (
    <a class="button" href={screen.path('maintenance/series/new')}>
      Repeat maintenance
    </a>
  )
  const actions = screen.may('WRITE') ? create : undefined
  return screen.show({ title: 'Repeating maintenance', section: 'maintenance', content, actions })
}

interface RowProps {
  readonly screen: Screen
  readonly zone: Zone
  readonly series: Series
  readonly next: Date | undefined
}

function SeriesRow({ screen, zone, series: { id, title, rule, firstStart, timeZone }, next }: RowProps) {
  const link = (name: string, text: string) => (
    <a href={screen.path(`maintenance/series/${id}/${name}`)} aria-label={`${text}: ${title}`}>
      {text}
    </a>
  )
  return (
    <li id={id}>
      {screen.may('WRITE') ? <a href={screen.path(`maintenance/series/${id}/edit`)}>{title}</a> : <span>{title}</span>}
      <span class="row-facts">
        {ruleInWords(rule, firstStart)}
        {timeZone === zone.name ? null : ` (${timeZone})`} ·{' '}
        {next === undefined ? 'Ended' : <>Next: {<Time at={next} zone={zone} />}</>}
        {screen.may('WRITE') ? (
          <>
            {next === undefined ? null : <> · {link('end', 'End')}</>} · {link('delete', 'Delete')}
          </>
        ) : null}
      </span>
    </li>
  )
}

const repetitions = [
  { value: 'WEEKLY', text: 'Weekly, on these days' },
  { value: 'DAILY', text: 'Daily' },
  { value: 'MONTHLY', text: 'Monthly, on the day of the first start' },
  { value: 'MONTHLY_WEEKDAY', text: 'Monthly, on the weekday of the first start' },
  { value: 'CUSTOM', text: 'By the rule below' },
]

const dayChoices = [
  { value: 'MO', text: 'Monday' },
  { value: 'TU', text: 'Tuesday' },
  { value: 'WE', text: 'Wednesday' },
  { value: 'TH', text: 'Thursday' },
  { value: 'FR', text: 'Friday' },
  { value: 'SA', text: 'Saturday' },
  { value: 'SU', text: 'Sunday' },
]

/** Returns the rule for the choices of a form. */
function readRule(fields: URLSearchParams, startsAt: Date, zone: Zone): string {
  const repeat = fields.get('repeat') ?? ''
  if (repeat === 'CUSTOM') return fields.get('rule') ?? ''
  return friendlyRule({
    repeat,
    interval: fields.get('interval') ?? '',
    days: fields.getAll('days'),
    until: fields.get('until') ?? '',
    local: localOf(zone.name, startsAt),
  })
}

/** Returns the time zone of a form. @throws Invalid for an unknown one. */
function zoneIn(screen: Screen, fields: URLSearchParams, known: Series | null): Zone {
  return readZone(fields, known === null ? screen.zone : zoneOf(known.timeZone))
}

/** Reads the fields of a form. @throws Invalid for an invalid time zone, first start or duration. */
function readFields(screen: Screen, fields: URLSearchParams, known: Series | null) {
  const zone = zoneIn(screen, fields, known)
  const first = known && instantOf(known.timeZone, known.anchor)
  const startsAt = readTime(fields, 'startsAt', zone, first)
  if (startsAt === null) throw invalid([{ path: ['startsAt'], message: 'must be a date and a time' }])
  return {
    title: fields.get('title') ?? '',
    message: fields.get('message') ?? '',
    translations: readTranslations(fields),
    startsAt,
    timeZone: zone.name,
    durationMinutes: Number(fields.get('durationMinutes') || Number.NaN),
    rule: readRule(fields, startsAt, zone),
    serviceIds: readServiceIds(fields),
    notifySubscribers: readNotifySubscribers(fields),
  }
}

async function submitNew(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  if (isDraft(fields)) return showForm(screen, { fields, problem: null }, null, await previewOf(screen, fields, null))
  await createMaintenanceSeries(screen.ctx, readFields(screen, fields, null))
  return 'maintenance/series'
}

async function submitEdit(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const series = await read(screen)
  if (isDraft(fields)) {
    return showForm(screen, { fields, problem: null }, series, await previewOf(screen, fields, series))
  }
  const { startsAt, rule, timeZone, ...rest } = readFields(screen, fields, series)
  const isMoved = timeZone !== series.timeZone || +startsAt !== +instantOf(series.timeZone, series.anchor)
  await updateMaintenanceSeries(screen.ctx, {
    id: series.id,
    ...rest,
    ...((isMoved || rule !== ruleWithEnd(series)) && { rule, startsAt, timeZone }),
    version: readVersion(fields),
  })
  return 'maintenance/series'
}

interface Preview {
  readonly message: MessagePreview
  readonly dates: readonly Date[]
  /** The time zone of the rule. */
  readonly zone: Zone
}

/** @throws Invalid as a creation would. */
async function previewOf(screen: Screen, fields: URLSearchParams, series: Series | null): Promise<Preview | null> {
  if (!fields.has('preview')) return null
  const { message, translations, ...planned } = readFields(screen, fields, series)
  const dates = await previewDates(screen.ctx, planned, PREVIEW_DATES)
  return { message: await previewMessage(screen.ctx, { message, translations }), dates, zone: zoneOf(planned.timeZone) }
}

const ownFields = [
  'title',
  'startsAt',
  'timeZone',
  'durationMinutes',
  'rule',
  'message',
  'serviceIds',
  TRANSLATIONS,
] as const

async function showForm(
  screen: Screen,
  state: FormState,
  series: Series | null,
  preview: Preview | null,
): Promise<Response> {
  const { title, message, translations, notifySubscribers, version } = series ?? unwritten
  const written = textsIn(translations)
  const now = (name: string, value: string) => currentValue(state, version, { name, value })
  const [services, chosen] = await Promise.all([
    readServiceNames(screen),
    series === null ? [] : readSeriesServiceIds(screen.ctx, series.id),
  ])
  const content = (
    <form method="post" class="stack composer" id="series">
      <EditProblem state={state} version={version} fields={ownFields} />
      {series === null ? null : <VersionField state={state} version={version} />}
      <InputField
        label="Title"
        name="title"
        state={state}
        value={title}
        {...textRules(titleText)}
        hint={now('title', title)}
      />
      <StartFields {...{ screen, state, series }} />
      <RepeatFields state={state} series={series} />
      <DatePreview {...{ state, preview }} />
      <MessageField state={state} value={message} preview={preview?.message ?? null} hint={now('message', message)} />
      <TranslationFields {...{ screen, state, version, ...written }} texts={['title', 'message']} />
      <ServiceChoice {...{ state, services, chosen }} hint={currentServices(state, version, services, chosen)} />
      <NotifySubscribersField
        state={state}
        checked={notifySubscribers}
        hint={currentNotifySubscribers(
          state,
          version,
          notifySubscribers,
          'Of the first date, and of the start and end of each.',
        )}
      />
      {series === null ? null : <p class="hint">Past dates stay, and so do dates that were edited separately.</p>}
      <p class="actions">
        <button type="submit">{series === null ? 'Repeat' : 'Save'}</button>
        <button type="submit" name="preview" value="true" class="quiet" formnovalidate>
          Preview
        </button>
        <a href={screen.path('maintenance/series')}>Cancel</a>
      </p>
    </form>
  )
  const heading = series === null ? 'Repeat maintenance' : 'Edit the repeating maintenance'
  return screen.show({ title: heading, section: 'maintenance', content }, state)
}

/** The initial values of the form for a new series. */
const unwritten = { title: '', message: '', translations: {}, notifySubscribers: true, version: 0 }

/** Returns the titles and the messages of a series in other languages in the form in which maintenance stores them. */
function textsIn(stored: Series['translations']) {
  const texts = storedTexts<BothTexts[string]>(stored)
  const titles = texts.flatMap(({ language, text: { title } }) => (title ? [[language, title]] : []))
  const messages = texts.flatMap(({ language, text: { message } }) => (message ? [[language, { message }]] : []))
  return { titles: Object.fromEntries(titles), messages: Object.fromEntries(messages) }
}

interface SeriesFieldsProps {
  readonly screen: Screen
  readonly state: FormState
  readonly series: Series | null
}

/** Renders when each date begins, in the time zone of the series, and its duration. */
function StartFields({ screen, state, series }: SeriesFieldsProps) {
  const zone = zoneOf(series?.timeZone ?? screen.zone.name)
  const { version, durationMinutes, anchor } = series ?? { version: 0, durationMinutes: 60, anchor: '' }
  const now = (name: string, value: string, hint?: string) => currentValue(state, version, { name, value, hint })
  return (
    <div class="beside">
      <TimeField
        label={series === null ? 'First start' : 'Next start'}
        name="startsAt"
        state={state}
        zone={zone}
        at={series && instantOf(series.timeZone, series.anchor)}
        required
        hint={now('startsAt', anchor)}
      />
      <ZoneField
        state={state}
        zone={zone}
        hint={now(
          'timeZone',
          zone.name,
          'Such as Europe/Berlin. The time of day stays the same when its clocks change.',
        )}
      />
      <InputField
        label="Minutes"
        name="durationMinutes"
        type="number"
        min={1}
        max={10_080}
        state={state}
        value={durationMinutes}
        required
        hint={now('durationMinutes', String(durationMinutes), 'How long each takes.')}
      />
    </div>
  )
}

function RepeatFields({ state, series }: { readonly state: FormState; readonly series: Series | null }) {
  const isCustom = series !== null || fieldProblem(state, 'rule') !== null || state.fields.get('repeat') === 'CUSTOM'
  return (
    <>
      <div class="beside">
        <SelectField
          label="Repeat"
          name="repeat"
          state={state}
          value={series === null ? 'WEEKLY' : 'CUSTOM'}
          choices={repetitions}
        />
        <InputField
          label="Every"
          name="interval"
          type="number"
          min={1}
          max={366}
          state={state}
          value={1}
          hint="1: each time."
        />
        <InputField label="Until" name="until" type="date" state={state} hint="Empty: no end." />
      </div>
      <CheckboxesField
        label="Days"
        name="days"
        state={state}
        choices={dayChoices}
        hint="For weekly repetition. None: the day of the first start."
      />
      <details open={isCustom}>
        <summary>Rule</summary>
        <InputField
          label="Recurrence rule"
          name="rule"
          state={state}
          value={series && ruleWithEnd(series)}
          maxlength={MAX_RULE_LENGTH}
          autocomplete="off"
          hint={currentValue(state, series?.version ?? 0, {
            name: 'rule',
            value: series === null ? '' : ruleWithEnd(series),
            hint: 'As in iCalendar, such as FREQ=MONTHLY;BYDAY=2TU. Used when “By the rule below” is chosen.',
          })}
        />
      </details>
    </>
  )
}

function DatePreview({ state, preview }: { readonly state: FormState; readonly preview: Preview | null }) {
  if (preview === null || state.problem !== null) return null
  return (
    <section class="preview" id="dates" aria-label="Next dates">
      <h2>Next dates</h2>
      <ul class="rows">
        {preview.dates.map((at) => (
          <li>
            <Time at={at} zone={preview.zone} />
          </li>
        ))}
      </ul>
    </section>
  )
}

async function confirm(screen: Screen, state: FormState, label: 'End' | 'Delete'): Promise<Response> {
  const { title } = await read(screen)
  const content = (
    <ConfirmDeletion state={state} what={title} label={label} back={screen.path('maintenance/series')}>
      <p>
        Its scheduled dates are deleted. Past and running dates stay, and so do dates that were edited separately.
        Subscribers are not notified.
      </p>
    </ConfirmDeletion>
  )
  const shown = { title: `${label} this repeating maintenance?`, section: 'maintenance', content } as const
  return screen.show(shown, state)
}
