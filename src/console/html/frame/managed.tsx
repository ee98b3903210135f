import {
  isLocked,
  lockManagedObject,
  type ManagedObject,
  readManagedObject,
  unlockManagedObject,
} from '../../../account/managed-object.ts'
import { inputNames } from '../../../account/member-name.ts'
import { ownValue } from '../../../core/own-value.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import type { Screen, Screens } from './screen.tsx'
import { idIn } from './screen.tsx'

/** The fields of a form that an input's member has, where their names differ. */
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

/** Adds the buttons that unlock what a configuration file manages, and lock it again. */
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

/** What a form is to show of an object that a file may manage. */
export interface Lock {
  readonly managed: ManagedObject | null
  /** The form's state, with the fields locked that only the file may change. */
  readonly state: FormState
}

/** Reads whether a file manages an object, and locks the fields of its form. */
export async function readLock({ ctx, organization }: Screen, id: string, state: FormState = emptyForm): Promise<Lock> {
  const managed = await readManagedObject(ctx, organization.id, id)
  if (managed === null || !isLocked(managed)) return { managed, state }
  const inputs = managed.members.flatMap((member) => [member, inputNames[member] ?? member])
  return { managed, state: { ...state, locked: new Set(inputs.flatMap((name) => ownValue(fieldsOf, name) ?? [name])) } }
}

/** Says which file manages an object, with the way to change it nevertheless. Renders nothing where no file locks. */
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

/** Sends the names of the locked fields, because a browser does not send disabled ones. */
export function LockedFields({ state: { locked } }: { readonly state: FormState }) {
  if (locked === undefined) return null
  return <input type="hidden" name="locked" value={[...locked].join()} />
}

/** Returns an input without the members whose fields were locked in the form. */
export function withoutLocked<T extends object>(input: T, fields: URLSearchParams): Partial<T> {
  const locked = new Set(fields.get('locked')?.split(','))
  return Object.fromEntries(Object.entries(input).filter(([name]) => !locked.has(name))) as Partial<T>
}
