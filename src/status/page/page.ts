import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import type { EditContext } from '../../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { refuseTaken, updateOrganization } from '../../account/organization/organization.ts'
import type { LogoFile } from '../../account/page/logo.ts'
import { changedLogo, storeLogo } from '../../account/page/logo.ts'
import type { Page } from '../../account/page/page.ts'
import { countEdit, findPage, pageUpdated } from '../../account/page/page.ts'
import {
  countPages,
  deletePageRow,
  insertPage,
  readPageRow,
  writePage,
  writePageServices,
} from '../../account/page/page-rows.ts'
import { pageLogo, settingsEdit, slugText } from '../../account/page/page-settings.ts'
import { tierOf } from '../../account/tier.ts'
import { requireConfirmation, requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { Conflict, TierLimitReached } from '../../core/errors.ts'
import { changedFields, hasChanges, requireVersion } from '../../core/optimistic-lock.ts'
import { nameText, validate } from '../../core/validation.ts'
import type { ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { AccountMailer } from '../../people/context.ts'
import type { PreparedAccess } from '../../people/page-access.ts'
import { pageAccessInput, preparePageAccess, setPageAccess } from '../../people/page-access.ts'
import { followers } from '../followers.ts'
import { MAX_SERVICES, requireDistinct, requireServices } from '../ownership.ts'

const { description, accentColor, links, uptimeSource, version } = settingsEdit.shape
/** The look of a page: null inherits the organization's, an empty logo is none. */
const look = z.object({
  description: description.nullable(),
  accentColor: accentColor.nullable(),
  logoUrl: pageLogo.nullish(),
  links: links.nullable(),
  uptimeSource: uptimeSource.nullable(),
})
const serviceIds = z.array(z.string()).max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`).nullish()
const access = pageAccessInput.nullish()
const newPage = look.extend({ slug: slugText, name: nameText, serviceIds, access })

/**
 * Creates another page of the organization, which inherits the organization's look where the input has none. Requires a
 * key with scope ADMIN.
 * @throws Invalid, NotFound for an unknown service, Conflict when the slug is taken, and TierLimitReached.
 */
export async function createPage(ctx: EditContext & AccountMailer, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { serviceIds, access, ...fields } = validate(newPage, input)
  const prepared = access && (await preparePageAccess(ctx, access))
  const creation = change(ctx, organizationId, async (tx) => {
    const { db } = tx
    await requireServices(tx, organizationId, serviceIds ?? [])
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].pages
    if ((await countPages(tx, organizationId)) >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit === 1 ? 'one page' : `${limit} pages`}.`, limit)
    const id = await insertPage(tx, organizationId, stored(fields))
    if (serviceIds) await choose(tx, { id, organizationId }, serviceIds)
    if (prepared) await setPageAccess(tx, { id, organizationId }, prepared)
    return [await findPage(db, organizationId, id), { kind: 'PAGE_CREATED', subjectId: id, subjectName: fields.name }]
  })
  return creation.catch(refuseTaken)
}

const pageEdit = look.extend({
  id: z.string(),
  slug: slugText.optional(),
  name: nameText.optional(),
  serviceIds,
  access,
  version,
})

/**
 * Updates the given fields of a page. If `serviceIds` is null, it shows all services; parts of its look that are null
 * are inherited from the organization. The settings of the first page are those of its organization. Requires a key
 * with scope ADMIN, and for `access` a person's confirmation.
 * @param upload becomes the logo; absent: the input sets the logo.
 * @throws Invalid, NotFound for an unknown page or service, and Conflict when the slug is taken, the page has changed
 * since the given version, and ManagedByFile.
 */
export async function updatePage(ctx: EditContext & AccountMailer, input: unknown, upload?: LogoFile): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { id, access, ...edit } = validate(pageEdit, input)
  if (access) requireConfirmation(ctx)
  const prepared = access && (await preparePageAccess(ctx, access))
  const updated = await editPage(ctx, organizationId, { id, access: prepared, ...edit }, (tx, page, fields) =>
    page.isFirst ? updateFirst(tx, page, fields, upload) : updateOther(tx, page, fields, upload),
  )
  return updated
}

/**
 * Updates the organization's settings and the services of its first page at once. Requires a key with scope ADMIN.
 * @param input as `updateOrganization` takes it, and `serviceIds`. @throws as `updatePage` does.
 */
export async function updateFirstPage(ctx: EditContext, input: unknown, upload?: LogoFile): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { serviceIds, ...settings } = validate(settingsEdit.extend({ serviceIds: pageEdit.shape.serviceIds }), input)
  const edit = { id: organizationId, serviceIds, ...settings }
  return editPage(ctx, organizationId, edit, (tx, page, fields) => updateFirst(tx, page, fields, upload))
}

interface PageEdit {
  readonly id: string
  readonly version?: number | null | undefined
  readonly serviceIds?: readonly string[] | null | undefined
  readonly access?: PreparedAccess | null | undefined
}

/**
 * Edits a page in one change.
 * @param update writes the other fields. If anything changed, it increments the version, appends an event and returns
 * true.
 */
function editPage<Fields extends object>(
  ctx: EditContext,
  organizationId: string,
  { id, version, serviceIds, access, ...fields }: PageEdit & Fields,
  update: (tx: EditContext, page: Page, fields: Omit<Fields, keyof PageEdit>) => Promise<boolean>,
): Promise<Page> {
  const edit = change(ctx, organizationId, async (tx): Promise<ChangeResult<Page>> => {
    const page = await findPage(tx.db, organizationId, id)
    requireVersion(page, version)
    const isChosen = serviceIds !== undefined && hasChanges(page, { serviceIds })
    if (isChosen) {
      await requireUnlocked(tx, organizationId, page.id, ['serviceIds'])
      await choose(tx, page, serviceIds)
    }
    const isOpened = access ? await setPageAccess(tx, page, access) : false
    const isCounted = await update(tx, page, fields)
    if (!isCounted && (isChosen || isOpened)) await countEdit(tx.db, page)
    const after = await findPage(tx.db, organizationId, page.id)
    return !isCounted && isChosen ? [after, pageUpdated(after)] : [after]
  })
  return edit.catch(refuseTaken)
}

async function updateFirst(
  tx: EditContext,
  { version }: Page,
  fields: Readonly<Record<string, unknown>>,
  upload: LogoFile | undefined,
): Promise<boolean> {
  return (await updateOrganization(tx, fields, upload)).version !== version
}

type OwnFields = Partial<Omit<z.infer<typeof newPage>, 'serviceIds' | 'access'>>

async function updateOther(
  tx: EditContext,
  page: Page,
  { logoUrl, ...others }: OwnFields,
  upload: LogoFile | undefined,
): Promise<boolean> {
  const { db } = tx
  const before = await readPageRow(tx, page.id)
  const logo = changedLogo(page, logoUrl, upload)
  const fields = logo === undefined ? others : { ...others, logoUrl: logo }
  const changed = changedFields(before, fields)
  if (changed.length === 0) return false
  await requireUnlocked(tx, page.organizationId, page.id, changed)
  const after = await writePage(tx, page.id, stored(fields))
  if (after.logoUrl !== before.logoUrl) await storeLogo(db, page, upload)
  await countEdit(db, page)
  await change(tx, page.organizationId, async () => [null, pageUpdated({ ...page, name: after.name ?? page.name })])
  return true
}

/** Returns the fields for the database: a JSON column has its own null. */
function stored<T extends Pick<OwnFields, 'links'>>({ links, ...fields }: T) {
  return links === undefined ? fields : { ...fields, links: links ?? Prisma.DbNull }
}

/** A deleted page, and what was deleted with it. */
export interface DeletedPage {
  readonly id: string
  readonly name: string
  readonly customDomain: string | null
  /** The number of its subscribers. */
  readonly subscribers: number
}

/**
 * Deletes a page with its domain and subscribers; services, incidents and maintenance stay. Requires a key with scope
 * ADMIN; a person confirms it.
 * @throws NotFound for an unknown page, and ManagedByFile. @throws Conflict for the first page, which lives as long as
 * its organization.
 */
export async function deletePage(ctx: EditContext, id: string): Promise<DeletedPage> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  return change(ctx, organizationId, async (tx) => {
    const { db } = tx
    const page = await findPage(db, organizationId, id)
    await requireDeletable(tx, organizationId, page.id)
    if (page.isFirst) throw new Conflict('The first page is deleted with its organization only.')
    const { name } = page
    const subscribers = await followers.get().countSubscribers(db, page.id)
    const customDomain = await deletePageRow(tx, page.id)
    const deleted = { id: page.id, name, customDomain, subscribers }
    return [deleted, { kind: 'PAGE_DELETED', subjectId: page.id, subjectName: name }]
  })
}

/** Sets the services of a page, in this order; null: all. */
async function choose(
  tx: Context,
  page: { readonly id: string; readonly organizationId: string },
  ids: readonly string[] | null,
): Promise<void> {
  requireDistinct(ids ?? [], (index) => ['serviceIds', index])
  await requireServices(tx, page.organizationId, ids ?? [])
  await writePageServices(tx, page, ids)
}
