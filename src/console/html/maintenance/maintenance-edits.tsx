import { NotFound } from '../../../core/errors.ts'
import type { FormState } from '../../../http/page/form.tsx'
import {
  deleteMaintenance,
  deleteMaintenanceUpdate,
  editMaintenanceUpdate,
  findMaintenance,
  findMaintenanceUpdate,
} from '../../../status/maintenance/maintenance.ts'
import { countMaintenanceUpdates } from '../../../status/maintenance/maintenance-queries.ts'
import { ConfirmDeletion } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { updateScreens } from '../incidents/update-screens.tsx'

/** Adds the pages that delete a maintenance, and edit and delete its updates. */
export function maintenanceEditScreens(screens: Screens): void {
  const { form } = screens
  form('maintenance/:id/delete', showDeletion, async (screen) => {
    await deleteMaintenance(screen.ctx, idIn(screen))
    return 'maintenance'
  })
  updateScreens(screens, {
    section: 'maintenance',
    read: readUpdate,
    edit: editMaintenanceUpdate,
    delete: deleteMaintenanceUpdate,
    afterDeletion: 'The status of the maintenance does not change.',
  })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, title, startedAt, seriesId } = await findMaintenance(screen.ctx, screen.organization.id, idIn(screen))
  const updates = await countMaintenanceUpdates(screen.ctx, id)
  const content = (
    <ConfirmDeletion state={state} what={title} back={screen.path(`maintenance/${id}`)}>
      <p>
        Its {updates === 1 ? 'update is' : `${updates} updates are`} deleted too, from the status page and its history.{' '}
        {startedAt === null ? null : 'The time in which it ran counts towards uptime again. '}
        {seriesId === null ? null : 'The series continues without this date. '}
        Subscribers are not notified. This cannot be undone.
      </p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this maintenance?', section: 'maintenance', content }, state)
}

async function readUpdate(screen: Screen, id: string) {
  const update = await findMaintenanceUpdate(screen.ctx, screen.organization.id, id)
  if (update.maintenanceId !== idIn(screen)) throw new NotFound('Maintenance update not found.')
  return { ...update, of: update.maintenance }
}
