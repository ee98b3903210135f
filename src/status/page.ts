import { z } from 'zod'
import { findPage } from '../account/custom-domain.ts'
import { isUploaded } from '../account/logo.ts'
import { refuseTaken, updateOrganization } from '../account/organization.ts'
import type { Page } from '../account/page.ts'
import { readPage } from '../account/page.ts'
import { settingsEdit, slugText } from '../account/page-settings.ts'
import { tierLimits } from '../account/plan.ts'
import { tierOf } from '../account/tier.ts'
import { requireScope } from '../core/access.ts'
import type { Context, Database } from '../core/context.ts'
import { Conflict, NotFound, TierLimitReached } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { hasChanges, requireVersion } from '../core/optimistic-lock.ts'
import { nameText, validate } from '../core/validation.ts'
import type { ChangeResult } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import { MAX_SERVICES, requireDistinct, requireServices } from './ownership.ts'

const look = settingsEdit.pick({ description: true, accentColor: true, logoUrl: true, links: true, uptimeSource: true })
const serviceIds = z.array(z.string()).max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`).nullish()
const newPage = look.extend({ slug: slugText, name: nameText, serviceIds })

/**
 * Creates another page of the organization. What is left out of its look is the organization's. Requires a key with scope ADMIN.
 * @throws Invalid, NotFound for an unknown service, Conflict when the slug is taken, and TierLimitReached.
 */
export async function createPage(ctx: Context, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { serviceIds, ...fields } = validate(newPage, input)
  const creation = change(ctx, organizationId, async (tx) => {
    const { db } = tx
    await requireServices(tx, organizationId, serviceIds ?? [])
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].pages
    if ((await db.page.count({ where: { organizationId } })) >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit === 1 ? 'one page' : `${limit} pages`}.`, limit)
    const id = newId('StatusPage')
    await db.page.create({ data: { id, organizationId, ...fields, allServices: true, createdAt: tx.now() } })
    if (serviceIds) await choose(tx, { id, organizationId }, serviceIds)
    return [await stored(db, id), { kind: 'PAGE_CREATED', subjectId: id, subjectName: fields.name }]
  })
  return creation.catch(refuseTaken)
}

const pageEdit = look.extend({
  id: z.string(),
  slug: slugText.optional(),
  name: nameText.optional(),
  serviceIds,
  version: settingsEdit.shape.version,
})

/**
 * Updates the given fields of a page. `serviceIds` null: it shows all services. The settings of the first page are those of its
 * organization. Requires a key with scope ADMIN.
 * @throws Invalid, NotFound for an unknown page or service, and Conflict when the slug is taken, or the page has changed since the
 * given version.
 */
export async function updatePage(ctx: Context, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { id, version, serviceIds, ...fields } = validate(pageEdit, input)
  const edit = change(ctx, organizationId, async (tx) => {
    const { db } = tx
    const page = await findPage(db, organizationId, id)
    const before = await stored(db, page.id)
    requireVersion(before, version)
    const isChosen = serviceIds !== undefined && hasChanges(before, { serviceIds })
    if (isChosen) await choose(tx, page, serviceIds)
    if (page.isFirst) return updateFirst(tx, before, fields, isChosen)
    const given = withoutOwn(before, fields)
    if (!isChosen && !hasChanges(before, given)) return [before]
    await db.page.update({ where: { id: page.id }, data: { ...given, version: { increment: 1 } } })
    const after = await stored(db, page.id)
    return [after, { kind: 'PAGE_UPDATED', subjectId: page.id, subjectName: after.name }]
  })
  return edit.catch(refuseTaken)
}

/** Updates the first page: its settings are its organization's. @param isChosen whether its services have changed. */
async function updateFirst(
  tx: Context,
  { id, organizationId, version }: Page,
  fields: Readonly<Record<string, unknown>>,
  isChosen: boolean,
): Promise<ChangeResult<Page>> {
  const { db } = tx
  const organization = await updateOrganization(tx, fields)
  // Otherwise that is counted and told.
  if (!isChosen || organization.version !== version) return [await stored(db, id)]
  await db.organization.update({ where: { id: organizationId }, data: { version: { increment: 1 } } })
  return [await stored(db, id), { kind: 'PAGE_UPDATED', subjectId: organizationId, subjectName: organization.name }]
}

/** Leaves out the address of an uploaded logo as the API gives it: that one stays. */
function withoutOwn<T extends { readonly logoUrl?: string | null | undefined }>({ logoUrl }: Page, fields: T): T {
  const isSame = logoUrl !== null && isUploaded(logoUrl) && fields.logoUrl?.endsWith(logoUrl)
  return isSame ? { ...fields, logoUrl: undefined } : fields
}

/** A page that was deleted, and what went with it. */
export interface DeletedPage {
  readonly id: string
  readonly name: string
  readonly customDomain: string | null
  /** The number of its subscribers. */
  readonly subscribers: number
}

/**
 * Deletes a page with its domain and subscribers; services, incidents and maintenance stay. Requires a key with scope ADMIN.
 * @throws NotFound for an unknown page. @throws Conflict for the first page, which lives as long as its organization.
 */
export async function deletePage(ctx: Context, id: string): Promise<DeletedPage> {
  const organizationId = requireScope(ctx, 'ADMIN')
  return change(ctx, organizationId, async ({ db }) => {
    const page = await findPage(db, organizationId, id)
    if (page.isFirst) throw new Conflict('The first page is deleted with its organization only.')
    const { name } = await stored(db, page.id)
    const domain = await db.customDomain.findUnique({ where: { pageId: page.id }, select: { name: true } })
    const subscribers = await db.subscriber.count({ where: { pageId: page.id, stoppedAt: null } })
    await db.page.delete({ where: { id: page.id } })
    const deleted = { id: page.id, name, customDomain: domain?.name ?? null, subscribers }
    return [deleted, { kind: 'PAGE_DELETED', subjectId: page.id, subjectName: name }]
  })
}

/** Sets the services of a page, in their order; null: all. */
async function choose(
  tx: Context,
  { id: pageId, organizationId }: { readonly id: string; readonly organizationId: string },
  ids: readonly string[] | null,
): Promise<void> {
  const { db } = tx
  requireDistinct(ids ?? [], (index) => ['serviceIds', index])
  await requireServices(tx, organizationId, ids ?? [])
  await db.pageService.deleteMany({ where: { pageId } })
  await db.pageService.createMany({ data: (ids ?? []).map((serviceId, position) => ({ pageId, serviceId, position })) })
  await db.page.update({ where: { id: pageId }, data: { allServices: ids === null } })
}

/** Reads a page that exists. @throws NotFound when it does not. */
async function stored(db: Database, id: string): Promise<Page> {
  const page = await readPage(db, 'id', id)
  if (page === null) throw new NotFound('Page not found.')
  return page
}
