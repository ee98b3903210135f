import { NotFound } from '../../../core/errors.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { deleteMonitor } from '../../../monitoring/monitor/monitor.ts'
import { readMonitorNames } from '../../../monitoring/monitor/monitor-queries.ts'
import { applyToEach, chosenIds } from '../frame/bulk.ts'
import { chosenIn, DeletionForm } from '../frame/choose.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

/** Adds the page that deletes the monitors with the `ids` in its address. */
export function monitorDeletionScreens({ form }: Screens): void {
  form('monitors/delete', showDeletion, async ({ ctx }, sent) => {
    await applyToEach(ctx, chosenIds(sent), deleteMonitor)
    return 'monitors'
  })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const monitors = await readMonitorNames(ctx, organization.id, chosenIn(screen, state))
  if (monitors.length === 0) throw new NotFound('Monitor not found.')
  const title = monitors.length === 1 ? 'Delete this monitor?' : `Delete ${monitors.length} monitors?`
  const content = (
    <DeletionForm
      {...{ state, items: monitors, button: 'Delete', back: screen.path('monitors') }}
      note="The uptime history, outages and probe results are deleted too. Incidents stay. This cannot be undone."
    />
  )
  return screen.show({ title, section: 'monitors', content }, state)
}
