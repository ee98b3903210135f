import { NotFound } from '../../core/errors.ts'
import type { FormState } from '../../http/form.tsx'
import { deleteMonitor } from '../../monitoring/monitor.ts'
import { applyToEach, chosenIds } from './bulk.ts'
import { chosenIn, DeletionForm } from './choose.tsx'
import type { Screen, Screens } from './screen.tsx'

/** Adds the page that deletes monitors, named by `ids` in its address. */
export function monitorDeletionScreens({ form }: Screens): void {
  form('monitors/delete', showDeletion, async ({ ctx }, sent) => {
    await applyToEach(ctx, chosenIds(sent), deleteMonitor)
    return 'monitors'
  })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const monitors = await ctx.db.monitor.findMany({
    where: { organizationId: organization.id, id: { in: chosenIn(screen, state) } },
    select: { id: true, name: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  if (monitors.length === 0) throw new NotFound('Monitor not found.')
  const title = monitors.length === 1 ? 'Delete this monitor?' : `Delete ${monitors.length} monitors?`
  const content = (
    <DeletionForm
      {...{ state, items: monitors, button: 'Delete', back: screen.path('monitors') }}
      note="The uptime history, outages and probe results go too. Incidents stay. This cannot be undone."
    />
  )
  return screen.show({ title, section: 'monitors', content }, state)
}
