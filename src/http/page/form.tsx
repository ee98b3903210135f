import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { z } from 'zod'
import type { DomainError } from '../../core/errors.ts'
import { Invalid, RateLimited } from '../../core/errors.ts'
import { formLimits } from '../../core/input-limits.ts'
import { invalid } from '../../core/validation.ts'
import { readBytes } from '../request/body.ts'
import { readFields, requireWithinLimits } from '../request/form-fields.ts'
import { mediaTypeOf } from '../request/media-type.ts'
import type { SentFile } from '../request/multipart.ts'
import { parseMultipart } from '../request/multipart.ts'
import { nodeRequest } from '../request/node-request.ts'

/** A submitted form. */
export interface SubmittedForm {
  /** The text fields. */
  readonly fields: URLSearchParams
  /** The chosen files by field. Fields without a chosen file are absent. */
  readonly files: ReadonlyMap<string, SentFile>
}

/** The state of a form: the input so far, and why it was refused. */
export interface FormState {
  readonly fields: URLSearchParams
  readonly problem: DomainError | null
  /** The names of fields that show stored values and cannot be changed; `http` includes `http.url`. Absent: none. */
  readonly locked?: ReadonlySet<string>
}

/** Returns whether a field shows a stored value and cannot be changed. */
export function isFieldLocked({ locked }: Pick<FormState, 'locked'>, name: string): boolean {
  return locked !== undefined && (locked.has(name) || locked.has(name.split('.')[0] ?? ''))
}

/** Returns the input of a field; undefined: none, or it is disabled. */
const typedIn = (state: FormState, name: string): string | undefined =>
  isFieldLocked(state, name) ? undefined : (state.fields.get(name) ?? undefined)

/** Browsers do not send disabled fields. */
const disabledIf = (isLocked: boolean) => (isLocked ? { disabled: true } : {})

export const emptyForm: FormState = { fields: new URLSearchParams(), problem: null }

/**
 * Reads a form, urlencoded or multipart, of at most `maxBytes`.
 * @throws HTTPException 413 when it is larger.
 * @throws Invalid when it is malformed, or exceeds a limit of `formLimits`.
 */
export async function readForm(c: Context, maxBytes: number): Promise<SubmittedForm> {
  const request = nodeRequest(c)
  const type = c.req.header('content-type') ?? ''
  if (mediaTypeOf(type)?.essence === 'multipart/form-data') {
    const { fields, files } = await parseMultipart(await readBytes(request, maxBytes), type, formLimits.fields.most)
    requireWithinLimits(fields)
    for (const name of files.keys()) fields.set(sentFile(name), 'true')
    return { fields, files }
  }
  return { fields: await readFields(request, maxBytes), files: new Map() }
}

/** Returns the problem of a field; null: none. */
export function fieldProblem({ problem }: FormState, name: string): string | null {
  if (!(problem instanceof Invalid)) return null
  const found = problem.issues.filter(({ path }) => `${path.join('.')}.`.startsWith(`${name}.`))
  return found.length === 0 ? null : found.map(({ message }) => sentence(message)).join(' ')
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Returns the status of a page with a refused form. */
export function formStatus(problem: DomainError): 422 | 429 {
  return problem instanceof RateLimited ? 429 : 422
}

/** Shows why a form was refused, unless only single fields are wrong, which show their own problems. */
export function FormProblem({
  state,
  fields = [],
}: {
  readonly state: FormState
  readonly fields?: readonly string[]
}) {
  const { problem } = state
  if (problem === null) return null
  const isShown = fields.some((name) => fieldProblem(state, name) !== null)
  const message = isShown ? 'Check the highlighted fields.' : problem.message
  return (
    <p class="problem" id="problem" role="alert">
      {message}
    </p>
  )
}

interface FieldProps {
  readonly label: Child
  readonly name: string
  readonly state: FormState
  /** Shown below the label. */
  readonly hint?: Child
  /** The value before any input. */
  readonly value?: string | number | null | undefined
  readonly required?: boolean
}

interface InputProps extends FieldProps {
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'search' | 'color' | 'date' | 'datetime-local'
  readonly autocomplete?: string
  readonly autofocus?: boolean
  readonly min?: number
  readonly max?: number
  readonly maxlength?: number
  readonly pattern?: string
  readonly inputmode?: 'numeric' | 'text' | 'email' | 'url'
  readonly placeholder?: string
  /** Needed if another form of the page has a field with this name. */
  readonly id?: string
}

/** Returns the attributes of a text field, according to the schema that validates it. */
export function textRules({ minLength, maxLength }: z.ZodString): {
  readonly required?: true
  readonly maxlength?: number
} {
  return { ...((minLength ?? 0) > 0 && { required: true }), ...(maxLength !== null && { maxlength: maxLength }) }
}

/** Renders a text field with its label, hint and error. Passwords are never repeated. */
export function InputField({ label, name, state, hint, value, type = 'text', id = name, ...rest }: InputProps) {
  const typed = type === 'password' ? '' : (typedIn(state, name) ?? value ?? '')
  const isLocked = isFieldLocked(state, name)
  // Read-only text can still be copied; colour fields have no such attribute.
  const lock = isLocked && type !== 'color' ? { readonly: true } : disabledIf(isLocked)
  return (
    <FieldFrame {...{ label, name, state, hint, id }}>
      <input
        id={id}
        name={name}
        type={type}
        value={String(typed)}
        {...rest}
        {...lock}
        {...described(name, state, hint, id)}
      />
    </FieldFrame>
  )
}

/** Renders a file field. After a refused form, the file must be chosen again, because browsers do not keep it. */
export function FileField({
  label,
  name,
  state,
  hint,
  maxBytes,
  id = name,
  ...rest
}: Omit<FieldProps, 'value'> & {
  /** Needed if another form of the page has a field with this name. */
  readonly id?: string
  /** The media types or extensions to offer; absent: all. */
  readonly accept?: string
  /** The script refuses larger files before they are sent. */
  readonly maxBytes: number
}) {
  const wasSent = state.fields.has(sentFile(name))
  const note = wasSent ? <>{hint} Choose the file again: what you typed was kept, the file was not.</> : hint
  return (
    <FieldFrame {...{ label, name, state, id }} hint={note}>
      <input
        id={id}
        name={name}
        type="file"
        data-max-bytes={maxBytes}
        {...rest}
        {...disabledIf(isFieldLocked(state, name))}
        {...described(name, state, note, id)}
      />
    </FieldFrame>
  )
}

/**
 * Returns the file of a field; undefined: none was chosen.
 * @throws Invalid when the chosen file was lost during a sign-in.
 */
export function fileIn({ files, fields }: SubmittedForm, name: string): SentFile | undefined {
  const file = files.get(name)
  if (file === undefined && fields.has(sentFile(name))) {
    throw invalid([
      { path: [name], message: 'was lost while you signed in: choose the file again, or continue without it' },
    ])
  }
  return file
}

/** The name of the field that marks that a file was chosen in a form. */
const sentFile = (name: string) => `${name}.sent`

/** Returns whether a name is that of a field that marks a chosen file. */
export const isSentFile = (name: string): boolean => name.endsWith('.sent')

/** Names the account of a password field, for password managers. */
export function UsernameField({ email }: { readonly email: string }) {
  return <input type="text" name="username" autocomplete="username" value={email} readonly hidden />
}

/** Renders a field for several lines. */
export function TextField({
  label,
  name,
  state,
  hint,
  value,
  rows = 5,
  id = name,
  ...rest
}: FieldProps & {
  readonly rows?: number
  readonly maxlength?: number
  readonly placeholder?: string
  /** Needed if another form of the page has a field with this name. */
  readonly id?: string
}) {
  return (
    <FieldFrame {...{ label, name, state, hint, id }}>
      <textarea
        id={id}
        name={name}
        rows={rows}
        {...rest}
        {...(isFieldLocked(state, name) && { readonly: true })}
        {...described(name, state, hint, id)}
      >
        {typedIn(state, name) ?? value ?? ''}
      </textarea>
    </FieldFrame>
  )
}

/** An option of a choice. */
export interface Choice {
  readonly value: string
  readonly text: string
}

/** Renders a single choice. */
export function SelectField({
  label,
  name,
  state,
  hint,
  value,
  choices,
  ...rest
}: FieldProps & { readonly choices: readonly Choice[] }) {
  const chosen = typedIn(state, name) ?? value
  return (
    <FieldFrame {...{ label, name, state, hint }}>
      <select
        id={name}
        name={name}
        {...rest}
        {...disabledIf(isFieldLocked(state, name))}
        {...described(name, state, hint)}
      >
        {choices.map((choice) => (
          <option value={choice.value} selected={choice.value === chosen}>
            {choice.text}
          </option>
        ))}
      </select>
    </FieldFrame>
  )
}

/**
 * Renders a checkbox. A hidden field beside it marks that it was shown, because browsers do not send unchecked boxes.
 */
export function CheckboxField({
  label,
  name,
  state,
  checked = false,
  hint,
}: Omit<FieldProps, 'value'> & { readonly checked?: boolean }) {
  const isLocked = isFieldLocked(state, name)
  const isChecked = !isLocked && state.fields.has(`${name}.shown`) ? state.fields.has(name) : checked
  return (
    <div class="form-field checkbox">
      <label>
        <input
          type="checkbox"
          name={name}
          value="true"
          checked={isChecked}
          {...disabledIf(isLocked)}
          {...described(name, state, hint)}
        />{' '}
        {label}
      </label>
      {isLocked ? null : <input type="hidden" name={`${name}.shown`} value="true" />}
      <FieldNotes {...{ name, state, hint }} />
    </div>
  )
}

/** Renders a multiple choice. */
export function CheckboxesField({
  label,
  name,
  state,
  hint,
  values = [],
  choices,
}: Omit<FieldProps, 'value'> & { readonly values?: readonly string[]; readonly choices: readonly Choice[] }) {
  const isLocked = isFieldLocked(state, name)
  const chosen = new Set(!isLocked && state.fields.has(`${name}.shown`) ? state.fields.getAll(name) : values)
  return (
    <fieldset class="form-field checkboxes" {...disabledIf(isLocked)} {...described(name, state, hint)}>
      <legend>{label}</legend>
      <FieldNotes {...{ name, state, hint }} />
      {choices.map((choice) => (
        <label>
          <input type="checkbox" name={name} value={choice.value} checked={chosen.has(choice.value)} /> {choice.text}
        </label>
      ))}
      {isLocked ? null : <input type="hidden" name={`${name}.shown`} value="true" />}
    </fieldset>
  )
}

function FieldFrame({
  label,
  name,
  state,
  hint,
  id = name,
  children,
}: Pick<FieldProps, 'label' | 'name' | 'state' | 'hint'> & { readonly id?: string; readonly children: Child }) {
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <FieldNotes {...{ name, state, hint, id }} />
      {children}
    </div>
  )
}

function FieldNotes({
  name,
  state,
  hint,
  id = name,
}: Pick<FieldProps, 'name' | 'state' | 'hint'> & { readonly id?: string }) {
  const problem = fieldProblem(state, name)
  return (
    <>
      {hint === undefined || hint === null ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem === null ? null : (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </>
  )
}

function described(name: string, state: FormState, hint: Child | undefined, id = name): Record<string, string> {
  const isWrong = fieldProblem(state, name) !== null
  const notes = [...(hint == null ? [] : [`${id}-hint`]), ...(isWrong ? [`${id}-problem`] : [])]
  return {
    ...(isWrong && { 'aria-invalid': 'true' }),
    ...(notes.length > 0 && { 'aria-describedby': notes.join(' ') }),
  }
}
