import type { MonitorKind } from '../../generated/prisma/enums.ts'
import type { FormState } from '../../http/form.tsx'
import {
  CheckboxesField,
  CheckboxField,
  FormProblem,
  fieldProblem,
  InputField,
  SelectField,
  TextField,
} from '../../http/form.tsx'
import type { TestRun } from '../../monitoring/test-run.ts'
import { Time } from '../../status-page/html/time.tsx'
import type { EditorField } from './monitor-fields.ts'
import type { Difference, EditorValues, HeaderRow } from './monitor-input.ts'
import { headerRows } from './monitor-input.ts'
import { outcomeNames } from './monitor-words.ts'
import type { Screen } from './screen.tsx'

/** Headers that a monitor can have, and blank rows to add some. */
const MAX_HEADERS = 20
const BLANK_ROWS = 2

/** What the editor of a monitor shows. */
export interface MonitorFormProps {
  readonly screen: Screen
  readonly state: FormState
  readonly kind: MonitorKind
  readonly fields: readonly EditorField[]
  readonly values: EditorValues
  /** The version that is edited; null: a new monitor. */
  readonly version: number | null
  /** The path that cancelling leads to. */
  readonly back: string
  /** The answer of the test; null: none was asked for. */
  readonly answer: TestRun | null
  /** Where what is stored differs from what was typed, when somebody else has changed it. */
  readonly conflicts: readonly Difference[]
  /** Whether a body or a text to send is stored. */
  readonly hasSecret: boolean
}

/** Renders the editor of a monitor of one kind. */
export function MonitorForm(props: MonitorFormProps) {
  const { screen, state, kind, fields, version, back, answer, conflicts } = props
  const names = fields.map(({ name }) => name)
  const usual = fields.filter(({ isRare }) => !isRare)
  const rare = fields.filter(({ isRare }) => isRare)
  const isRareWrong = rare.some(({ name }) => fieldProblem(state, name) !== null)
  return (
    <form method="post" class="stack" id="monitor-form" {...(answer !== null && { 'data-keep': '' })}>
      <FormProblem state={state} fields={names} />
      <Conflicts conflicts={conflicts} />
      <input type="hidden" name="kind" value={kind} />
      {version === null ? null : <input type="hidden" name="version" value={String(version)} />}
      {usual.map((field) => (
        <Field field={field} {...props} />
      ))}
      {rare.length === 0 ? null : (
        <details open={isRareWrong || rare.some(({ name }) => isChanged(state, props.values, name))}>
          <summary>More options</summary>
          <div class="stack">
            {rare.map((field) => (
              <Field field={field} {...props} />
            ))}
          </div>
        </details>
      )}
      {answer === null ? null : <Answer screen={screen} answer={answer} />}
      <p class="actions">
        <button type="submit">Save</button>
        {kind === 'HEARTBEAT' ? null : (
          <button type="submit" class="quiet" name="test" value="true">
            Test
          </button>
        )}
        <a href={screen.path(back)}>Cancel</a>
      </p>
    </form>
  )
}

function isChanged({ fields }: FormState, values: EditorValues, name: string): boolean {
  const typed = fields.get(name)
  return typed !== null && typed !== (values.get(name) ?? '')
}

function Conflicts({ conflicts }: Pick<MonitorFormProps, 'conflicts'>) {
  if (conflicts.length === 0) return null
  return (
    <div class="table-scroll">
      <table>
        <caption>Somebody else has changed this monitor. If you save again, what you typed wins.</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Stored now</th>
            <th scope="col">What you typed</th>
          </tr>
        </thead>
        <tbody>
          {conflicts.map(({ label, stored, typed }) => (
            <tr>
              <th scope="row">{label}</th>
              <td>{stored}</td>
              <td>{typed}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Answer({ screen, answer }: { readonly screen: Screen; readonly answer: TestRun }) {
  const { outcome, message, latencyMs, detail, at } = answer
  const facts = [
    latencyMs === null ? null : `${Math.round(latencyMs)} ms`,
    detail?.address ? `from ${detail.address}` : null,
    detail?.answers && detail.answers.length > 0 ? detail.answers.join(', ') : null,
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
  const { name, label, hint, required, choices = [] } = field
  const value = values.get(name) ?? ''
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
      return <TextField {...common} value={text} rows={4} />
    case 'secret':
      return <SecretField {...props} />
    case 'headers':
      return <HeadersField {...props} />
    default:
      return <TypedField field={field} state={state} value={text} />
  }
}

function TypedField({ field, state, value }: { field: EditorField; state: FormState; value: string }) {
  const { name, label, hint, type, required, min, max, maxlength } = field
  const kind = type === 'number' || type === 'url' ? type : 'text'
  const limits = {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(maxlength && { maxlength }),
  }
  const typing = { ...(required && { required }), ...(type === 'number' && { inputmode: 'numeric' as const }) }
  return <InputField {...{ label, name, state, hint, value, type: kind, autocomplete: 'off', ...limits, ...typing }} />
}

/** A secret is shown only to those who have typed it just now. */
function SecretField({ field, state, hasSecret }: OneFieldProps) {
  const { name, label, hint } = field
  const kept = 'One is stored, and is never shown. Empty: it stays.'
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

function HeadersField({ field, state, values }: OneFieldProps) {
  const { name, label, hint } = field
  const stored = [values.get(name) ?? []].flat().filter(Boolean)
  const typed = state.fields.has(`${name}.name`) ? headerRows(name, state.fields) : null
  const known: readonly HeaderRow[] = typed ?? stored.map((each) => ({ name: each, value: '' }))
  const blank = Array.from({ length: Math.min(BLANK_ROWS, MAX_HEADERS - known.length) }, () => ({
    name: '',
    value: '',
  }))
  return (
    <fieldset class="form-field headers">
      <legend>{label}</legend>
      <p class="hint">{hint}</p>
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
