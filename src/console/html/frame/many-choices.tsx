import type { Child } from 'hono/jsx'
import type { Choice, FormState } from '../../../http/page/form.tsx'
import { CheckboxesField, isFieldLocked } from '../../../http/page/form.tsx'

/**
 * The maximum number of selected items in a form, so that screens with thousands stay small; the others stay selected
 * without being listed.
 */
const MAX_LISTED = 75
/** The maximum number of names in a sentence. */
const MAX_NAMED = 20

const restOf = (name: string) => `${name}.rest`

/** Reads the selection from the fields of `ManyCheckboxes`. */
export function readChosen(fields: URLSearchParams, name: string): string[] {
  const rest = fields.get(restOf(name))?.split(',') ?? []
  return [...new Set([...fields.getAll(name), ...rest])].filter((value) => value !== '')
}

/** Renders a choice of any number among many. */
export function ManyCheckboxes({
  label,
  name,
  state,
  hint,
  values,
  choices,
  isFound = () => false,
}: {
  readonly label: string
  readonly name: string
  readonly state: FormState
  readonly hint?: Child
  /** The selection before any input. */
  readonly values: readonly string[]
  readonly choices: readonly Choice[]
  /** Whether the search matches this item, which is then listed. */
  readonly isFound?: (choice: Choice) => boolean
}) {
  const isLocked = isFieldLocked(state, name)
  const chosen = new Set(!isLocked && state.fields.has(`${name}.shown`) ? readChosen(state.fields, name) : values)
  const first = new Set(choices.filter(({ value }) => chosen.has(value)).slice(0, MAX_LISTED))
  const listed = choices.filter((choice) => !chosen.has(choice.value) || first.has(choice) || isFound(choice))
  const shown = new Set(listed.map(({ value }) => value))
  const rest = [...chosen].filter((value) => !shown.has(value))
  return (
    <>
      <CheckboxesField
        {...{ label, name, hint }}
        state={{ ...state, fields: new URLSearchParams() }}
        values={[...chosen]}
        choices={listed}
      />
      {rest.length === 0 ? null : (
        <>
          <input type="hidden" name={restOf(name)} value={rest.join()} />
          <p class="hint">{rest.length} more are chosen, and stay so.</p>
        </>
      )}
    </>
  )
}

/** Lists names in a sentence. */
export function namesInWords(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  const listed = names.slice(0, MAX_NAMED).join(', ') || 'none'
  return more > 0 ? `${listed} and ${more} more` : listed
}
