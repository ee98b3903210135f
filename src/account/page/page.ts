import type { Database } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { plainRows } from '../../database/transaction.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Organization, Page as PageRow } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** The columns of `pageSettings`: the organization's settings, unless the page overrides them. */
export type PageSettings = Pick<PageRow, 'slug' | 'customDomain' | 'embedOrigins' | 'publishesReports'> &
  Pick<
    Organization,
    | 'name'
    | 'description'
    | 'timeZone'
    | 'accentColor'
    | 'logoUrl'
    | 'links'
    | 'uptimeSource'
    | 'languages'
    | 'defaultLanguage'
    | 'tier'
    | 'lastSeq'
  >

/** A status page with its settings. */
export interface Page
  extends PageSettings,
    Pick<PageRow, 'id' | 'organizationId' | 'isFirst' | 'createdAt'>,
    Pick<Organization, 'version' | 'deletedAt'> {
  /** The services that it shows, in its order; null: all services, in the organization's order. */
  readonly serviceIds: readonly string[] | null
}

/** The settings of a page as SQL columns, where `own` is the row of the page and `owner` that of its organization. */
export const pageSettings = Prisma.sql`own.slug, coalesce(own.name, owner.name) AS name,
  coalesce(own.description, owner.description) AS description, owner."timeZone",
  coalesce(own."accentColor", owner."accentColor") AS "accentColor", coalesce(own."logoUrl", owner."logoUrl") AS "logoUrl",
  coalesce(own.links, owner.links) AS links, coalesce(own."uptimeSource", owner."uptimeSource") AS "uptimeSource",
  owner.languages, owner."defaultLanguage", own."customDomain", own."embedOrigins", own."publishesReports", owner.tier, owner."lastSeq"`

/** Selects pages. Append a condition. */
export const selectPages = Prisma.sql`
  SELECT own.id, own."organizationId", own."isFirst", own."createdAt", ${pageSettings}, owner."deletedAt",
    CASE WHEN own."isFirst" THEN owner.version ELSE own.version END AS version,
    CASE WHEN NOT own."allServices" THEN
      ARRAY(SELECT "serviceId" FROM "PageService" WHERE "pageId" = own.id ORDER BY position, "serviceId") END AS "serviceIds"
  FROM "Page" AS own JOIN "Organization" AS owner ON owner.id = own."organizationId"`

/** How to select pages: by their ids or slugs, or all pages of organizations. */
export type PagesBy = 'id' | 'slug' | 'organizationId'

/** Reads pages of organizations that are not deleted, oldest first. Runs one statement. */
export async function readPages(
  db: Database,
  by: PagesBy,
  values: readonly string[],
  { withDeleted = false }: { readonly withDeleted?: boolean } = {},
): Promise<Page[]> {
  const column = Prisma.raw(`own."${by}"`)
  const deleted = withDeleted ? Prisma.empty : Prisma.sql`AND owner."deletedAt" IS NULL`
  return plainRows<Page>(
    db,
    Prisma.sql`${selectPages} WHERE ${column} = ANY (${[...values]}::text[]) ${deleted}
      ORDER BY own."isFirst" DESC, own."createdAt", own.id`,
  )
}

/** Reads a page of an organization that is not deleted; null: there is none. */
export async function readPage(db: Database, by: 'id' | 'slug', value: string): Promise<Page | null> {
  const [found] = await readPages(db, by, [value])
  return found ?? null
}

/** Finds a page of an organization. The id of the organization also identifies its first page. @throws NotFound. */
export async function findPage(db: Database, organizationId: string, id: string): Promise<Page> {
  const by = id === organizationId ? 'organizationId' : 'id'
  const isId = id === organizationId || typeOfId(id) === 'StatusPage'
  const [page] = isId ? await readPages(db, by, [id], { withDeleted: true }) : []
  if (page?.organizationId !== organizationId) throw new NotFound('Page not found.')
  return page
}

/** Increments the version after an edit. The first page shares the settings and the version of its organization. */
export async function countEdit(db: Database, { id, organizationId, isFirst }: EditedPage): Promise<void> {
  const data = { version: { increment: 1 } }
  if (isFirst) await db.organization.update({ where: { id: organizationId }, data })
  else await db.page.update({ where: { id }, data })
}

/** Returns the event of an edited page. The event of the first page is about its organization. */
export function pageUpdated({ id, organizationId, isFirst, name }: EditedPage & Pick<Page, 'name'>): NewEvent {
  return { kind: 'PAGE_UPDATED', subjectId: isFirst ? organizationId : id, subjectName: name }
}

type EditedPage = Pick<Page, 'id' | 'organizationId' | 'isFirst'>
