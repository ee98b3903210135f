import type { PageState } from '../../../status/page/page-state.ts'
import { readWithState } from '../../../status-page/shared-state.ts'
import type { Screen } from './screen.tsx'

/**
 * Returns the current state of the organization's page. It is cached; one statement proves that nothing has changed
 * since.
 */
export async function readCurrentState({ ctx, organization }: Screen): Promise<PageState> {
  const { state } = await readWithState(ctx.pages, organization.id, async () => null)
  return state
}
