import { readPages } from '../../../account/page/page.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { SelectField } from '../../../http/page/form.tsx'
import type { Screen } from '../frame/screen.tsx'

/** The name and id of a page. */
export interface NamedPage {
  readonly id: string
  readonly name: string
}

/** Reads the pages of the organization, the first one first. */
export function readPageNames({ ctx, organization }: Screen): Promise<readonly NamedPage[]> {
  return readPages(ctx.db, 'organizationId', [organization.id], { withDeleted: true })
}

/**
 * Renders the choice of a page, if there are several.
 * @param all the label of no choice; absent: there is none.
 */
export function PageChoice({
  pages,
  state,
  value,
  all,
}: {
  readonly pages: readonly NamedPage[]
  readonly state: FormState
  readonly value?: string | null | undefined
  readonly all?: string
}) {
  if (pages.length < 2) return null
  const choices = pages.map(({ id, name }) => ({ value: id, text: name }))
  const none = all === undefined ? [] : [{ value: '', text: all }]
  return <SelectField label="Page" name="pageId" state={state} value={value} choices={[...none, ...choices]} />
}
