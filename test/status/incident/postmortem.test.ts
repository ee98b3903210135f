import { expect, test } from 'vitest'
import { Conflict, Invalid, NotFound } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { buildNotification } from '../../../src/notification/content/payload.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import {
  canPublish,
  deletePostmortem,
  draftFromTimeline,
  publishPostmortem,
  readPublished,
  savePostmortem,
  unpublishPostmortem,
} from '../../../src/status/incident/postmortem.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

async function report(acme: Tenant, status = 'RESOLVED', title = 'Outage') {
  const [api = ''] = await acme.services('API')
  const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
  const incident = await createIncident(acme.ctx, {
    ...{ title, status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.', services },
  })
  if (status !== 'INVESTIGATING')
    await postIncidentUpdate(acme.later(10 * MINUTE), { incidentId: incident.id, status, message: 'Fixed.' })
  return incident.id
}

const eventsOf = (acme: Tenant) =>
  prisma.event.findMany({
    where: {
      organizationId: acme.id,
      kind: { in: ['POSTMORTEM_DRAFTED', 'POSTMORTEM_PUBLISHED', 'POSTMORTEM_UPDATED', 'POSTMORTEM_WITHDRAWN'] },
    },
    orderBy: { seq: 'asc' },
  })

test('a post-mortem is a draft until it is published, in its languages, and can be withdrawn and deleted', async () => {
  const acme = await tenant()
  const id = await report(acme)
  expect(await draftFromTimeline(acme.ctx, id)).toContain('We look.')
  const translations = [{ language: 'DE', message: 'Voll.' }]
  const draft = await savePostmortem(acme.ctx, { incidentId: id, message: 'A **disk** was full.', translations })
  expect(draft).toMatchObject({ id, publishedAt: null, version: 1 })
  expect(await readPublished(prisma, id)).toBeNull()
  expect(await savePostmortem(acme.ctx, { incidentId: id, message: draft.message, translations })).toEqual(draft)
  const published = await publishPostmortem(acme.later(MINUTE), { incidentId: id })
  expect(published.publishedAt).toEqual(new Date(noon.getTime() + MINUTE))
  expect(await publishPostmortem(acme.later(2 * MINUTE), { incidentId: id })).toEqual(published)
  const shown = await readPublished(prisma, id)
  expect(shown?.('EN').html).toContain('<strong>disk</strong>')
  expect(shown?.('DE')).toMatchObject({ html: expect.stringContaining('Voll.'), isTranslated: true })
  await savePostmortem(acme.ctx, { incidentId: id, message: 'Two disks.', version: 2 })
  expect((await readPublished(prisma, id))?.('EN').html).toContain('Two disks.')
  await expect(savePostmortem(acme.ctx, { incidentId: id, message: 'Three.', version: 2 })).rejects.toThrow(Conflict)
  await unpublishPostmortem(acme.ctx, id)
  expect(await readPublished(prisma, id)).toBeNull()
  await deletePostmortem(acme.ctx, id)
  await expect(deletePostmortem(acme.ctx, id)).rejects.toThrow(NotFound)
  const events = await eventsOf(acme)
  expect(events.map(({ kind, notifySubscribers }) => `${kind} ${notifySubscribers}`)).toEqual([
    'POSTMORTEM_DRAFTED false',
    'POSTMORTEM_PUBLISHED true',
    'POSTMORTEM_UPDATED false',
    'POSTMORTEM_WITHDRAWN false',
    'POSTMORTEM_DRAFTED false',
  ])
})

test.each([
  ['PUBLIC', 'RESOLVED', true],
  ['PUBLIC', 'MONITORING', false],
  ['DRAFT', 'RESOLVED', false],
  ['SUGGESTED', 'RESOLVED', false],
  ['MERGED', 'RESOLVED', false],
] as const)('the post-mortem of a %s incident that is %s: can be published %s', (visibility, status, expected) => {
  expect(canPublish({ visibility, status })).toBe(expected)
})

test('subscribers are notified of a published post-mortem, unless it was made a draft again', async () => {
  const acme = await tenant()
  const id = await report(acme)
  await savePostmortem(acme.ctx, { incidentId: id, message: 'A disk was full.' })
  await publishPostmortem(acme.ctx, { incidentId: id, notifySubscribers: false })
  const [, silent] = await eventsOf(acme)
  expect(silent).toMatchObject({ kind: 'POSTMORTEM_PUBLISHED', notifySubscribers: false })
  const build = async () => (silent ? await buildNotification(prisma, silent) : undefined)
  expect(await build()).toMatchObject({
    topic: 'INCIDENTS',
    payload: { step: 'POSTMORTEM', id, status: 'RESOLVED', title: 'Outage', message: 'A disk was full.' },
  })
  await unpublishPostmortem(acme.ctx, id)
  expect(await build()).toBeNull()
})

test('only the post-mortem of a public, resolved incident of the organization is published', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  const id = await report(acme, 'INVESTIGATING')
  await expect(publishPostmortem(acme.ctx, { incidentId: id })).rejects.toThrow(NotFound)
  await savePostmortem(acme.ctx, { incidentId: id, message: 'A disk.' })
  await expect(publishPostmortem(acme.ctx, { incidentId: id })).rejects.toThrow(Conflict)
  await expect(savePostmortem(acme.ctx, { incidentId: id, message: 'x'.repeat(10_001) })).rejects.toThrow(Invalid)
  await expect(savePostmortem(other.ctx, { incidentId: id, message: 'Ours.' })).rejects.toThrow(NotFound)
  for (const change of [unpublishPostmortem, deletePostmortem, draftFromTimeline])
    await expect(change(other.ctx, id)).rejects.toThrow(NotFound)
  await deleteIncident(acme.ctx, id)
  expect(await prisma.postmortem.count({ where: { organizationId: acme.id } })).toBe(0)
})

test('a merge moves the post-mortem, unless the other incident has its own', async () => {
  const acme = await tenant('TEAM')
  const ids = [await report(acme), await report(acme), await report(acme)] as const
  await savePostmortem(acme.ctx, { incidentId: ids[0], message: 'First.' })
  await savePostmortem(acme.ctx, { incidentId: ids[2], message: 'Third.' })
  const later = acme.later(60 * MINUTE)
  await mergeIncidents(later, { id: ids[0], intoId: ids[1] })
  await mergeIncidents(later, { id: ids[2], intoId: ids[1] })
  expect(
    await prisma.postmortem.findMany({ where: { organizationId: acme.id }, orderBy: { message: 'asc' } }),
  ).toMatchObject([
    { id: ids[1], message: 'First.' },
    { id: ids[2], message: 'Third.' },
  ])
  await expect(savePostmortem(later, { incidentId: ids[2], message: 'More.' })).rejects.toThrow(Conflict)
})
