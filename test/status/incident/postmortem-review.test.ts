import { expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound } from '../../../src/core/errors.ts'
import { readNewestEvents } from '../../../src/event-log/newest-events.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import {
  deletePostmortem,
  publishPostmortem,
  savePostmortem,
  unpublishPostmortem,
} from '../../../src/status/incident/postmortem.ts'
import {
  approvePostmortem,
  cancelPostmortemReview,
  mayApprove,
  readAwaitedReviews,
  readReviewers,
  requestPostmortemReview,
} from '../../../src/status/incident/postmortem-review.ts'
import { pagePosition } from '../../../src/status/page/page-position.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { membersOf, noIds, tenantsOf, together } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const member = membersOf(prisma)

async function resolved(acme: Tenant, title = 'Outage'): Promise<string> {
  const words = { title, status: 'RESOLVED', impact: 'MAJOR', message: 'It was full.' }
  return (await createIncident(acme.ctx, words)).id
}

/** An organization with a resolved incident and three members, one of whom, Ana, has written the post-mortem. */
async function drafted() {
  const acme = await tenant()
  const incidentId = await resolved(acme)
  const [ana, ben, eve] = [await member(acme, 'Ana'), await member(acme, 'Ben'), await member(acme, 'Eve')]
  const { version } = await savePostmortem(ana.ctx, { incidentId, message: 'A disk was full.' })
  return { acme, ana, ben, eve, incidentId, version }
}

const found = (id: string) => prisma.postmortem.findUniqueOrThrow({ where: { id } })
const positionOf = async (acme: Tenant) => pagePosition(await readNewestEvents(prisma, acme.id))

test('a draft under review can be published once another member has approved it', async () => {
  const { acme, ana, ben, incidentId, version } = await drafted()
  const before = await positionOf(acme)
  const asked = await requestPostmortemReview(ana.ctx, incidentId)
  expect(asked).toMatchObject({ reviewRequestedAt: noon, reviewRequestedById: ana.id, reviewedAt: null, version })
  expect(await requestPostmortemReview(ben.ctx, incidentId)).toEqual(asked)
  expect(await readAwaitedReviews(prisma, acme.id, 10)).toEqual([
    { incident: { id: incidentId, title: 'Outage' }, requestedAt: noon },
  ])
  await expect(publishPostmortem(ana.ctx, { incidentId })).rejects.toMatchObject({ code: 'REVIEW_REQUIRED' })
  expect([mayApprove(ana.ctx, asked), mayApprove(ben.ctx, asked), mayApprove(acme.ctx, asked)]).toEqual([
    ...[false, true, false],
  ])
  const approved = await approvePostmortem(ben.ctx, { incidentId, version })
  expect(approved).toMatchObject({ reviewedAt: noon, reviewedById: ben.id, version })
  expect(await readReviewers(prisma, approved)).toEqual(
    new Map([
      [ana.id, 'Ana'],
      [ben.id, 'Ben'],
    ]),
  )
  expect(await approvePostmortem(ben.ctx, { incidentId, version })).toEqual(approved)
  expect(await readAwaitedReviews(prisma, acme.id, 10)).toEqual([])
  // Reviews do not change the page.
  expect(await positionOf(acme)).toEqual(before)
  expect(await publishPostmortem(ana.ctx, { incidentId })).toMatchObject({ publishedAt: noon, reviewedById: ben.id })
  const kinds = (await acme.events()).map(({ kind, notifySubscribers }) => `${kind} ${notifySubscribers}`)
  expect(kinds.slice(-4)).toEqual([
    'POSTMORTEM_DRAFTED false',
    'POSTMORTEM_REVIEW_REQUESTED false',
    'POSTMORTEM_REVIEWED false',
    'POSTMORTEM_PUBLISHED true',
  ])
})

test('an approval is withdrawn when the text changes in any language, and only then', async () => {
  const { ana, ben, eve, incidentId } = await drafted()
  await requestPostmortemReview(ana.ctx, incidentId)
  const approve = async (who = ben) =>
    approvePostmortem(who.ctx, { incidentId, version: (await found(incidentId)).version })
  await approve()
  // Saving the same text changes nothing.
  await savePostmortem(eve.ctx, { incidentId, message: 'A disk was full.' })
  expect((await found(incidentId)).reviewedById).toBe(ben.id)
  await savePostmortem(eve.ctx, { incidentId, message: 'Two disks were full.' })
  expect(await found(incidentId)).toMatchObject({ reviewedAt: null, reviewedById: null, reviewRequestedAt: noon })
  await expect(publishPostmortem(ana.ctx, { incidentId })).rejects.toMatchObject({ code: 'REVIEW_REQUIRED' })
  // Eve is now the author of the text.
  await expect(approve(eve)).rejects.toMatchObject({ code: 'OWN_REVIEW' })
  await approve()
  const translations = [{ language: 'DE', message: 'Zwei waren voll.' }]
  await savePostmortem(eve.ctx, { incidentId, message: 'Two disks were full.', translations })
  expect((await found(incidentId)).reviewedAt).toBeNull()
  await approve()
  await publishPostmortem(ana.ctx, { incidentId })
  // A published text stays published, but needs an approval before it can be published again.
  await savePostmortem(eve.ctx, { incidentId, message: 'Three disks were full.', translations })
  expect(await found(incidentId)).toMatchObject({ publishedAt: noon, reviewedAt: null })
  await unpublishPostmortem(ana.ctx, incidentId)
  await expect(publishPostmortem(ana.ctx, { incidentId })).rejects.toMatchObject({ code: 'REVIEW_REQUIRED' })
})

test('the author, the requester and keys cannot approve, and only the text that was read is approved', async () => {
  const { acme, ana, ben, eve, incidentId, version } = await drafted()
  await expect(approvePostmortem(ben.ctx, { incidentId, version })).rejects.toMatchObject({ code: 'CONFLICT' })
  await requestPostmortemReview(eve.ctx, incidentId)
  for (const { ctx } of [ana, eve])
    await expect(approvePostmortem(ctx, { incidentId, version })).rejects.toMatchObject({ code: 'OWN_REVIEW' })
  await expect(approvePostmortem(acme.ctx, { incidentId, version })).rejects.toThrow(Forbidden)
  await savePostmortem(ana.ctx, { incidentId, message: 'Another text.' })
  await expect(approvePostmortem(ben.ctx, { incidentId, version })).rejects.toThrow(Conflict)
  for (const wrong of [undefined, null, 1.5, '2', Number.NaN])
    await expect(approvePostmortem(ben.ctx, { incidentId, version: wrong })).rejects.toThrow(Invalid)
  const viewer = await member(acme, 'Viewer', 'VIEWER')
  await expect(approvePostmortem(viewer.ctx, { incidentId, version })).rejects.toThrow(Forbidden)
  for (const review of [requestPostmortemReview, cancelPostmortemReview])
    await expect(review(viewer.ctx, incidentId)).rejects.toThrow(Forbidden)
})

test('a cancelled review is no longer needed, and only drafts can be reviewed', async () => {
  const { acme, ana, ben, incidentId, version } = await drafted()
  expect((await cancelPostmortemReview(ana.ctx, incidentId)).reviewRequestedAt).toBeNull()
  await requestPostmortemReview(ana.ctx, incidentId)
  await approvePostmortem(ben.ctx, { incidentId, version })
  const none = { reviewRequestedAt: null, reviewRequestedById: null, reviewedAt: null, reviewedById: null }
  expect(await cancelPostmortemReview(ben.ctx, incidentId)).toMatchObject({ ...none, version })
  await publishPostmortem(acme.ctx, { incidentId })
  await expect(requestPostmortemReview(ana.ctx, incidentId)).rejects.toThrow(Conflict)
  const kinds = (await acme.events()).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'POSTMORTEM_REVIEW_CANCELLED')).toHaveLength(1)
  await deletePostmortem(ana.ctx, incidentId)
  for (const review of [requestPostmortemReview, cancelPostmortemReview])
    await expect(review(ana.ctx, incidentId)).rejects.toThrow(NotFound)
  await expect(approvePostmortem(ben.ctx, { incidentId, version })).rejects.toThrow(NotFound)
})

test('another organization, unknown ids and merged incidents have no review', async () => {
  const { acme, ana, incidentId, version } = await drafted()
  await requestPostmortemReview(ana.ctx, incidentId)
  const stranger = await member(await tenant(), 'Mallory')
  for (const id of [...noIds('inc'), incidentId]) {
    const who = id === incidentId ? stranger : ana
    for (const review of [requestPostmortemReview, cancelPostmortemReview])
      await expect(review(who.ctx, id)).rejects.toThrow(NotFound)
    await expect(approvePostmortem(who.ctx, { incidentId: id, version })).rejects.toThrow(NotFound)
  }
  const into = await resolved(acme, 'The other')
  await mergeIncidents(acme.later(60_000), { id: incidentId, intoId: into })
  await expect(requestPostmortemReview(ana.ctx, incidentId)).rejects.toThrow(Conflict)
  // The text moves with its review.
  expect(await readAwaitedReviews(prisma, acme.id, 10)).toMatchObject([{ incident: { id: into } }])
})

test('no text is approved or published that was changed in the meantime', async () => {
  const { ana, ben, eve, incidentId, version } = await drafted()
  await requestPostmortemReview(ana.ctx, incidentId)
  await together<unknown>([
    approvePostmortem(ben.ctx, { incidentId, version }),
    savePostmortem(eve.ctx, { incidentId, message: 'Changed.' }),
    publishPostmortem(ana.ctx, { incidentId }),
  ])
  const after = await found(incidentId)
  expect(after.message).toBe('Changed.')
  expect(after.reviewedAt).toBeNull()
})
