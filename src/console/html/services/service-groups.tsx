import { nameText } from '../../../core/validation.ts'
import type { ServiceGroup } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { InputField, TextField, textRules } from '../../../http/page/form.tsx'
import {
  createServiceGroup,
  deleteServiceGroup,
  findGroup,
  updateServiceGroup,
} from '../../../status/service/service-group.ts'
import { countServicesInGroup } from '../../../status/service/service-queries.ts'
import { ConfirmDeletion, currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'

/** Adds the pages that create, edit and delete a group of services. */
export function serviceGroupScreens({ form }: Screens): void {
  form('services/groups/new', showNew, async ({ ctx }, { fields }) => {
    await createServiceGroup(ctx, readFields(fields))
    return 'services'
  })
  form('services/groups/:id', showGroup, async (screen, { fields }) => {
    await updateServiceGroup(screen.ctx, {
      id: idIn(screen),
      ...withoutLocked(readFields(fields), fields),
      version: readVersion(fields),
    })
    return 'services'
  })
  form('services/groups/:id/delete', showDeletion, async (screen) => {
    await deleteServiceGroup(screen.ctx, idIn(screen))
    return 'services'
  })
}

const readFields = (fields: URLSearchParams) => ({
  name: fields.get('name') ?? '',
  description: fields.get('description') ?? '',
})

const read = (screen: Screen) => findGroup(screen.ctx, screen.organization.id, idIn(screen))

function showNew(screen: Screen, state: FormState): Response {
  const content = <GroupForm screen={screen} state={state} group={null} />
  return screen.show({ title: 'Add a group', section: 'services', content }, state)
}

async function showGroup(screen: Screen, state: FormState): Promise<Response> {
  const group = await read(screen)
  const lock = await readLock(screen, group.id, state)
  const remove = (
    <a class="button quiet" href={screen.path(`services/groups/${group.id}/delete`)}>
      Delete
    </a>
  )
  return screen.show(
    {
      title: group.name,
      section: 'services',
      content: (
        <>
          <ManagedNote screen={screen} managed={lock.managed} />
          <GroupForm screen={screen} state={lock.state} group={group} />
        </>
      ),
      actions: screen.may('WRITE') ? remove : undefined,
    },
    state,
  )
}

/** @param group null: a new one. */
function GroupForm({
  screen,
  state,
  group,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly group: ServiceGroup | null
}) {
  const { name = '', description = '', version = 0 } = group ?? {}
  return (
    <form method="post" class="stack" id="edit">
      <EditProblem state={state} version={version} fields={['name', 'description']} />
      {group === null ? null : <VersionField state={state} version={version} />}
      <LockedFields state={state} />
      <InputField
        label="Name"
        name="name"
        state={state}
        value={name}
        autofocus={group === null}
        {...textRules(nameText)}
        autocomplete="off"
        hint={currentValue(state, version, { name: 'name', value: name })}
      />
      <TextField
        label="Description"
        name="description"
        state={state}
        value={description}
        rows={2}
        maxlength={2000}
        hint={currentValue(state, version, { name: 'description', value: description })}
      />
      <p class="actions">
        <button type="submit">{group === null ? 'Add' : 'Save'}</button>
        <a href={screen.path('services')}>Cancel</a>
      </p>
    </form>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, name } = await read(screen)
  const services = await countServicesInGroup(screen.ctx, id)
  const content = (
    <ConfirmDeletion state={state} what={name} back={screen.path('services')}>
      <p>
        {services === 0
          ? 'It has no services.'
          : `Its ${services === 1 ? 'service stays' : `${services} services stay`} on the page, without a group.`}
      </p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this group?', section: 'services', content }, state)
}
