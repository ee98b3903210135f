import { expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound, TierLimitReached } from '../../../src/core/errors.ts'
import { newId } from '../../../src/core/id.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { readNewestEvents } from '../../../src/event-log/newest-events.ts'
import { MAX_FILES, readFileContent, readFiles, readPublicFile } from '../../../src/status/incident/file-store.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { deleteIncidentFile, uploadIncidentFiles } from '../../../src/status/incident/incident-file.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import { createIncidentNote, deleteIncidentNote } from '../../../src/status/incident/incident-note.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { deleteIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { pagePosition } from '../../../src/status/page/page-position.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { png, textFile } from '../../support/pictures.ts'
import type { Tenant } from '../setup.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const report = (acme: Tenant, more: object = {}) =>
  createIncident(acme.ctx, { title: 'Outage', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.', ...more })
const log = { name: 'disk.log', content: textFile('Full.') }
const picture = { name: 'graph.png', content: png(8, 8), alt: 'Errors rise at noon.' }
const updateOf = ({ id: incidentId }: { readonly id: string }) => ({
  ...{ incidentId, status: 'IDENTIFIED', message: 'It is the disk.' },
})
const scopeOf = ({ id: organizationId }: Tenant, serviceIds: readonly string[] | null = null) => ({
  organizationId,
  serviceIds,
})
const namesOf = async (incidentId: string) => (await readFiles(prisma, [incidentId])).map(({ name }) => name).sort()

test('an update is posted with its files, which a page then shows', async () => {
  const acme = await tenant()
  const [search = '', pay = ''] = await acme.services('Search', 'Pay')
  const incident = await report(acme, { services: [{ serviceId: search, status: 'MAJOR_OUTAGE' }] })
  const update = await postIncidentUpdate(acme.ctx, updateOf(incident), [picture, log])
  const files = await readFiles(prisma, [incident.id])
  expect(files).toMatchObject([
    { name: 'graph.png', type: 'image/png', size: 33, alt: picture.alt, width: 8, height: 8, updateId: update.id },
    { name: 'disk.log', type: 'text/plain; charset=utf-8', size: 5, alt: '', width: null, updateId: update.id },
  ])
  expect(await acme.news()).toEqual(expect.arrayContaining(['INCIDENT_UPDATE_POSTED Outage']))
  const [{ id } = { id: '' }] = files
  for (const services of [null, [search]]) {
    const file = await readPublicFile(prisma, scopeOf(acme, services), id, null)
    expect(new Uint8Array(file.content)).toEqual(picture.content)
    // A file with a known id is not read again.
    expect(await readPublicFile(prisma, scopeOf(acme, services), id, file)).toBe(file)
  }
  const other = await tenant()
  for (const scope of [scopeOf(acme, [pay]), scopeOf(acme, []), scopeOf(other)])
    await expect(readPublicFile(prisma, scope, id, null)).rejects.toThrow(NotFound)
  await expect(readFileContent(prisma, other.id, id)).rejects.toThrow(NotFound)
  // No update is stored if a file is refused.
  const unnamed = { ...picture, alt: '' }
  await expect(postIncidentUpdate(acme.ctx, updateOf(incident), [log, unnamed])).rejects.toThrow(Invalid)
  expect(await prisma.incidentUpdate.count({ where: { incidentId: incident.id } })).toBe(2)
})

test('pages show no file of a deleted update or incident, or of a draft', async () => {
  const acme = await tenant()
  const draft = await report(acme, { visibility: 'DRAFT' })
  const update = await postIncidentUpdate(acme.ctx, updateOf(draft), [log])
  const [file] = await readFiles(prisma, [draft.id])
  const known = await readFileContent(prisma, acme.id, file?.id ?? '')
  const shown = () => readPublicFile(prisma, scopeOf(acme), known.id, known)
  await expect(shown()).rejects.toThrow(NotFound)
  await publishIncident(acme.ctx, { id: draft.id })
  expect(await shown()).toBe(known)
  await deleteIncidentUpdate(acme.ctx, update.id)
  await expect(shown()).rejects.toThrow(NotFound)
  await uploadIncidentFiles(acme.ctx, { incidentId: draft.id }, [log])
  await deleteIncident(acme.ctx, draft.id)
  expect(await prisma.incidentFile.count({ where: { organizationId: acme.id } })).toBe(0)
})

test('the files of a note are private, and only its author and admins can change them', async () => {
  const acme = await tenant()
  const incident = await report(acme)
  const before = pagePosition(await readNewestEvents(prisma, acme.id))
  const note = await createIncidentNote(acme.ctx, { incidentId: incident.id, message: 'See the log.' }, [log])
  await uploadIncidentFiles(acme.ctx, { incidentId: incident.id, noteId: note.id }, [picture])
  const files = await readFiles(prisma, [incident.id])
  for (const { id } of files) await expect(readPublicFile(prisma, scopeOf(acme), id, null)).rejects.toThrow(NotFound)
  const writer = acme.as('WRITE')
  const stranger = { ...writer, actor: { ...writer.actor, keyId: newId('ApiKey') } as typeof writer.actor }
  const strange = files.find(({ name }) => name === log.name)?.id ?? ''
  // The stranger's key is not in the database, so the call fails only when it reads the note.
  await expect(deleteIncidentFile(stranger, strange)).rejects.toThrow(Forbidden)
  await expect(uploadIncidentFiles(stranger, { incidentId: incident.id, noteId: note.id }, [log])).rejects.toThrow(
    Forbidden,
  )
  await deleteIncidentFile(acme.ctx, strange)
  expect(await namesOf(incident.id)).toEqual(['graph.png'])
  await deleteIncidentNote(acme.ctx, note.id)
  expect(await namesOf(incident.id)).toEqual([])
  expect(await acme.news()).toEqual([
    'INCIDENT_CREATED Outage',
    'INCIDENT_NOTE_ADDED Outage',
    'INCIDENT_FILE_ADDED Outage',
    'INCIDENT_FILE_DELETED Outage',
    'INCIDENT_NOTE_DELETED Outage',
  ])
  // The page does not change.
  expect(pagePosition(await readNewestEvents(prisma, acme.id))).toEqual(before)
})

test('unassigned files can be taken over once, by an update or a note', async () => {
  const acme = await tenant()
  const [incident, other] = [await report(acme), await report(acme)]
  const [first, second] = await uploadIncidentFiles(acme.ctx, { incidentId: incident.id }, [log, picture])
  const fileIds = [first?.id ?? '']
  await expect(postIncidentUpdate(acme.ctx, { ...updateOf(other), fileIds })).rejects.toThrow(NotFound)
  const update = await postIncidentUpdate(acme.ctx, { ...updateOf(incident), fileIds, createdAt: noon }, [log])
  await expect(createIncidentNote(acme.ctx, { incidentId: incident.id, message: 'x', fileIds })).rejects.toThrow(
    NotFound,
  )
  expect(await readPublicFile(prisma, scopeOf(acme), fileIds[0] ?? '', null)).toMatchObject({ updateId: update.id })
  const note = await createIncidentNote(acme.ctx, { incidentId: incident.id, message: 'x', fileIds: [second?.id] })
  expect(await readFileContent(prisma, acme.id, second?.id ?? '')).toMatchObject({ noteId: note.id })
})

test('adding or deleting a file of an update later edits the update', async () => {
  const acme = await tenant()
  const incident = await report(acme)
  const { id: updateId } = await postIncidentUpdate(acme.ctx, updateOf(incident))
  const later = acme.later(MINUTE)
  const [file] = await uploadIncidentFiles(later, { incidentId: incident.id, updateId }, [log])
  const update = () => prisma.incidentUpdate.findUniqueOrThrow({ where: { id: updateId } })
  expect(await update()).toMatchObject({ version: 2, editedAt: later.now() })
  await deleteIncidentFile(later, file?.id ?? '')
  expect(await update()).toMatchObject({ version: 3 })
  expect((await acme.news()).slice(-2)).toEqual(['INCIDENT_UPDATE_EDITED Outage', 'INCIDENT_UPDATE_EDITED Outage'])
  await expect(deleteIncidentFile(later, file?.id ?? '')).rejects.toThrow(NotFound)
  await expect(uploadIncidentFiles(acme.as('READ'), { incidentId: incident.id }, [log])).rejects.toThrow(Forbidden)
  const both = { incidentId: incident.id, updateId, noteId: newId('IncidentNote') }
  await expect(uploadIncidentFiles(acme.ctx, both, [log])).rejects.toThrow(Invalid)
  const another = await report(acme)
  await expect(uploadIncidentFiles(acme.ctx, { incidentId: another.id, updateId }, [log])).rejects.toThrow(NotFound)
})

test('files move with their updates and notes when incidents are merged', async () => {
  const acme = await tenant()
  const [one, other] = [await report(acme), await report(acme)]
  await postIncidentUpdate(acme.ctx, updateOf(one), [log])
  await createIncidentNote(acme.ctx, { incidentId: one.id, message: 'x' }, [picture])
  await mergeIncidents(acme.ctx, { id: one.id, intoId: other.id })
  expect(await namesOf(one.id)).toEqual([])
  expect(await namesOf(other.id)).toEqual(['disk.log', 'graph.png'])
  const file = (await readFiles(prisma, [other.id])).find(({ name }) => name === log.name)
  expect(await readPublicFile(prisma, scopeOf(acme), file?.id ?? '', null)).toMatchObject({ name: 'disk.log' })
  await expect(uploadIncidentFiles(acme.ctx, { incidentId: one.id }, [log])).rejects.toThrow(Conflict)
})

test('an update, an incident and a tier limit the number or size of files', async () => {
  const acme = await tenant('FREE')
  const incident = await report(acme)
  const { id: updateId } = await postIncidentUpdate(acme.ctx, updateOf(incident), Array(MAX_FILES).fill(log))
  await expect(uploadIncidentFiles(acme.ctx, { incidentId: incident.id, updateId }, [log])).rejects.toThrow(Conflict)
  await expect(postIncidentUpdate(acme.ctx, updateOf(incident), Array(MAX_FILES + 1).fill(log))).rejects.toThrow(
    Invalid,
  )
  const stored = { organizationId: acme.id, incidentId: incident.id, name: 'a', type: 'a/b', createdAt: noon }
  const empty = { ...stored, content: new Uint8Array(), size: 1 }
  await prisma.incidentFile.createMany({
    data: Array.from({ length: 89 }, () => ({ ...empty, id: newId('IncidentFile') })),
  })
  await uploadIncidentFiles(acme.ctx, { incidentId: incident.id }, [log])
  await expect(uploadIncidentFiles(acme.ctx, { incidentId: incident.id }, [log])).rejects.toThrow(Conflict)
  const other = await report(acme)
  const large = { ...stored, incidentId: other.id, content: new Uint8Array(), size: 99_999_990 }
  await prisma.incidentFile.create({ data: { ...large, id: newId('IncidentFile') } })
  const another = await report(acme)
  await expect(uploadIncidentFiles(acme.ctx, { incidentId: another.id }, [log])).rejects.toThrow(TierLimitReached)
  await prisma.organization.update({ where: { id: acme.id }, data: { tier: 'PRO' } })
  await uploadIncidentFiles(acme.ctx, { incidentId: another.id }, [log])
})
