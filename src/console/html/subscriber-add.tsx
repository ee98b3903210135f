import { requireScope } from '../../core/access.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { CheckboxesField, emptyForm, FormProblem, fieldProblem, InputField, TextField } from '../../http/form.tsx'
import { isMailEnabled } from '../../notification/context.ts'
import { subscribe } from '../../notification/subscribe.ts'
import type { ImportResult } from '../../notification/subscriber-import.ts'
import { importSubscribers } from '../../notification/subscriber-import.ts'
import type { Screen, Screens } from './screen.tsx'
import { topicNames } from './subscriber-words.ts'
import { Table } from './table.tsx'

/** The addresses of the form, named like the members of the API's input. */
const ADDRESSES = [
  { name: 'email', label: 'Mail', type: 'email' },
  { name: 'webhook', label: 'Webhook', type: 'url' },
  { name: 'slack', label: 'Slack', type: 'url' },
  { name: 'discord', label: 'Discord', type: 'url' },
  { name: 'teams', label: 'Teams', type: 'url' },
] as const

/** Adds the forms that subscribe people without their confirmation: one, or a list of addresses. */
export function subscriberAddScreens({ form }: Screens): void {
  form('subscribers/new', showNew, async ({ ctx, organization }, { fields }) => {
    const given = ADDRESSES.map(({ name }) => [name, fields.get(name)?.trim() || null])
    // A visitor may ask for a subscription as well, which is then to be confirmed: here it never is.
    requireScope(ctx, 'WRITE')
    await subscribe(ctx, { ...Object.fromEntries(given), ...topicsIn(fields), slug: organization.slug })
    return 'subscribers'
  })
  form('subscribers/import', showImport, async (screen, sent) => {
    const csv = await textOf(sent)
    const result = await importSubscribers(screen.ctx, { csv, ...topicsIn(sent.fields) })
    return showImported(screen, result)
  })
}

function topicsIn(fields: URLSearchParams): { readonly topics?: readonly string[] } {
  return fields.has('topics.shown') ? { topics: fields.getAll('topics') } : {}
}

/** A chosen file, or else what was typed. */
async function textOf({ files, fields }: SubmittedForm): Promise<string> {
  return (await files.get('csv')?.text()) ?? fields.get('csv') ?? ''
}

function showNew(screen: Screen, state: FormState): Response {
  const [mail, ...others] = ADDRESSES
  const typed = others.some(({ name }) => state.fields.get(name) || fieldProblem(state, name) !== null)
  const content = (
    <form method="post" class="stack">
      <FormProblem state={state} fields={[...ADDRESSES.map(({ name }) => name), 'topics']} />
      <p>Nobody is asked to confirm: you vouch for their consent.</p>
      {isMailEnabled(screen.ctx.config) ? <InputField {...mail} state={state} autocomplete="off" /> : null}
      <details open={typed || !isMailEnabled(screen.ctx.config)}>
        <summary>Other channels</summary>
        <div class="stack">
          {others.map((field) => (
            <InputField {...field} state={state} autocomplete="off" />
          ))}
        </div>
      </details>
      <Topics state={state} />
      <p class="actions">
        <button type="submit">Add</button> <a href={screen.path('subscribers')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Add a subscriber', section: 'subscribers', content }, state)
}

function Topics({ state }: { readonly state: FormState }) {
  const choices = Object.values(Topic).map((value) => ({ value, text: topicNames[value] }))
  return (
    <CheckboxesField
      label="Notify about"
      name="topics"
      state={state}
      values={['INCIDENTS', 'MAINTENANCES']}
      choices={choices}
    />
  )
}

function showImport(screen: Screen, state: FormState): Response {
  const content = (
    <div id="import">
      <form method="post" class="stack" enctype="multipart/form-data">
        <FormProblem state={state} fields={['csv', 'topics']} />
        <p>Nobody is asked to confirm: you vouch for their consent. People who have unsubscribed stay unsubscribed.</p>
        <div class="form-field">
          <label for="file">CSV file</label>
          <p class="hint" id="file-hint">
            Mail addresses in the column “email”, or in the first column.
          </p>
          <input type="file" id="file" name="csv" accept=".csv,text/csv,text/plain" aria-describedby="file-hint" />
        </div>
        <TextField label="Or paste addresses" name="csv" state={state} hint="One per line." />
        <Topics state={state} />
        <p class="actions">
          <button type="submit">Import</button> <a href={screen.path('subscribers')}>Cancel</a>
        </p>
      </form>
    </div>
  )
  return screen.show({ title: 'Import subscribers', section: 'subscribers', content }, state)
}

/** Shows the answer in place of the form: the log, which the import has moved, does not take it away. */
function showImported(screen: Screen, { imported, known, skippedCount, skipped, problems }: ImportResult): Response {
  const lines = [...skipped, ...problems].toSorted((one, other) => one.line - other.line)
  const content = (
    <div id="import" data-keep>
      <p class="lead" role="status">
        {imported} added, {known} known before, {skippedCount} skipped.
      </p>
      {lines.length === 0 ? null : (
        <Table heads={['Line', 'Why it was left out']}>
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
