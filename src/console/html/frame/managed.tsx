import { inputNames } from '../../../account/field-name.ts'
import {
  isLocked,
  lockManagedObject,
  type ManagedObject,
  readManagedObject,
  unlockManagedObject,
} from '../../../account/managed-object.ts'
import { ownValue } from '../../../core/own-value.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import type { Screen, Screens } from './screen.tsx'
import { idIn } from './screen.tsx'

/** The form fields of an input, if their names differ. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  serviceIds: ['serviceIds', 'shows'],
  logoUrl: ['logoUrl', 'logo', 'logoRemoved', 'logoNone'],
}

/** The page of an object, by its section of the file. */
const pathOf: Readonly<Record<string, (id: string) => string>> = {
  groups: (id) => `services/groups/${id}`,
  services: (id) => `services/${id}`,
  monitors: (id) => `monitors/${id}/edit`,
  pages: (id) => `pages/${id}`,
  channels: (id) => `alerts/channels/${id}`,
  templates: (id) => `templates/${id}`,
  objectives: (id) => `objectives/${id}`,
}

/** Adds the buttons that unlock objects of a configuration file, and lock them again. */
export function managedScreens({ action }: Screens): void {
  const button = (name: string, work: typeof unlockManagedObject) =>
    action(
      `managed/:id/${name}`,
      async (screen) => {
        const { id, section } = await work(screen.ctx, idIn(screen))
        return ownValue(pathOf, section)?.(id) ?? 'services'
      },
      (screen, state) =>
        screen.show({ title: 'Not possible', section: 'services', content: <FormProblem state={state} /> }, state),
    )
  button('unlock', unlockManagedObject)
  button('lock', lockManagedObject)
}

/** The state of a form for an object that a file may manage. */
export interface Lock {
  readonly managed: ManagedObject | null
  /** The form's state, in which the fields of the file are disabled. */
  readonly state: FormState
}

/** Reads whether a file manages an object, and disables those fields of its form. */
export async function readLock({ ctx, organization }: Screen, id: string, state: FormState = emptyForm): Promise<Lock> {
  const managed = await readManagedObject(ctx, organization.id, id)
  if (managed === null || !isLocked(managed)) return { managed, state }
  const inputs = managed.members.flatMap((field) => [field, inputNames[field] ?? field])
  return { managed, state: { ...state, locked: new Set(inputs.flatMap((name) => ownValue(fieldsOf, name) ?? [name])) } }
}

/**
 * Shows which file manages an object, and how to change it nevertheless. Renders nothing if the object is not locked.
 */
export function ManagedNote({ screen, managed }: { readonly screen: Screen; readonly managed: ManagedObject | null }) {
  if (managed === null || !managed.locksMembers) return null
  const { id, file, section, key } = managed
  const locked = isLocked(managed)
  const note = locked ? (
    <p>
      Managed by <b>{file}</b> as {section}.{key}.
    </p>
  ) : (
    <p>
      Unlocked. <b>{file}</b> changes it back when it is applied next.
    </p>
  )
  if (!screen.may('WRITE')) return note
  return (
    <form method="post" action={screen.path(`managed/${id}/${locked ? 'unlock' : 'lock'}`)} class="managed">
      {note}
      <button type="submit" class="quiet">
        {locked ? 'Unlock' : 'Lock again'}
      </button>
    </form>
  )
}

/** Sends the names of the disabled fields, which a browser does not send. */
export function LockedFields({ state: { locked } }: { readonly state: FormState }) {
  if (locked === undefined) return null
  return <input type="hidden" name="locked" value={[...locked].join()} />
}

/** Returns an input without the values whose fields were disabled in the form. */
export function withoutLocked<T extends object>(input: T, fields: URLSearchParams): Partial<T> {
  const locked = new Set(fields.get('locked')?.split(','))
  return Object.fromEntries(Object.entries(input).filter(([name]) => !locked.has(name))) as Partial<T>
}
