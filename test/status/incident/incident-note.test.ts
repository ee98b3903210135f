import { expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound } from '../../../src/core/errors.ts'
import { newId } from '../../../src/core/id.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { readNewestEvents } from '../../../src/event-log/newest-events.ts'
import { removeMember } from '../../../src/people/membership.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { readLeads, setIncidentLead } from '../../../src/status/incident/incident-lead.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import {
  createIncidentNote,
  deleteIncidentNote,
  MAX_NOTES,
  readNotes,
  updateIncidentNote,
} from '../../../src/status/incident/incident-note.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { pagePosition } from '../../../src/status/page/page-position.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { membersOf, noIds, tenantsOf, together } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const member = membersOf(prisma)

const report = (acme: Tenant, title = 'Outage') =>
  createIncident(acme.ctx, { title, status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' })

const positionOf = async (acme: Tenant) => pagePosition(await readNewestEvents(prisma, acme.id))

test('only its author and admins can change a note, and it changes neither the page nor the incident', async () => {
  const acme = await tenant()
  const incident = await report(acme)
  const before = await positionOf(acme)
  const [ana, ben] = [await member(acme, 'Ana'), await member(acme, 'Ben')]
  const note = await createIncidentNote(ana.ctx, { incidentId: incident.id, message: 'Disk **3**?' })
  expect(note).toMatchObject({ actorKind: 'USER', actorUserId: ana.id, html: expect.stringContaining('<strong>') })
  await expect(updateIncidentNote(ben.ctx, { id: note.id, message: 'No.' })).rejects.toThrow(Forbidden)
  await expect(deleteIncidentNote(ben.ctx, note.id)).rejects.toThrow(Forbidden)
  expect((await updateIncidentNote(ana.ctx, { id: note.id, message: 'Disk 4.', version: 1 })).version).toBe(2)
  await expect(updateIncidentNote(ana.ctx, { id: note.id, message: 'Disk 5.', version: 1 })).rejects.toThrow(Conflict)
  expect(await readNotes(prisma, [incident.id])).toMatchObject([{ message: 'Disk 4.', author: { name: 'Ana' } }])
  await deleteIncidentNote(acme.ctx, note.id)
  expect(await readNotes(prisma, [incident.id])).toEqual([])
  expect(await positionOf(acme)).toEqual(before)
  expect(await prisma.incident.findUnique({ where: { id: incident.id } })).toEqual(incident)
  expect((await acme.events()).map(({ kind, notifySubscribers }) => `${kind} ${notifySubscribers}`)).toEqual([
    'INCIDENT_CREATED true',
    'INCIDENT_NOTE_ADDED false',
    'INCIDENT_NOTE_EDITED false',
    'INCIDENT_NOTE_DELETED false',
  ])
})

test('notes on other organizations’ or unknown incidents, empty notes and notes beyond the limit are refused, even concurrently', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  const incident = await report(acme)
  const note = await createIncidentNote(acme.ctx, { incidentId: incident.id, message: 'Ours.' })
  await expect(createIncidentNote(other.ctx, { incidentId: incident.id, message: 'x' })).rejects.toThrow(NotFound)
  await expect(createIncidentNote(acme.as('READ'), { incidentId: incident.id, message: 'x' })).rejects.toThrow(
    Forbidden,
  )
  for (const message of ['', ' ', 'x'.repeat(10_001)])
    await expect(createIncidentNote(acme.ctx, { incidentId: incident.id, message })).rejects.toThrow(Invalid)
  for (const id of [...noIds('nte'), incident.id]) {
    await expect(updateIncidentNote(acme.ctx, { id, message: 'x' })).rejects.toThrow(NotFound)
    await expect(deleteIncidentNote(acme.ctx, id)).rejects.toThrow(NotFound)
  }
  await expect(updateIncidentNote(other.ctx, { id: note.id, message: 'x' })).rejects.toThrow(NotFound)
  const row = { organizationId: acme.id, incidentId: incident.id, message: 'x', actorKind: 'SYSTEM' } as const
  await prisma.incidentNote.createMany({
    data: Array.from({ length: MAX_NOTES - 2 }, () => ({ ...row, id: newId('IncidentNote'), createdAt: noon })),
  })
  const attempts = Array.from({ length: 4 }, (_, nth) =>
    createIncidentNote(acme.ctx, { incidentId: incident.id, message: `${nth}` }),
  )
  const { done, refused } = await together(attempts)
  expect([done.length, refused.length]).toEqual([1, 3])
  for (const error of refused) expect(error).toMatchObject({ code: 'TIMELINE_FULL' })
})

test('a merge moves notes, and the lead unless the other incident has one; a deletion deletes them', async () => {
  const acme = await tenant('TEAM')
  const [one, two, three] = [await report(acme, 'One'), await report(acme, 'Two'), await report(acme, 'Three')]
  const [ana, ben] = [await member(acme, 'Ana'), await member(acme, 'Ben')]
  await createIncidentNote(acme.ctx, { incidentId: one.id, message: 'Of one.' })
  await setIncidentLead(acme.ctx, { incidentId: one.id, userId: ana.id })
  await mergeIncidents(acme.later(MINUTE), { id: one.id, intoId: two.id })
  await setIncidentLead(acme.ctx, { incidentId: three.id, userId: ben.id })
  await mergeIncidents(acme.later(2 * MINUTE), { id: three.id, intoId: two.id })
  expect(await readNotes(prisma, [two.id])).toMatchObject([{ message: 'Of one.' }])
  expect(await readLeads(prisma, [one.id, two.id, three.id])).toMatchObject([
    { incidentId: two.id, name: 'Ana' },
    { incidentId: three.id, name: 'Ben' },
  ])
  await expect(createIncidentNote(acme.ctx, { incidentId: one.id, message: 'x' })).rejects.toThrow(Conflict)
  await expect(setIncidentLead(acme.ctx, { incidentId: one.id, userId: ben.id })).rejects.toThrow(Conflict)
  await deleteIncident(acme.ctx, two.id)
  expect(await prisma.incidentNote.count({ where: { organizationId: acme.id } })).toBe(0)
  expect(await prisma.incidentLead.count({ where: { organizationId: acme.id } })).toBe(0)
})

test('a lead is a member, is logged, and stops being a lead after leaving', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  const incident = await report(acme)
  const [ana, ben] = [await member(acme, 'Ana'), await member(acme, 'Ben', 'OWNER')]
  const stranger = await member(other, 'Eve')
  const lead = (userId: string | null) => setIncidentLead(acme.ctx, { incidentId: incident.id, userId })
  const before = await positionOf(acme)
  for (const id of [...noIds('usr'), stranger.id]) await expect(lead(id)).rejects.toThrow(NotFound)
  await expect(setIncidentLead(other.ctx, { incidentId: incident.id, userId: stranger.id })).rejects.toThrow(NotFound)
  await lead(ana.id)
  await lead(ana.id)
  await lead(ben.id)
  expect(await readLeads(prisma, [incident.id])).toMatchObject([{ userId: ben.id, name: 'Ben', since: noon }])
  await lead(null)
  expect(await readLeads(prisma, [incident.id])).toEqual([])
  expect(await positionOf(acme)).toEqual(before)
  expect((await acme.events()).filter(({ kind }) => kind === 'INCIDENT_LEAD_CHANGED')).toHaveLength(3)
  // A member who leaves while becoming a lead is not a lead afterwards, whichever comes first.
  await together<unknown>([lead(ana.id), removeMember(ben.ctx, ana.id)])
  expect(await readLeads(prisma, [incident.id])).toEqual([])
  expect(await prisma.incident.findUnique({ where: { id: incident.id } })).toEqual(incident)
})
