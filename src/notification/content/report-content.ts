import type { Context } from '../../core/context.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { ReportContent } from './payload.ts'

/** Stores the content of the email about a monthly report, unless it is stored already. */
export async function storeReportContent(
  { db, now }: Pick<Context, 'db' | 'now'>,
  pageId: string,
  month: string,
  content: ReportContent,
): Promise<void> {
  const data = { pageId, month, content: content satisfies Prisma.InputJsonObject, createdAt: now() }
  await db.pageReport.createMany({ data, skipDuplicates: true })
}
