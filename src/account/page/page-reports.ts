import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Page } from './page.ts'
import { countEdit, findPage, pageUpdated } from './page.ts'

const reports = z.object({ pageId: z.string(), published: z.boolean(), version: versionInput })

/**
 * Sets whether readers of a page can read its monthly reports. Requires a key with scope ADMIN.
 * @param input `pageId`, or the id of the organization for its first page; and `published`.
 * @throws Invalid, NotFound for an unknown page, Conflict when the page has changed since the given version.
 */
export async function updatePageReports(ctx: ChangeContext, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { pageId, published, version } = validate(reports, input)
  return change(ctx, organizationId, async ({ db }) => {
    const page = await findPage(db, organizationId, pageId)
    requireVersion(page, version)
    if (!hasChanges(page, { publishesReports: published })) return [page]
    await db.page.update({ where: { id: page.id }, data: { publishesReports: published } })
    await countEdit(db, page)
    return [await findPage(db, organizationId, page.id), pageUpdated(page)]
  })
}
