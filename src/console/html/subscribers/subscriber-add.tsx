import { findPage } from '../../../account/page/page.ts'
import { requireScope } from '../../../core/access.ts'
import { Topic } from '../../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import {
  CheckboxesField,
  emptyForm,
  FormProblem,
  fieldProblem,
  fileIn,
  InputField,
  TextField,
} from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { isMailEnabled } from '../../../notification/context.ts'
import { subscribe } from '../../../notification/subscriber/subscribe.ts'
import type { ImportResult } from '../../../notification/subscriber/subscriber-import.ts'
import { importSubscribers } from '../../../notification/subscriber/subscriber-import.ts'
import type { OfferedService } from '../frame/offered-service.ts'
import { PrivateTargetsOffer } from '../frame/private-targets.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { PageChoice, readPageNames } from '../pages/page-choice.tsx'
import { isDraft, readServiceIds, readServiceNames, ServiceChoice } from '../services/service-fields.tsx'
import { topicNames } from './subscriber-words.ts'

/** The addresses of the form, named like the members of the API's input. */
const ADDRESSES = [
  { name: 'email', label: 'Mail', type: 'email' },
  { name: 'webhook', label: 'Webhook', type: 'url' },
  { name: 'slack', label: 'Slack', type: 'url' },
  { name: 'discord', label: 'Discord', type: 'url' },
  { name: 'teams', label: 'Teams', type: 'url' },
] as const

/** The two parts of an address on Telegram. */
const TELEGRAM = [
  { name: 'telegram.botToken', label: 'Telegram: your bot’s token' },
  { name: 'telegram.chatId', label: 'Telegram: the chat’s id, or a channel’s @name' },
] as const

const ownFields = [...ADDRESSES.map(({ name }) => name), 'telegram', 'topics', 'serviceIds']

/** Adds the forms that subscribe addresses without their confirmation: one, or a list. */
export function subscriberAddScreens({ form }: Screens): void {
  form('subscribers/new', showNew, async (screen, { fields }) => {
    if (isDraft(fields)) return showNew(screen, { fields, problem: null })
    const { ctx, organization } = screen
    // Visitors may request a subscription too, which then has to be confirmed; here it never has to be.
    requireScope(ctx, 'WRITE')
    const { slug } = await findPage(ctx.db, organization.id, fields.get('pageId') || organization.id)
    await subscribe(ctx, { ...addressIn(fields), ...preferencesIn(fields), slug })
    return 'subscribers'
  })
  form('subscribers/import', showImport, async (screen, sent) => {
    if (isDraft(sent.fields)) return showImport(screen, { fields: sent.fields, problem: null })
    const csv = textOf(sent)
    const result = await importSubscribers(screen.ctx, {
      ...{ csv, pageId: sent.fields.get('pageId') || null },
      ...preferencesIn(sent.fields),
    })
    return showImported(screen, result)
  })
}

/** Returns the members of the API's input. */
function addressIn(fields: URLSearchParams): Record<string, unknown> {
  const typed = (name: string) => fields.get(name)?.trim() ?? ''
  const [botToken, chatId] = TELEGRAM.map(({ name }) => typed(name))
  const given = ADDRESSES.map(({ name }) => [name, typed(name) || null])
  return { ...Object.fromEntries(given), telegram: botToken || chatId ? { botToken, chatId } : null }
}

function preferencesIn(fields: URLSearchParams) {
  const topics = fields.has('topics.shown') ? { topics: fields.getAll('topics') } : {}
  return { ...topics, serviceIds: readServiceIds(fields) }
}

/** A chosen file, or else the typed text. */
function textOf(sent: SubmittedForm): string {
  const file = fileIn(sent, 'csv')
  // Removes the byte order mark that Excel writes.
  return file ? new TextDecoder().decode(file.bytes) : (sent.fields.get('csv') ?? '')
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const [mail, ...channels] = ADDRESSES
  const others = [...channels, ...TELEGRAM]
  const [services, pages] = await Promise.all([readServiceNames(screen), readPageNames(screen)])
  const typed = others.some(({ name }) => state.fields.get(name) || fieldProblem(state, name) !== null)
  const content = (
    <form method="post" class="stack">
      <FormProblem state={state} fields={ownFields} />
      <p>No one is asked to confirm: you are responsible for their consent.</p>
      {isMailEnabled(screen.ctx.config) ? <InputField {...mail} state={state} autocomplete="off" /> : null}
      <details open={typed || !isMailEnabled(screen.ctx.config)}>
        <summary>Other channels</summary>
        <div class="stack">
          {others.map((field) => (
            <InputField {...field} state={state} autocomplete="off" />
          ))}
        </div>
      </details>
      <PageChoice pages={pages} state={state} />
      <Preferences {...{ state, services }} />
      <p class="actions">
        <button type="submit">Add</button> <a href={screen.path('subscribers')}>Cancel</a>
      </p>
      <PrivateTargetsOffer {...{ screen, state }} />
    </form>
  )
  return screen.show({ title: 'Add a subscriber', section: 'subscribers', content }, state)
}

interface PreferencesProps {
  readonly state: FormState
  readonly services: readonly OfferedService[]
}

function Preferences({ state, services }: PreferencesProps) {
  const choices = Object.values(Topic).map((value) => ({ value, text: topicNames[value] }))
  const isOpen = ['serviceIds', 'find'].some((name) => state.fields.has(name))
  return (
    <>
      <CheckboxesField
        label="Notify about"
        name="topics"
        state={state}
        values={['INCIDENTS', 'MAINTENANCES']}
        choices={choices}
      />
      {services.length === 0 ? null : (
        <details open={isOpen}>
          <summary>Only some services</summary>
          <ServiceChoice {...{ state, services }} chosen={[]} hint="None chosen: all services." />
        </details>
      )}
    </>
  )
}

async function showImport(screen: Screen, state: FormState): Promise<Response> {
  const [services, pages] = await Promise.all([readServiceNames(screen), readPageNames(screen)])
  const content = (
    <div id="import">
      <form method="post" class="stack" enctype="multipart/form-data">
        <FormProblem state={state} fields={['csv', 'topics', 'serviceIds']} />
        <p>
          No one is asked to confirm: you are responsible for their consent. People who have unsubscribed stay
          unsubscribed.
        </p>
        <div class="form-field">
          <label for="file">CSV file</label>
          <p class="hint" id="file-hint">
            Email addresses in the column “email”, or in the first column.
          </p>
          <input type="file" id="file" name="csv" accept=".csv,text/csv,text/plain" aria-describedby="file-hint" />
        </div>
        <TextField label="Or paste addresses" name="csv" state={state} hint="One per line." />
        <PageChoice pages={pages} state={state} />
        <Preferences {...{ state, services }} />
        <p class="actions">
          <button type="submit">Import</button> <a href={screen.path('subscribers')}>Cancel</a>
        </p>
      </form>
    </div>
  )
  return screen.show({ title: 'Import subscribers', section: 'subscribers', content }, state)
}

/** Shows the answer in place of the form. A refresh after the log has moved does not remove it. */
function showImported(screen: Screen, { imported, known, skippedCount, skipped, problems }: ImportResult): Response {
  const lines = [...skipped, ...problems].toSorted((one, other) => one.line - other.line)
  const content = (
    <div id="import" data-keep>
      <p class="lead" role="status">
        {imported} added, {known} known before, {skippedCount} skipped.
      </p>
      {lines.length === 0 ? null : (
        <Table label="Lines that were skipped" heads={['Line', 'Why it was skipped']}>
          {lines.map(({ line, message }) => (
            <tr>
              <th scope="row">{line}</th>
              <td>{message}</td>
            </tr>
          ))}
        </Table>
      )}
      <p class="actions">
        <a class="button" href={screen.path('subscribers')}>
          Show subscribers
        </a>
      </p>
    </div>
  )
  return screen.show({ title: 'Import subscribers', section: 'subscribers', content }, emptyForm)
}
