import type { Database } from '../../core/context.ts'
import { events } from '../../event-log/views.ts'
import type { IncidentWithTimeline } from '../../status/timeline/timeline-reader.ts'
import { postmortems } from '../../status/views.ts'

/**
 * The maximum size of all post-mortems in a document, in UTF-8 bytes: a document of fifty incidents must stay small.
 */
const MAX_BYTES = 200_000

/** The fields of an incident whose post-mortem is published. */
export interface PostmortemFields {
  /** Markdown; null: the document has no room for it. */
  readonly postmortem_body: string | null
  readonly postmortem_body_last_updated_at: string
  readonly postmortem_ignored: false
  readonly postmortem_notified_subscribers: boolean
  readonly postmortem_published_at: string
}

/** Reads the published post-mortems of resolved incidents, by incident id; the newest get the available space first. */
export async function readPostmortems(
  db: Database,
  organizationId: string,
  incidents: readonly Pick<IncidentWithTimeline, 'id' | 'resolvedAt'>[],
): Promise<Map<string, PostmortemFields>> {
  const ids = incidents.flatMap(({ id, resolvedAt }) => (resolvedAt === null ? [] : [id]))
  if (ids.length === 0) return new Map()
  const rows = await db.$queryRaw<
    { id: string; message: string; publishedAt: Date; editedAt: Date; notifies: boolean | null }[]
  >`
    SELECT id, message, "publishedAt", "editedAt", publication."tellSubscribers" AS "notifies"
    FROM ${postmortems} AS postmortem LEFT JOIN LATERAL (
      SELECT "tellSubscribers" FROM ${events} AS events
      WHERE "organizationId" = ${organizationId} AND "subjectId" = postmortem.id AND kind = 'POSTMORTEM_PUBLISHED'
      ORDER BY seq DESC LIMIT 1
    ) AS publication ON true
    WHERE id = ANY (${ids}::text[]) AND "publishedAt" IS NOT NULL ORDER BY "publishedAt" DESC, id`
  let room = MAX_BYTES
  return new Map(
    rows.map(({ id, message, publishedAt, editedAt, notifies }) => {
      room -= Buffer.byteLength(message)
      const fields = {
        postmortem_body: room < 0 ? null : message,
        postmortem_body_last_updated_at: editedAt.toISOString(),
        postmortem_ignored: false,
        postmortem_notified_subscribers: notifies ?? false,
        postmortem_published_at: publishedAt.toISOString(),
      } as const
      return [id, fields]
    }),
  )
}
