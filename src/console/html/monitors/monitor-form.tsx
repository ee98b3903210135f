import type { Child } from 'hono/jsx'
import type { MonitorKind } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import {
  CheckboxesField,
  CheckboxField,
  fieldProblem,
  InputField,
  isFieldLocked,
  SelectField,
  TextField,
} from '../../../http/page/form.tsx'
import type { TestRun } from '../../../monitoring/monitor/test-run.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { currentValue, EditProblem, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields } from '../frame/managed.tsx'
import { PrivateTargetsOffer } from '../frame/private-targets.tsx'
import type { Screen } from '../frame/screen.tsx'
import type { EditorField } from './monitor-fields.ts'
import { sectionsOf } from './monitor-fields.ts'
import type { EditorValues, HeaderRow } from './monitor-input.ts'
import { headerRows, valueInWords } from './monitor-input.ts'
import { outcomeNames } from './monitor-words.ts'

/** The maximum number of headers of a monitor, and of blank rows to add some. */
const MAX_HEADERS = 20
const BLANK_ROWS = 2

/** The state of a monitor's editor. */
export interface MonitorFormProps {
  readonly screen: Screen
  readonly state: FormState
  readonly kind: MonitorKind
  readonly fields: readonly EditorField[]
  readonly values: EditorValues
  /** The path of the cancel link. */
  readonly back: string
  /** The result of a test; null: none was requested. */
  readonly answer: TestRun | null
  /** The stored version; null: a new monitor. */
  readonly storedVersion: number | null
  /** The names of fields with stored secrets. */
  readonly secrets: ReadonlySet<string>
  /** Whether the input can be tested. */
  readonly isTestable: boolean
}

/** Renders the editor of a monitor of one kind. */
export function MonitorForm(props: MonitorFormProps) {
  const { screen, state, kind, fields, storedVersion, back, answer, isTestable } = props
  const names = fields.map(({ name }) => name)
  const { usual, rare } = sectionsOf(fields)
  return (
    <form method="post" class="stack" id="monitor-form" {...(answer !== null && { 'data-keep': '' })}>
      <EditProblem state={state} version={storedVersion ?? 0} fields={names} />
      <input type="hidden" name="kind" value={kind} />
      {storedVersion === null ? null : <VersionField state={state} version={storedVersion} />}
      <LockedFields state={state} />
      {usual.map((field) => (
        <Field field={field} {...props} />
      ))}
      {rare.map((section) => (
        <details open={section.fields.some((field) => isSet(field, props))}>
          <summary>{section.title}</summary>
          <div class="stack">
            {section.fields.map((field) => (
              <Field field={field} {...props} />
            ))}
          </div>
        </details>
      ))}
      {answer === null ? null : <Answer screen={screen} answer={answer} />}
      <p class="actions">
        <button type="submit">Save</button>
        {!isTestable ? null : (
          <button type="submit" class="quiet" name="test" value="true">
            Test
          </button>
        )}
        <a href={screen.path(back)}>Cancel</a>
      </p>
      {answer?.detail?.isPrivateTarget ? (
        <PrivateTargetsOffer {...{ screen, state }} question="test" isRefused />
      ) : (
        <PrivateTargetsOffer {...{ screen, state }} />
      )}
    </form>
  )
}

/** Returns whether a field has a problem, or a value that a new monitor would not have: then its section is open. */
function isSet(field: EditorField, { state, values, secrets }: MonitorFormProps): boolean {
  const { name, type, initial = '' } = field
  if (fieldProblem(state, name) !== null || (type === 'secret' && secrets.has(name))) return true
  if (type === 'headers' && headerRows(name, state.fields).length > 0) return true
  const stored = [values.get(name) ?? ''].flat()
  const isTyped = state.fields.has(name) || state.fields.has(`${name}.shown`)
  const typed = state.fields.getAll(name)
  const value = (isTyped ? typed : stored).join()
  // An empty text means the default.
  return value !== initial && (value !== '' || type === 'flag')
}

function Answer({ screen, answer }: { readonly screen: Screen; readonly answer: TestRun }) {
  const { outcome, message, latencyMs, detail, at } = answer
  const facts = [
    latencyMs === null ? null : `${Math.round(latencyMs)} ms`,
    detail?.address ? `from ${detail.address}` : null,
    detail?.answers && detail.answers.length > 0 ? detail.answers.join(', ') : null,
    detail?.note ?? null,
  ].filter((fact) => fact !== null)
  return (
    <div class="answer" id="answer" role="status" data-state={outcome}>
      <p>
        <span class="state">{outcomeNames[outcome]}</span>: {message}
      </p>
      <p class="row-facts">
        {facts.map((fact) => `${fact} · `)}
        <Time at={at} zone={screen.zone} />. Nothing is saved yet.
      </p>
    </div>
  )
}

interface OneFieldProps extends MonitorFormProps {
  readonly field: EditorField
}

function Field(props: OneFieldProps) {
  const { field, state, values } = props
  const { name, label, required, choices = [] } = field
  const value = values.get(name) ?? ''
  const hint = hintOf(props)
  const text = typeof value === 'string' ? value : ''
  const common = { label, name, state, hint, ...(required && { required }) }
  switch (field.type) {
    case 'flag':
      return <CheckboxField {...{ label, name, state, hint }} checked={text === 'true'} />
    case 'choice':
      return <SelectField {...common} value={text} choices={choices} />
    case 'choices':
      return <CheckboxesField {...{ label, name, state, hint, choices }} values={[value].flat()} />
    case 'lines':
    case 'expectations':
    case 'prose':
      return <TextField {...common} value={text} rows={4} />
    case 'secret':
      return <SecretField {...props} />
    case 'headers':
      return <HeadersField {...props} />
    default:
      return <TypedField {...{ field, state, hint }} value={text} />
  }
}

/** The hint of a field, or the stored value if another person has changed it. Secrets are not compared. */
function hintOf({ field, state, values, storedVersion }: OneFieldProps): Child | undefined {
  const { name, type, hint } = field
  if (type === 'secret') return hint
  const value = values.get(name) ?? ''
  const sentAs = type === 'headers' ? `${name}.name` : name
  return currentValue(state, storedVersion ?? 0, { name: sentAs, value, shown: valueInWords(field, value), hint })
}

interface TypedFieldProps {
  readonly field: EditorField
  readonly state: FormState
  readonly hint: Child | undefined
  readonly value: string
}

function TypedField({ field, state, hint, value }: TypedFieldProps) {
  const { name, label, type, required, min, max, maxlength } = field
  const kind = type === 'number' || type === 'url' ? type : 'text'
  const limits = {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(maxlength && { maxlength }),
  }
  const typing = { ...(required && { required }), ...(type === 'number' && { inputmode: 'numeric' as const }) }
  return <InputField {...{ label, name, state, hint, value, type: kind, autocomplete: 'off', ...limits, ...typing }} />
}

/** A secret is only shown to the person who has just typed it. */
function SecretField({ field, state, secrets }: OneFieldProps) {
  const { name, label, hint } = field
  const hasSecret = secrets.has(name)
  const kept = 'One is stored and never shown. Empty: it stays the same.'
  return (
    <>
      <TextField
        {...{ label, name, state }}
        hint={hasSecret ? [hint, kept].filter(Boolean).join(' ') : hint}
        rows={3}
      />
      {hasSecret ? (
        <CheckboxField label={`Remove: ${label.toLowerCase()}`} name={`${name}.removed`} state={state} />
      ) : null}
    </>
  )
}

function HeadersField(props: OneFieldProps) {
  const { field, state, values } = props
  const { name, label } = field
  const stored = [values.get(name) ?? []].flat().filter(Boolean)
  const typed = state.fields.has(`${name}.name`) ? headerRows(name, state.fields) : null
  const known: readonly HeaderRow[] = typed ?? stored.map((each) => ({ name: each, value: '' }))
  const blank = Array.from({ length: Math.min(BLANK_ROWS, MAX_HEADERS - known.length) }, () => ({
    name: '',
    value: '',
  }))
  return (
    <fieldset class="form-field headers" disabled={isFieldLocked(state, name)}>
      <legend>{label}</legend>
      <p class="hint">{hintOf(props)}</p>
      {[...known, ...blank].map((row, index) => (
        <HeaderInputs {...{ name, row, index, state }} isKept={stored.includes(row.name)} />
      ))}
    </fieldset>
  )
}

interface HeaderInputsProps {
  readonly name: string
  readonly row: HeaderRow
  readonly index: number
  readonly state: FormState
  /** Whether a value is stored. */
  readonly isKept: boolean
}

function HeaderInputs({ name, row, index, state, isKept }: HeaderInputsProps) {
  const problem = row.name === '' ? null : fieldProblem(state, `${name}.${index}`)
  const wrong = problem === null ? {} : { 'aria-invalid': 'true', 'aria-describedby': `${name}-${index}-problem` }
  const place = `of header ${index + 1}`
  return (
    <div class="header-row">
      <input
        name={`${name}.name`}
        value={row.name}
        aria-label={`Name ${place}`}
        placeholder="Name"
        autocomplete="off"
        {...wrong}
      />
      <input
        name={`${name}.value`}
        value={row.value}
        aria-label={`Value ${place}`}
        placeholder={isKept ? 'Stored, and kept when empty' : 'Value'}
        autocomplete="off"
        {...wrong}
      />
      {problem === null ? null : (
        <p class="problem" id={`${name}-${index}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}
