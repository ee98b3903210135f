import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { hasChanges } from '../core/optimistic-lock.ts'
import { validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { Page } from './page.ts'
import { readPage } from './page.ts'

/** The sites that may embed a page's status line, at most. */
export const MAX_EMBED_ORIGINS = 20

const MAX_ORIGIN_LENGTH = 300

/**
 * Returns the origin of a site in the form of a policy's `frame-ancestors`; null: the text is none. A host may have `;`, `,` and `*` in an
 * address, which would mean something else there, and IPv6 addresses have no form there.
 */
export function originOf(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_ORIGIN_LENGTH || !/^https?:\/\/[^/?#\\\s@]+\/?$/i.test(trimmed) || !URL.canParse(trimmed))
    return null
  const { protocol, hostname, origin } = new URL(trimmed)
  const isHost = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(hostname)
  return isHost && /^https?:$/.test(protocol) ? origin : null
}

const embedOrigin = z.string().transform((text, issues) => {
  const origin = originOf(text)
  if (origin !== null) return origin
  issues.addIssue({ code: 'custom', message: 'must be an origin such as https://www.example.com, without a path' })
  return z.NEVER
})

const embedding = z.object({
  pageId: z.string(),
  origins: z
    .array(embedOrigin)
    .max(MAX_EMBED_ORIGINS, `must be at most ${MAX_EMBED_ORIGINS}`)
    .transform((origins) => [...new Set(origins)]),
})

/**
 * Sets which sites may embed the status line of a page. Requires a key with scope ADMIN.
 * @param input `pageId`, or the id of the organization for its first page; and `origins`, which replace the list.
 * @throws Invalid for what is no origin, NotFound for an unknown page.
 */
export async function updatePageEmbedding(ctx: Context, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { pageId, origins } = validate(embedding, input)
  return change(ctx, organizationId, async ({ db }) => {
    const own = pageId === organizationId ? { isFirst: true } : { id: pageId }
    const row = await db.page.findFirst({ where: { ...own, organizationId }, select: { id: true, embedOrigins: true } })
    if (row === null) throw new NotFound('Page not found.')
    const isChanged = hasChanges(row, { embedOrigins: origins })
    if (isChanged) await db.page.update({ where: { id: row.id }, data: { embedOrigins: origins } })
    const page = await readPage(db, 'id', row.id)
    if (page === null) throw new NotFound('Page not found.')
    const subjectId = page.isFirst ? organizationId : page.id
    return isChanged ? [page, { kind: 'PAGE_UPDATED', subjectId, subjectName: page.name }] : [page]
  })
}
