import { NotFound } from '../../core/errors.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import {
  deleteMaintenance,
  deleteMaintenanceUpdate,
  editMaintenanceUpdate,
  findMaintenance,
  findMaintenanceUpdate,
} from '../../status/maintenance.ts'
import { ConfirmDeletion, readTime, readVersion } from './edit-fields.tsx'
import { idIn } from './incident.tsx'
import type { Screen, Screens } from './screen.tsx'
import { showUpdate, updateIdIn } from './update-form.tsx'

/** Adds the pages that delete a maintenance, and edit and delete its updates. */
export function maintenanceEditScreens({ form }: Screens): void {
  form('maintenance/:id/delete', showDeletion, async (screen) => {
    await deleteMaintenance(screen.ctx, idIn(screen))
    return 'maintenance'
  })
  form('maintenance/:id/updates/:updateId', showUpdateEdit, submitUpdateEdit)
  form('maintenance/:id/updates/:updateId/delete', showUpdateDeletion, async (screen) => {
    await deleteMaintenanceUpdate(screen.ctx, updateIdIn(screen))
    return `maintenance/${idIn(screen)}`
  })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, title, startedAt } = await findMaintenance(screen.ctx, screen.organization.id, idIn(screen))
  const updates = await screen.ctx.db.maintenanceUpdate.count({ where: { maintenanceId: id } })
  const content = (
    <ConfirmDeletion state={state} what={title} back={screen.path(`maintenance/${id}`)}>
      <p>
        Its {updates === 1 ? 'update goes' : `${updates} updates go`} with it, from the status page and its history.{' '}
        {startedAt === null ? null : 'The time in which it ran counts towards uptime again. '}
        Subscribers are not told. This cannot be undone.
      </p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this maintenance?', section: 'maintenance', content }, state)
}

async function readUpdate(screen: Screen) {
  const update = await findMaintenanceUpdate(screen.ctx, screen.organization.id, updateIdIn(screen))
  if (update.maintenanceId !== idIn(screen)) throw new NotFound('Maintenance update not found.')
  return { ...update, of: update.maintenance }
}

async function showUpdateEdit(screen: Screen, state: FormState): Promise<Response> {
  return showUpdate(screen, state, await readUpdate(screen), 'maintenance')
}

async function submitUpdateEdit(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { id, createdAt, maintenanceId } = await readUpdate(screen)
  await editMaintenanceUpdate(screen.ctx, {
    id,
    message: fields.get('message') ?? undefined,
    createdAt: readTime(fields, 'createdAt', screen.zone, createdAt),
    version: readVersion(fields),
  })
  return `maintenance/${maintenanceId}`
}

async function showUpdateDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { of, createdAt } = await readUpdate(screen)
  const content = (
    <ConfirmDeletion
      state={state}
      what={`${of.title}, ${screen.zone.time(createdAt)}`}
      back={screen.path(`maintenance/${of.id}`)}
    >
      <p>The status of the maintenance stays. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this update?', section: 'maintenance', content }, state)
}
