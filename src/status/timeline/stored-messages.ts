import type { Context } from '../../core/context.ts'
import type { StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import { HTML_VERSION, renderMessage, renderOthers } from '../../core/markdown/markdown-rendering.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** The tables with messages. */
type MessageTable = 'incidentUpdate' | 'maintenanceUpdate' | 'postmortem' | 'incidentNote'

/** Selects messages to render. */
export const UNRENDERED = Prisma.sql`
  SELECT FROM "IncidentUpdate" WHERE "htmlVersion" < ${HTML_VERSION}
  UNION ALL SELECT FROM "MaintenanceUpdate" WHERE "htmlVersion" < ${HTML_VERSION}
  UNION ALL SELECT FROM "Postmortem" WHERE "htmlVersion" < ${HTML_VERSION}
  UNION ALL SELECT FROM "IncidentNote" WHERE "htmlVersion" < ${HTML_VERSION}`

/** Messages per batch. */
const BATCH_SIZE = 20

/**
 * Renders a batch of stored messages without HTML or with that of an older version. Returns whether there may be
 * more.
 */
export async function renderStored(ctx: Context): Promise<boolean> {
  const incidents = await renderBatch(ctx, 'incidentUpdate')
  const maintenances = await renderBatch(ctx, 'maintenanceUpdate')
  const postmortems = await renderBatch(ctx, 'postmortem')
  const notes = await renderBatch(ctx, 'incidentNote')
  return incidents || maintenances || postmortems || notes
}

async function renderBatch(ctx: Context, table: MessageTable): Promise<boolean> {
  // All tables have the selected columns; notes have no other languages.
  const hasOthers = table !== 'incidentNote'
  const messages = ctx.db[table] as Context['db']['maintenanceUpdate']
  const found = await messages.findMany({
    where: { htmlVersion: { lt: HTML_VERSION } },
    select: { id: true, organizationId: true, message: true, version: true, ...(hasOthers && { translations: true }) },
    take: BATCH_SIZE,
  })
  for (const { id, organizationId, message, translations, version } of found) {
    const rendered = await renderMessage(ctx, organizationId, message)
    const others = await renderOthers(ctx, organizationId, (translations ?? {}) as StoredMessages)
    if (rendered.html === null || others === null) return false
    // Skips a message that was edited in the meantime.
    await messages.updateMany({
      where: { id, version },
      data: { ...rendered, ...(hasOthers && { translations: others }) },
    })
  }
  return found.length === BATCH_SIZE
}
