import { validIdOrEmpty } from '../../../core/id.ts'
import { MAX_ITEMS } from '../../../event-log/bulk.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { FormProblem } from '../../../http/page/form.tsx'
import type { Screen } from './screen.tsx'

/** Renders the checkbox that selects a row of a list, for the buttons of its form. */
export function Choose({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <label class="choose">
      <input type="checkbox" name="ids" value={id} aria-label={`Choose ${name}`} />
    </label>
  )
}

/** Renders the checkbox that selects all rows; only the script shows it. */
export function ChooseAll() {
  return (
    <label class="choose" data-check-all hidden>
      <input type="checkbox" /> All on this page
    </label>
  )
}

/** Returns the ids of a deletion page: those in its address, or in its refused form. */
export function chosenIn({ c }: Screen, { fields, problem }: FormState): string[] {
  const given = problem === null ? (c.req.queries('ids') ?? []) : fields.getAll('ids')
  return given.slice(0, MAX_ITEMS).map(validIdOrEmpty)
}

interface DeletionFormProps {
  readonly state: FormState
  readonly items: readonly { readonly id: string; readonly name: string }[]
  /** What is deleted with them. */
  readonly note: string
  readonly button: string
  /** The address of the cancel link. */
  readonly back: string
}

/** Renders the form that deletes several objects: lists them, and what is deleted with them. */
export function DeletionForm({ state, items, note, button, back }: DeletionFormProps) {
  return (
    <form method="post" class="stack">
      <FormProblem state={state} />
      <ul class="rows">
        {items.map(({ id, name }) => (
          <li>
            {name}
            <input type="hidden" name="ids" value={id} />
          </li>
        ))}
      </ul>
      <p>{note}</p>
      <p class="actions">
        <button type="submit" class="danger">
          {button}
        </button>{' '}
        <a href={back}>Keep</a>
      </p>
    </form>
  )
}
