import { requireScope } from '../../../core/access.ts'
import { NotFound } from '../../../core/errors.ts'
import { bodyLimits } from '../../../core/input-limits.ts'
import { invalid } from '../../../core/validation.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FileField, FormProblem, fileIn, InputField, TextField } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { fetchSource } from '../../../import/fetch.ts'
import type { Variable } from '../../../import/prepared.ts'
import type { Import } from '../../../import/run-import.ts'
import { applyImport, planImport } from '../../../import/run-import.ts'
import type { Source } from '../../../import/source-names.ts'
import { isSource, sourceNames, sources } from '../../../import/source-names.ts'
import { createSend } from '../../../network/outbound/send.ts'
import type { Screen, Screens } from '../frame/screen.tsx'

/** The maximum size of a file; the command line accepts larger ones. */
const MAX_SOURCE_BYTES = bodyLimits.importedFile.most
/** The maximum size of a form with a file. */
const MAX_FORM_BYTES = MAX_SOURCE_BYTES + 100_000
/** The maximum number of rows shown in the table. */
const MAX_ROWS = 1000

/** The fields for a source. */
interface SourceForm {
  /** Where its file comes from. */
  readonly hint: string
  readonly accept: string
  /** The fields for fetching it, in place of a file. */
  readonly address?: string
  readonly key?: string
  /** Whether `${NAME}` in its texts is a placeholder. */
  readonly hasVariables?: boolean
  /** Whether ids of two installations collide, so that the second needs a name. */
  readonly isNamed?: boolean
}

const JSON_FILE = '.json,application/json'
const YAML_FILE = '.yaml,.yml'

const forms: Readonly<Record<Source, SourceForm>> = {
  'uptime-kuma': {
    hint: 'The file kuma.db of version 1 or 2, or the backup of version 1 (Settings, Backup, Export).',
    accept: `.db,.sqlite,${JSON_FILE}`,
    isNamed: true,
  },
  gatus: { hint: 'The configuration as one file.', accept: YAML_FILE, hasVariables: true, isNamed: true },
  statuspage: {
    hint: 'The response of /api/v2/summary.json, or the CSV file with its subscribers.',
    accept: `.csv,text/csv,${JSON_FILE}`,
    address: 'The address of the page, such as status.example.com.',
    key: 'Optional. With an API key, the whole history and the subscribers are imported. It is used once and not stored.',
  },
  openstatus: { hint: 'The file openstatus.yaml.', accept: YAML_FILE, isNamed: true },
  cachet: {
    hint: 'Its SQLite database, a dump of its MySQL database, or the response of /api/components (version 3) or /api/v1/components (version 2).',
    accept: `.db,.sqlite,.sql,${JSON_FILE}`,
    address: 'The address of the page, such as status.example.com.',
    key: 'Optional. With an API token, subscribers are imported too. It is used once and not stored.',
    isNamed: true,
  },
  uptimerobot: {
    hint: 'The response of getMonitors (version 2) or /v3/monitors.',
    accept: JSON_FILE,
    key: 'The read-only API key. It is used once and not stored.',
  },
  betterstack: {
    hint: 'The response of /api/v2/monitors.',
    accept: JSON_FILE,
    key: 'An API token. It is used once and not stored.',
  },
  instatus: {
    hint: 'The response of /v2/{page}/components.',
    accept: JSON_FILE,
    address: 'The id of the page there.',
    key: 'An API key. It is used once and not stored.',
  },
  hetrixtools: {
    hint: 'The list of blacklist monitors that its API returns.',
    accept: JSON_FILE,
    key: 'An API key. It is used once and not stored.',
  },
  upptime: { hint: 'The file .upptimerc.yml.', accept: YAML_FILE, hasVariables: true, isNamed: true },
  'blackbox-exporter': {
    hint: 'blackbox.yml, followed by prometheus.yml, whose scrape_configs have the targets, in one file.',
    accept: YAML_FILE,
    isNamed: true,
  },
}

const FIELDS = ['address', 'key', 'file', 'text', 'variables', 'name'] as const

/** Adds the screens that import from other tools: select one, preview the import, run it. */
export function importScreens({ form, action }: Screens): void {
  const admit = ({ ctx }: Screen) => void requireScope(ctx, 'ADMIN')
  form('import', showForm, runDry, { maxBytes: MAX_FORM_BYTES, admit })
  action(
    'import/apply',
    async (screen, { fields }) => showDone(screen, await applyImport(screen.ctx, fields.get('prepared') ?? '')),
    (screen, { problem }) => showForm(screen, { fields: new URLSearchParams(), problem }),
  )
}

function showForm(screen: Screen, state: FormState): Response {
  requireScope(screen.ctx, 'ADMIN')
  const source = sourceOf(screen, state)
  if (source === null) return screen.show(choice(screen, state), state)
  return screen.show({ ...pageOf(source), content: <Form {...{ screen, source, state }} /> }, state)
}

const page = { title: 'Import', section: 'monitors' } as const
const pageOf = (source: Source) => ({ ...page, title: `Import from ${sourceNames[source]}` })

function sourceOf({ c }: Screen, { fields }: Pick<FormState, 'fields'>): Source | null {
  const name = fields.get('from') ?? c.req.query('from')
  if (name === undefined) return null
  if (!isSource(name)) throw new NotFound('There is no such source.')
  return name
}

function choice(screen: Screen, state: FormState) {
  const content = (
    <>
      <FormProblem state={state} />
      <p class="lead">
        Import monitors, pages, history and subscribers from another tool. You see what would be imported before
        anything changes. No notifications are sent.
      </p>
      <ul class="rows">
        {sources.map((source) => (
          <li>
            <a href={screen.path(`import?from=${source}`)}>{sourceNames[source]}</a>
          </li>
        ))}
      </ul>
      <p>
        <a href="/docs/moving-in">What is imported, and what isn’t</a>
      </p>
    </>
  )
  return { ...page, content }
}

interface FormProps {
  readonly screen: Screen
  readonly source: Source
  readonly state: FormState
}

function Form({ screen, source, state }: FormProps) {
  const { hint, accept, address, key, hasVariables = false, isNamed = false } = forms[source]
  const isFetched = address !== undefined || key !== undefined
  return (
    <form method="post" class="stack" id="source" enctype="multipart/form-data" action={screen.path('import')}>
      <FormProblem state={state} fields={FIELDS} />
      <input type="hidden" name="from" value={source} />
      {address === undefined ? null : (
        <InputField label="Page" name="address" state={state} hint={address} autocomplete="off" inputmode="url" />
      )}
      {key === undefined ? null : (
        <InputField label="Key" name="key" type="password" state={state} hint={key} autocomplete="off" />
      )}
      <FileField
        label={`${isFetched ? 'Or a file' : 'File'} of ${sourceNames[source]}`}
        name="file"
        state={state}
        hint={`${hint} At most ${MAX_SOURCE_BYTES / 1e6} MB.`}
        accept={accept}
        maxBytes={MAX_SOURCE_BYTES}
      />
      <TextField label="Or paste it" name="text" state={state} rows={6} />
      {hasVariables ? (
        <TextField
          label="Values"
          name="variables"
          state={state}
          rows={3}
          hint={`For each \${NAME} in the file a line such as NAME=value. They are not stored.`}
        />
      ) : null}
      {isNamed ? (
        <InputField
          label="Name"
          name="name"
          state={state}
          hint={`Only for a second ${sourceNames[source]}: its ids would collide with the first one’s. Such as office.`}
          autocomplete="off"
        />
      ) : null}
      <p class="actions">
        <button type="submit">See what is imported</button> <a href={screen.path('import')}>Another tool</a>
      </p>
    </form>
  )
}

async function runDry(screen: Screen, sent: SubmittedForm): Promise<Response> {
  const source = sourceOf(screen, sent)
  if (source === null) throw new NotFound('There is no such source.')
  const file = await fileOf(screen, source, sent)
  const variables = variablesIn(sent.fields.get('variables') ?? '')
  const { sealed, ...found } = await planImport(screen.ctx, {
    source,
    name: sent.fields.get('name') ?? '',
    file,
    variables,
  })
  const content = (
    <div id="import" data-keep>
      <p class="lead" role="status">
        {found.changeCount === 0
          ? 'There is nothing to import.'
          : `Nothing has changed yet. This import makes ${changes(found)}.`}
      </p>
      {found.addsServices ? <p>Pages that show all services will show the new ones too.</p> : null}
      {found.changeCount === 0 ? null : (
        <form method="post" action={screen.path('import/apply')}>
          <input type="hidden" name="prepared" value={sealed} />
          <p class="actions">
            <button type="submit">Import</button> <a href={screen.path(`import?from=${source}`)}>Choose again</a>
          </p>
        </form>
      )}
      <Rows found={found} />
    </div>
  )
  return screen.show({ ...pageOf(source), content }, emptyForm)
}

/** Returns the chosen file, or else the typed text, or else the answer of the source. */
async function fileOf({ ctx }: Screen, source: Source, sent: SubmittedForm): Promise<Uint8Array> {
  const file = fileIn(sent, 'file')
  if (file !== undefined) return file.bytes
  const [text = '', address = '', key = ''] = ['text', 'address', 'key'].map((name) => sent.fields.get(name)?.trim())
  if (text !== '') return Buffer.from(text)
  return fetchSource(createSend(ctx.tools.outbound), source, { address, key }, { now: ctx.now })
}

function variablesIn(text: string): Variable[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, name, value] = /^\s*([A-Za-z_]\w{0,99})\s*=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw invalid([{ path: ['variables'], message: 'must have a line such as NAME=value for each' }])
    return { name, value: value.trim() }
  })
}

function showDone(screen: Screen, found: Import): Response {
  const content = (
    <div id="import" data-keep>
      <p class="lead" role="status">
        Imported: {changes(found)}. No notifications were sent.
      </p>
      <p class="actions">
        <a class="button" href={screen.path('monitors')}>
          Show monitors
        </a>
      </p>
      <Rows found={found} />
    </div>
  )
  return screen.show({ ...page, content }, emptyForm)
}

const changes = ({ changeCount }: Import) => `${changeCount} ${changeCount === 1 ? 'change' : 'changes'}`

const outcomes: Readonly<Record<Import['rows'][number]['outcome'], string>> = {
  CREATED: 'Created',
  CHANGED: 'Changed',
  RELEASED: 'Stays',
  DRIFTED: 'Set back',
  SKIPPED: 'Skipped',
  PARTLY: 'In part',
}

/** The outcome for each object. */
function Rows({ found: { rows } }: { readonly found: Import }) {
  if (rows.length === 0) return null
  return (
    <>
      <Table label="What happens" heads={['Outcome', 'Kind', 'Name', 'Why']}>
        {rows.slice(0, MAX_ROWS).map(({ outcome, section, name, reason }) => (
          <tr>
            <td>{outcomes[outcome]}</td>
            <td>{section.replace(/s$/, '')}</td>
            <td>{name}</td>
            <td>{reason}</td>
          </tr>
        ))}
      </Table>
      {rows.length > MAX_ROWS ? <p>And {rows.length - MAX_ROWS} more.</p> : null}
    </>
  )
}
