import { z } from 'zod'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import type { StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import { htmlOf, renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import { userIdOf } from '../../event-log/event.ts'
import type { Incident, Postmortem } from '../../generated/prisma/client.ts'
import type { Language } from '../../language/catalogue.ts'
import { Language as languageNames, languages, wordsOf } from '../../language/catalogue.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { MAX_UPDATES, message, notifySubscribers } from '../timeline/timeline-limits.ts'
import type { InLanguage } from '../timeline/translations.ts'
import { bodiesOf, changedMessages, messageChanges, translations } from '../timeline/translations.ts'
import { findIncident, requireOwnTimeline } from './incident.ts'
import { draftPostmortem } from './postmortem-draft.ts'

/** The input of `savePostmortem`. */
export const postmortemText = named(
  z.object({
    incidentId: idOf('The incident.'),
    message: described(message, { description: 'The text, in markdown.' }),
    translations: translations.messages,
    version: versionInput,
  }),
  { name: 'SavePostmortem', about: 'The post-mortem of an incident.' },
)

/**
 * Writes the post-mortem of an incident. A new one is a draft, which only members can see until it is published; a
 * published one stays published with the new text. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if it is newer than the given version, or the incident was merged.
 */
export async function savePostmortem(ctx: ChangeContext, input: unknown): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, message, version, ...given } = validate(postmortemText, input)
  const html = await renderMessage(ctx, organizationId, message)
  const others = await messageChanges(ctx, organizationId, given.translations)
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(incident)
    const before = await tx.db.postmortem.findUnique({ where: { id: incidentId } })
    if (before) requireVersion(before, version)
    const rendered = { message, ...html, ...changedMessages(before?.translations ?? {}, others) }
    if (before && !hasChanges(before, { message, translations: rendered.translations })) return [before]
    // The reviewer has not seen the new text.
    const data = { ...rendered, editedAt: tx.now(), editedById: userIdOf(tx.actor), ...unreviewed }
    const postmortem = before
      ? await tx.db.postmortem.update({ where: { id: incidentId }, data: { ...data, version: { increment: 1 } } })
      : await tx.db.postmortem.create({ data: { ...data, id: incidentId, organizationId, createdAt: tx.now() } })
    return [postmortem, postmortemEvent(postmortem.publishedAt ? 'POSTMORTEM_UPDATED' : 'POSTMORTEM_DRAFTED', incident)]
  })
}

const unreviewed = { reviewedAt: null, reviewedById: null } as const

/** The input of `publishPostmortem`. */
export const postmortemPublication = named(z.object({ incidentId: idOf('The incident.'), notifySubscribers }), {
  name: 'PublishPostmortem',
  about: 'The post-mortem to publish.',
})

/**
 * Publishes the post-mortem of an incident to everyone who can see the incident. Does nothing to a published one.
 * Requires a key with scope WRITE.
 * @throws NotFound, and Conflict unless the incident is public and resolved, and `REVIEW_REQUIRED` while a requested
 * review is not approved (`postmortem-review.ts`).
 */
export async function publishPostmortem(ctx: ChangeContext, input: unknown): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, notifySubscribers } = validate(postmortemPublication, input)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findPostmortem(tx, organizationId, incidentId)
    if (before.publishedAt !== null) return [before]
    if (!canPublish(incident))
      throw new Conflict('Only the post-mortem of a public, resolved incident can be published.')
    if (awaitsReview(before))
      throw new Conflict('A review was requested. Get it approved, or cancel the review.', 'REVIEW_REQUIRED')
    const data = { publishedAt: tx.now(), version: { increment: 1 } }
    const postmortem = await tx.db.postmortem.update({ where: { id: incidentId }, data })
    return [postmortem, postmortemEvent('POSTMORTEM_PUBLISHED', incident, notifySubscribers)]
  })
}

/**
 * Makes a published post-mortem a draft again. Does nothing to a draft. Requires a key with scope WRITE. @throws
 * NotFound.
 */
export async function unpublishPostmortem(ctx: ChangeContext, incidentId: string): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findPostmortem(tx, organizationId, incidentId)
    if (before.publishedAt === null) return [before]
    const data = { publishedAt: null, version: { increment: 1 } }
    const postmortem = await tx.db.postmortem.update({ where: { id: incidentId }, data })
    return [postmortem, postmortemEvent('POSTMORTEM_WITHDRAWN', incident)]
  })
}

/** Deletes the post-mortem of an incident and returns it. Requires a key with scope WRITE. @throws NotFound. */
export async function deletePostmortem(ctx: ChangeContext, incidentId: string): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...postmortem } = await findPostmortem(tx, organizationId, incidentId)
    await tx.db.postmortem.delete({ where: { id: incidentId } })
    return [
      postmortem,
      postmortemEvent(postmortem.publishedAt ? 'POSTMORTEM_WITHDRAWN' : 'POSTMORTEM_DRAFTED', incident),
    ]
  })
}

/** Returns whether the post-mortem of an incident can be published, once no review is awaited. */
export const canPublish = ({ visibility, status }: Pick<Incident, 'visibility' | 'status'>): boolean =>
  visibility === 'PUBLIC' && status === 'RESOLVED'

/** Returns whether a requested review is not approved yet. */
export const awaitsReview = ({
  reviewRequestedAt,
  reviewedAt,
}: Pick<Postmortem, 'reviewRequestedAt' | 'reviewedAt'>): boolean => reviewRequestedAt !== null && reviewedAt === null

/**
 * Reads the post-mortem of an incident that was not merged, together with the incident. @throws NotFound and Conflict.
 */
export async function findPostmortem(tx: Context, organizationId: string, incidentId: string) {
  const incident = await findIncident(tx, organizationId, incidentId)
  requireOwnTimeline(incident)
  const found = await tx.db.postmortem.findUnique({ where: { id: incidentId } })
  if (found === null) throw new NotFound('Post-mortem not found.')
  return { ...found, incident }
}

/** Reads the post-mortem of an incident, published or not; null if it has none. */
export function readPostmortem({ db }: Pick<Context, 'db'>, { id }: Pick<Incident, 'id'>): Promise<Postmortem | null> {
  return db.postmortem.findUnique({ where: { id } })
}

/** A published post-mortem in one language. */
export interface PublishedPostmortem extends InLanguage {
  readonly html: string
  readonly publishedAt: Date
}

/** Returns a published post-mortem in a language, or in the original if it has no translation. */
export type PostmortemIn = (language: Language) => PublishedPostmortem

/** Reads the published post-mortem of an incident, or null. The caller must be allowed to read the incident. */
export async function readPublished(db: Database, incidentId: string): Promise<PostmortemIn | null> {
  const found = await db.postmortem.findUnique({ where: { id: incidentId, publishedAt: { not: null } } })
  return found && shownIn(found)
}

/**
 * Reads the published post-mortems of incidents by incident id. The caller must be allowed to read the incidents.
 * @param maxBytes the total size of all texts in all languages. Those published last come first; a post-mortem that
 * does not fit is null.
 */
export async function readPublishedOf(
  db: Database,
  incidentIds: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, PostmortemIn | null>> {
  if (incidentIds.length === 0) return new Map()
  const found = await db.$queryRaw<(ShownPostmortem & { readonly id: string })[]>`
    SELECT id, "publishedAt", CASE WHEN room >= 0 THEN message ELSE '' END AS message,
      CASE WHEN room >= 0 THEN html END AS html, CASE WHEN room >= 0 THEN translations END AS translations
    FROM (
      SELECT *, ${maxBytes}::int - sum(octet_length(coalesce(html, message)) + octet_length(translations::text))
        OVER (ORDER BY "publishedAt" DESC, id) AS room
      FROM "Postmortem" WHERE id = ANY (${[...incidentIds]}::text[]) AND "publishedAt" IS NOT NULL
    ) AS published ORDER BY "publishedAt" DESC, id`
  return new Map(found.map((each) => [each.id, each.translations === null ? null : shownIn(each)]))
}

type ShownPostmortem = Pick<Postmortem, 'message' | 'html' | 'publishedAt' | 'translations'>

/** Returns a published post-mortem; null for a draft. */
function shownIn(postmortem: ShownPostmortem): PostmortemIn | null {
  const { publishedAt } = postmortem
  if (publishedAt === null) return null
  // `savePostmortem` wrote these translations.
  const bodies = bodiesOf(postmortem.translations as StoredMessages, 'HTML')
  return (language) => {
    const own = bodies?.[language]
    return own === undefined
      ? { html: htmlOf(postmortem), publishedAt }
      : { html: own, publishedAt, isTranslated: true }
  }
}

/**
 * Drafts a post-mortem from the timeline of an incident, in the organization's language, without saving it. Requires a
 * key with scope WRITE.
 * @throws NotFound.
 */
export async function draftFromTimeline(ctx: Context, incidentId: string): Promise<string> {
  const organizationId = requireScope(ctx, 'WRITE')
  const incident = await findIncident(ctx, organizationId, incidentId)
  const [organization, updates, affected] = await Promise.all([
    readOrganization(ctx, organizationId),
    ctx.db.incidentUpdate.findMany({
      where: { incidentId },
      select: { status: true, createdAt: true, message: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: MAX_UPDATES + 1,
    }),
    ctx.db.incidentService.findMany({
      where: { incidentId },
      select: { service: { select: { name: true } } },
      orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
      take: MAX_SERVICES,
    }),
  ])
  const language = languages.find((each) => each === organization.defaultLanguage) ?? languageNames.EN
  const services = affected.map(({ service }) => service.name)
  return draftPostmortem({ ...incident, services, updates }, wordsOf(language), organization.timeZone)
}

/** Creates an event about the post-mortem of an incident. */
export const postmortemEvent = (
  kind: NewEvent['kind'],
  { id, title }: Incident,
  notifySubscribers = false,
): NewEvent => ({
  kind,
  subjectId: id,
  subjectName: title,
  notifySubscribers,
})
