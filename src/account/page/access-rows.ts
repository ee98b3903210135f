import type { Context, Database } from '../../core/context.ts'
import { newId } from '../../core/id.ts'
import type { PageAccess, PageToken } from '../../generated/prisma/client.ts'
import type { PageAccessKind } from '../../generated/prisma/enums.ts'
import { announcePage } from './page-guard.ts'

type Db = Pick<Context, 'db'>

/** Returns who can read a page; null: it has always been public. */
export function readPageAccessRow(db: Database, pageId: string): Promise<PageAccess | null> {
  return db.pageAccess.findUnique({ where: { pageId } })
}

/** Returns the kind of access of each page of an organization, by page id. Pages that are not in the map are public. */
export async function pageAccessKinds(
  { db }: Db,
  organizationId: string,
): Promise<ReadonlyMap<string, PageAccessKind>> {
  const found = await db.pageAccess.findMany({ where: { organizationId }, select: { pageId: true, kind: true } })
  return new Map(found.map(({ pageId, kind }) => [pageId, kind]))
}

/** Sets who can read a page, within the transaction of a change. Readers of the generation before lose access. */
export async function writePageAccess(db: Database, pageId: string, data: Omit<PageAccess, 'pageId'>): Promise<void> {
  await db.pageAccess.upsert({ where: { pageId }, create: { pageId, ...data }, update: data })
  await announcePage(db, `${pageId}#${data.generation - 1}`)
}

/** Counts the read tokens of a page. */
export function countPageTokens({ db }: Db, pageId: string): Promise<number> {
  return db.pageToken.count({ where: { pageId } })
}

/** Returns the read tokens of a page of an organization, newest first. */
export function listPageTokens({ db }: Db, organizationId: string, pageId: string): Promise<PageToken[]> {
  return db.pageToken.findMany({
    where: { pageId, organizationId },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
  })
}

/** Returns the read tokens that a person created in an organization. */
export function pageTokensOf({ db }: Db, organizationId: string, createdById: string): Promise<PageToken[]> {
  return db.pageToken.findMany({ where: { organizationId, createdById } })
}

/** Inserts a read token, within the transaction of a change. */
export function insertPageToken(
  { db, now }: Pick<Context, 'db' | 'now'>,
  token: Pick<PageToken, 'pageId' | 'organizationId' | 'name' | 'hash' | 'createdById'>,
): Promise<PageToken> {
  return db.pageToken.create({ data: { id: newId('PageToken'), ...token, createdAt: now() } })
}

/** Deletes a read token, within the transaction of a change; its readers lose access. Null: there is none. */
export async function deletePageToken(db: Database, organizationId: string, id: string): Promise<PageToken | null> {
  const token = await db.pageToken.findUnique({ where: { id, organizationId } })
  if (token === null) return null
  await db.pageToken.delete({ where: { id } })
  await announcePage(db, id)
  return token
}
