import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { Conflict, Forbidden } from '../../core/errors.ts'
import { requireVersion, versionWords } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import { userIdOf } from '../../event-log/event.ts'
import type { Incident, Postmortem } from '../../generated/prisma/client.ts'
import { namesOfPeople } from '../../people/user.ts'
import { awaitsReview, findPostmortem, postmortemEvent } from './postmortem.ts'

/**
 * Requests a review of a draft post-mortem, which can then be published only after another member has approved its
 * text, or after the review is cancelled. Does nothing if a review is already requested. Requires a key with scope
 * WRITE.
 * @throws NotFound, and Conflict if it is published, or the incident was merged.
 */
export async function requestPostmortemReview(ctx: ChangeContext, incidentId: string): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findPostmortem(tx, organizationId, incidentId)
    if (before.reviewRequestedAt !== null) return [before]
    if (before.publishedAt !== null) throw new Conflict('This post-mortem is published. Make it a draft first.')
    const data = { reviewRequestedAt: tx.now(), reviewRequestedById: userIdOf(tx.actor) }
    const postmortem = await tx.db.postmortem.update({ where: { id: incidentId }, data })
    return [postmortem, postmortemEvent('POSTMORTEM_REVIEW_REQUESTED', incident)]
  })
}

/** The input of `approvePostmortem`. */
export const approval = named(
  z.object({ incidentId: idOf('The incident.'), version: described(z.int(), versionWords) }),
  {
    name: 'ApprovePostmortem',
    about: 'The text to approve.',
  },
)

/**
 * Approves the text of a post-mortem under review. The caller must be a person who neither changed the text last nor
 * requested the review. A change of the text withdraws the approval. Does nothing to an approved text. Requires the
 * role EDITOR.
 * @throws Invalid, NotFound, Conflict if the text is newer than the given version, no review is requested, or
 * (`OWN_REVIEW`) the caller cannot review it, and Forbidden with a key.
 */
export async function approvePostmortem(ctx: ChangeContext, input: unknown): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, version } = validate(approval, input)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findPostmortem(tx, organizationId, incidentId)
    const reviewedById = userIdOf(tx.actor)
    if (reviewedById === null) throw new Forbidden('FORBIDDEN', 'Only a signed-in member can approve a post-mortem.')
    requireVersion(before, version)
    if (before.reviewRequestedAt === null) throw new Conflict('No review of this post-mortem has been requested.')
    if (before.reviewedAt !== null) return [before]
    if (!isOther(reviewedById, before))
      throw new Conflict(
        'A member other than its author and the person who requested the review must approve it.',
        'OWN_REVIEW',
      )
    const data = { reviewedAt: tx.now(), reviewedById }
    const postmortem = await tx.db.postmortem.update({ where: { id: incidentId }, data })
    return [postmortem, postmortemEvent('POSTMORTEM_REVIEWED', incident)]
  })
}

const isOther = (userId: string, { editedById, reviewRequestedById }: Postmortem) =>
  userId !== editedById && userId !== reviewRequestedById

/** Returns whether a review is requested that the caller can approve. */
export function mayApprove({ actor }: Pick<Context, 'actor'>, postmortem: Postmortem): boolean {
  const userId = userIdOf(actor)
  return awaitsReview(postmortem) && userId !== null && isOther(userId, postmortem)
}

/**
 * Cancels the review of a post-mortem, including an approval; publishing then needs no approval. Does nothing if no
 * review is requested. Requires a key with scope WRITE; the log records the caller.
 * @throws NotFound, and Conflict if the incident was merged.
 */
export async function cancelPostmortemReview(ctx: ChangeContext, incidentId: string): Promise<Postmortem> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findPostmortem(tx, organizationId, incidentId)
    if (before.reviewRequestedAt === null) return [before]
    const data = { reviewRequestedAt: null, reviewRequestedById: null, reviewedAt: null, reviewedById: null }
    const postmortem = await tx.db.postmortem.update({ where: { id: incidentId }, data })
    return [postmortem, postmortemEvent('POSTMORTEM_REVIEW_CANCELLED', incident)]
  })
}

/** A post-mortem that awaits a review. */
export interface AwaitedReview {
  readonly incident: Pick<Incident, 'id' | 'title'>
  readonly requestedAt: Date
}

/**
 * Reads the post-mortems that await a review, the longest waiting first. The caller must belong to the organization.
 * @param limit the maximum number to return.
 */
export async function readAwaitedReviews(
  db: Database,
  organizationId: string,
  limit: number,
): Promise<readonly AwaitedReview[]> {
  const found = await db.postmortem.findMany({
    where: { organizationId, reviewRequestedAt: { not: null }, reviewedAt: null },
    select: { reviewRequestedAt: true, incident: { select: { id: true, title: true } } },
    orderBy: [{ reviewRequestedAt: 'asc' }, { id: 'asc' }],
    take: limit,
  })
  return found.flatMap(({ reviewRequestedAt, incident }) =>
    reviewRequestedAt === null ? [] : [{ incident, requestedAt: reviewRequestedAt }],
  )
}

/** The names of people who requested and approved a review, by their ids. */
export type ReviewerNames = ReadonlyMap<string, string>

/** Reads the names of the people who requested and approved the review of a post-mortem; null where there is none. */
export async function readReviewers(
  db: Database,
  postmortem: Pick<Postmortem, 'reviewRequestedById' | 'reviewedById'> | null,
): Promise<ReviewerNames> {
  const ids = [postmortem?.reviewRequestedById ?? null, postmortem?.reviewedById ?? null].flatMap((id) =>
    id === null ? [] : [id],
  )
  if (ids.length === 0) return new Map()
  return namesOfPeople(db, ids)
}
