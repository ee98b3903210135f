import { requireScope } from '../../../core/access.ts'
import { Conflict, NotFound } from '../../../core/errors.ts'
import { isRefused } from '../../../core/outcome.ts'
import { invalid } from '../../../core/validation.ts'
import { bulk } from '../../../event-log/bulk.ts'
import type { SubmittedForm } from '../../../http/page/form.tsx'
import type { ConsoleContext } from './context.ts'

/**
 * Returns the selected ids of a form.
 * @throws Invalid when none is selected.
 */
export function chosenIds({ fields }: Pick<SubmittedForm, 'fields'>): string[] {
  const ids = [...new Set(fields.getAll('ids'))]
  if (ids.length > 0) return ids
  throw invalid([{ path: ['ids'], message: 'choose at least one' }])
}

/**
 * Applies an action to each of the selected objects of the organization, independently.
 * @throws NotFound when none of them exists, and Conflict with the reason if some were refused.
 */
export async function applyToEach(
  ctx: ConsoleContext,
  items: readonly string[],
  work: (ctx: ConsoleContext, id: string) => Promise<unknown>,
): Promise<void> {
  const outcomes = await bulk(ctx, requireScope(ctx, 'WRITE'), { items, mode: 'EACH' }, work)
  const errors = outcomes.filter(isRefused)
  const [first] = errors
  if (first === undefined) return
  if (errors.length === items.length) throw first
  const other = errors.find((error) => !(error instanceof NotFound)) ?? first
  throw new Conflict(`${errors.length} of ${items.length} were not changed. ${other.message}`, 'NOT_APPLIED')
}
