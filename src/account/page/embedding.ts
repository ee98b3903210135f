import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { parseUrl } from '../../core/url.ts'
import { cappedText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Page } from './page.ts'
import { countEdit, findPage, pageUpdated } from './page.ts'

/** The maximum number of sites that may embed a page's status line. */
export const MAX_EMBED_ORIGINS = 20

const MAX_ORIGIN_LENGTH = 300

/**
 * Returns the origin of a site as written in the policy's `frame-ancestors`; null: the text is not an origin. Hosts with `;`, `,`
 * or `*` are refused, because these characters have another meaning there. IPv6 addresses are refused, because the policy cannot
 * express them.
 */
export function originOf(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_ORIGIN_LENGTH || !/^https?:\/\/[^/?#\\\s@]+\/?$/i.test(trimmed)) return null
  const url = parseUrl(trimmed)
  if (url === null) return null
  const { protocol, hostname, origin } = url
  const isHost = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(hostname)
  return isHost && /^https?:$/.test(protocol) ? origin : null
}

const embedOrigin = cappedText(2000).transform((text, issues) => {
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
  version: versionInput,
})

/**
 * Sets which sites may embed the status line of a page. Requires a key with scope ADMIN.
 * @param input `pageId`, or the id of the organization for its first page; and `origins`, which replace the list.
 * @throws Invalid for a text that is not an origin, NotFound for an unknown page, Conflict when the page has changed since the
 * given version.
 */
export async function updatePageEmbedding(ctx: ChangeContext, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { pageId, origins, version } = validate(embedding, input)
  return change(ctx, organizationId, async ({ db }) => {
    const page = await findPage(db, organizationId, pageId)
    requireVersion(page, version)
    if (!hasChanges(page, { embedOrigins: origins })) return [page]
    await db.page.update({ where: { id: page.id }, data: { embedOrigins: origins } })
    await countEdit(db, page)
    return [await findPage(db, organizationId, page.id), pageUpdated(page)]
  })
}
