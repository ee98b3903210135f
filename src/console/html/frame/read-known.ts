import type { UnhealthyMonitor } from '../../../monitoring/monitor/monitor-queries.ts'
import { readMonitorsWithoutService } from '../../../monitoring/monitor/monitor-queries.ts'
import type { PageState } from '../../../status/page/page-state.ts'
import { subjectOf } from '../../../status/service/shown-status.ts'
import type { Knowledge } from '../../../status/service/what-is-known.ts'
import { whatIsKnown } from '../../../status/service/what-is-known.ts'
import type { Screen } from './screen.tsx'

/**
 * Returns what is known of an organization's services, and of its monitors without a service. A monitor that is down is a
 * problem, even if its service shows something else.
 */
export async function readKnown(
  { ctx, organization }: Screen,
  { services, status }: Pick<PageState, 'services' | 'status'>,
  troubles: readonly UnhealthyMonitor[],
): Promise<Knowledge> {
  const others = await readMonitorsWithoutService(ctx, organization.id)
  const found = troubles.flatMap((monitor) => subjectOf(monitor)?.shown ?? [])
  return whatIsKnown(
    [...services, ...others],
    [status.shown, ...found].filter((shown) => shown !== 'UNKNOWN'),
  )
}
