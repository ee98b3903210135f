import type { Context } from '../../core/context.ts'
import { newId } from '../../core/id.ts'
import type { Page as PageRow, Prisma } from '../../generated/prisma/client.ts'
import type { Page } from './page.ts'

type Db = Pick<Context, 'db'>

/** The columns of a page that can override the settings of its organization, and its slug. */
export type PageFields = Pick<
  Prisma.PageUncheckedUpdateInput,
  'slug' | 'name' | 'description' | 'accentColor' | 'logoUrl' | 'links' | 'uptimeSource'
>

/** Returns the number of pages of an organization. */
export function countPages({ db }: Db, organizationId: string): Promise<number> {
  return db.page.count({ where: { organizationId } })
}

/** Returns the row of a page, without the settings that it inherits. */
export function readPageRow({ db }: Db, id: string): Promise<PageRow> {
  return db.page.findUniqueOrThrow({ where: { id } })
}

/** A page with the ids of its chosen services, in its order. */
export type PageWithServices = PageRow & { readonly services: readonly { readonly serviceId: string }[] }

/** Returns the pages of an organization, the first page first, then by age. */
export function pagesWithServices({ db }: Db, organizationId: string): Promise<PageWithServices[]> {
  return db.page.findMany({
    where: { organizationId },
    include: { services: { select: { serviceId: true }, orderBy: [{ position: 'asc' }, { serviceId: 'asc' }] } },
    orderBy: [{ isFirst: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
  })
}

/** Inserts a page that shows all services, within the transaction of a change. Returns its id. */
export async function insertPage(
  { db, now }: Pick<Context, 'db' | 'now'>,
  organizationId: string,
  fields: PageFields & { readonly slug: string },
): Promise<string> {
  const id = newId('StatusPage')
  await db.page.create({
    data: { ...(fields as Prisma.PageUncheckedCreateInput), id, organizationId, allServices: true, createdAt: now() },
  })
  return id
}

/** Writes fields of a page, within the transaction of a change. The caller counts the edit (`countEdit`). */
export function writePage({ db }: Db, id: string, fields: PageFields): Promise<PageRow> {
  return db.page.update({ where: { id }, data: fields })
}

/** Sets the services of a page, in this order; null: all. The caller has checked that they exist. */
export async function writePageServices(
  { db }: Db,
  { id }: Pick<Page, 'id'>,
  serviceIds: readonly string[] | null,
): Promise<void> {
  await db.pageService.deleteMany({ where: { pageId: id } })
  // With Prisma, writing 500 rows takes 60 ms of the main thread.
  await db.$executeRaw`
    INSERT INTO "PageService" ("pageId", "serviceId", position)
    SELECT ${id}, id, place - 1 FROM unnest(${serviceIds ?? []}::text[]) WITH ORDINALITY AS listed (id, place)`
  await db.page.update({ where: { id }, data: { allServices: serviceIds === null } })
}

/** Deletes a page with all that belongs to it. Returns the domain that it had or has requested; null: none. */
export async function deletePageRow({ db }: Db, id: string): Promise<string | null> {
  const domain = await db.customDomain.findUnique({ where: { pageId: id }, select: { name: true } })
  await db.page.delete({ where: { id } })
  return domain?.name ?? null
}

/**
 * Records the last month whose report was announced, unless it has changed since it was read. Returns whether it has been
 * recorded. @param before the recorded month when it was read; null: none.
 */
export async function recordReportedMonth(
  { db }: Db,
  { id, before, month }: { readonly id: string; readonly before: string | null; readonly month: string },
): Promise<boolean> {
  const { count } = await db.page.updateMany({ where: { id, reportedMonth: before }, data: { reportedMonth: month } })
  return count > 0
}

/** Records a month whose report is announced, unless another worker has recorded it or a later one. Returns whether it did. */
export async function advanceReportedMonth({ db }: Db, id: string, month: string): Promise<boolean> {
  const where = { id, reportedMonth: { lt: month } }
  const { count } = await db.page.updateMany({ where, data: { reportedMonth: month } })
  return count > 0
}
