import { describe, expect, test } from 'vitest'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import {
  cancelMaintenance,
  editMaintenanceUpdate,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { createMaintenanceSeries, updateMaintenanceSeries } from '../../../src/status/maintenance/maintenance-series.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { renderStored } from '../../../src/status/timeline/stored-messages.ts'
import { inLanguage, titleIn } from '../../../src/status/timeline/translations.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const slow = {
  ...{ title: 'Slow answers', status: 'INVESTIGATING', impact: 'MINOR', message: 'We *look* into it.' },
  translations: [
    { language: 'DE', title: 'Langsame Antworten', message: 'Wir *suchen*.' },
    { language: 'FR', message: 'Nous *cherchons*.' },
    { language: 'JA', title: null, message: null },
  ],
}
const german = { message: 'Wir *suchen*.', html: '<p>Wir <em>suchen</em>.</p>' }
const french = { message: 'Nous *cherchons*.', html: '<p>Nous <em>cherchons</em>.</p>' }
const updateOf = (incidentId: string) =>
  prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId }, orderBy: { createdAt: 'desc' } })

describe('an incident in several languages', () => {
  test('stores the texts of each, rendered', async () => {
    const acme = await tenant()
    const incident = await createIncident(acme.ctx, slow)
    expect(incident.titles).toEqual({ DE: 'Langsame Antworten' })
    expect(await updateOf(incident.id)).toMatchObject({ translations: { DE: german, FR: french } })
  })

  test('can have languages set, changed and removed individually by an update', async () => {
    const acme = await tenant()
    const { id: incidentId } = await createIncident(acme.ctx, slow)
    const update = await postIncidentUpdate(acme.ctx, {
      ...{ incidentId, status: 'MONITORING', message: 'Better.' },
      translations: [
        { language: 'DE', title: null, message: 'Besser.' },
        { language: 'FR', title: 'Lenteur' },
      ],
    })
    expect(update.translations).toEqual({ DE: { message: 'Besser.', html: '<p>Besser.</p>' } })
    expect(await prisma.incident.findUnique({ where: { id: incidentId } })).toMatchObject({ titles: { FR: 'Lenteur' } })
    const earlier = await postIncidentUpdate(acme.ctx, {
      ...{ incidentId, status: 'IDENTIFIED', message: 'Found.', createdAt: new Date(noon.getTime() - 1000) },
      translations: [{ language: 'DE', title: 'Langsam', message: 'Gefunden.' }],
    })
    expect(earlier.translations).toMatchObject({ DE: { message: 'Gefunden.' } })
    const after = { FR: 'Lenteur', DE: 'Langsam' }
    expect(await prisma.incident.findUnique({ where: { id: incidentId } })).toMatchObject({ titles: after })
  })

  test('is edited with its version; an edit without changes is no edit', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, slow)
    const edited = await updateIncident(acme.ctx, {
      id,
      translations: [{ language: 'ES', title: 'Lento' }],
      version: 1,
    })
    expect([edited.titles, edited.version]).toEqual([{ DE: 'Langsame Antworten', ES: 'Lento' }, 2])
    expect((await updateIncident(acme.ctx, { id, translations: [{ language: 'ES', title: 'Lento' }] })).version).toBe(2)
    await expect(updateIncident(acme.ctx, { id, translations: [], title: 'x', version: 1 })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    const update = await updateOf(id)
    const changed = await editIncidentUpdate(acme.ctx, {
      ...{ id: update.id, version: update.version },
      translations: [
        { language: 'DE', message: null },
        { language: 'PL', message: 'Szukamy.' },
      ],
    })
    expect(changed).toMatchObject({ message: slow.message, html: update.html, version: 2 })
    expect(changed.translations).toEqual({ FR: french, PL: { message: 'Szukamy.', html: '<p>Szukamy.</p>' } })
    const again = await editIncidentUpdate(acme.ctx, {
      id: update.id,
      translations: [{ language: 'DE', message: null }],
    })
    expect(again.version).toBe(2)
  })

  test.each([
    ['a language that there is not', [{ language: 'XX', title: 'x' }], ['translations', '0', 'language']],
    [
      'a language twice',
      [
        { language: 'DE', title: 'x' },
        { language: 'DE', message: 'y' },
      ],
      ['translations'],
    ],
    ['a blank title', [{ language: 'DE', title: ' ' }], ['translations', '0', 'title']],
    ['a title of two lines', [{ language: 'DE', title: 'a\nb' }], ['translations', '0', 'title']],
    ['too long a message', [{ language: 'DE', message: 'x'.repeat(10_001) }], ['translations', '0', 'message']],
    [
      'messages that are too long together',
      ['DE', 'FR', 'ES', 'IT', 'NL'].map((language) => ({ language, message: 'x'.repeat(8_001) })),
      ['translations'],
    ],
  ])('refuses %s', async (_what, translations, path) => {
    const acme = await tenant()
    const refused = createIncident(acme.ctx, { ...slow, translations })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] })
  })

  test('stays within the limit when languages are added one by one', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, { ...slow, translations: [] })
    const update = await updateOf(id)
    const add = (language: string, length: number) =>
      editIncidentUpdate(acme.ctx, { id: update.id, translations: [{ language, message: 'x'.repeat(length) }] })
    for (const language of ['DE', 'FR', 'ES', 'IT']) await add(language, 10_000)
    await expect(add('NL', 1)).rejects.toMatchObject({ issues: [{ path: ['translations'] }] })
    await add('DE', 9_999)
    await add('NL', 1)
  })

  test('refuses fields that an edit cannot change', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, slow)
    const update = await updateOf(id)
    await expect(
      updateIncident(acme.ctx, { id, translations: [{ language: 'DE', message: 'x' }] }),
    ).rejects.toMatchObject({ issues: [{ path: ['translations', '0', 'message'] }] })
    await expect(
      editIncidentUpdate(acme.ctx, { id: update.id, translations: [{ language: 'DE', title: 'x' }] }),
    ).rejects.toMatchObject({ issues: [{ path: ['translations', '0', 'title'] }] })
  })

  test('is rendered again in all of them by a new version of the rendering', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, slow)
    const update = await updateOf(id)
    const old = { DE: { message: german.message, html: 'old' }, FR: { message: french.message, html: null } }
    await prisma.incidentUpdate.update({ where: { id: update.id }, data: { htmlVersion: 0, translations: old } })
    while (await renderStored(acme.ctx));
    expect(await updateOf(id)).toMatchObject({ htmlVersion: 1, translations: { DE: german, FR: french } })
  })

  test('is read by the page with all of its texts, each for its readers', async () => {
    const acme = await tenant()
    await createIncident(acme.ctx, slow)
    const [incident] = (await readPageState(prisma, acme.slug, noon)).incidents
    if (incident === undefined) throw new Error('The page shows no incident.')
    expect(inLanguage(incident, 'DE')).toMatchObject({
      ...{ title: 'Langsame Antworten', isTranslated: true },
      updates: [{ body: german.html, isTranslated: true }],
    })
    const inFrench = inLanguage(incident, 'FR')
    expect([inFrench.title, inFrench.isTranslated, inFrench.updates[0]?.body]).toEqual([
      'Slow answers',
      undefined,
      french.html,
    ])
    expect(inLanguage(incident, 'EN').updates[0]?.body).toBe('<p>We <em>look</em> into it.</p>')
    expect(titleIn(incident, 'JA')).toEqual({ title: 'Slow answers' })
  })
})

const times = { startsAt: new Date('2026-11-21T12:00:00Z'), endsAt: new Date('2026-11-21T13:00:00Z') }

describe('a maintenance in several languages', () => {
  test('is scheduled, updated and cancelled with them', async () => {
    const acme = await tenant()
    const { id, titles } = await scheduleMaintenance(acme.ctx, {
      ...{ title: 'New disks', message: 'Soon.', ...times },
      translations: [{ language: 'DE', title: 'Neue Platten', message: 'Bald.' }],
    })
    expect(titles).toEqual({ DE: 'Neue Platten' })
    const changed = await updateMaintenance(acme.ctx, {
      ...{ id, message: 'Sooner.' },
      translations: [
        { language: 'DE', title: 'Platten', message: 'Eher.' },
        { language: 'FR', title: 'Disques' },
      ],
    })
    expect(changed.titles).toEqual({ DE: 'Platten', FR: 'Disques' })
    await expect(
      updateMaintenance(acme.ctx, { id, translations: [{ language: 'DE', message: 'Nur hier.' }] }),
    ).rejects.toMatchObject({ issues: [{ path: ['message'] }] })
    await cancelMaintenance(acme.ctx, {
      ...{ id, message: 'Not now.' },
      translations: [{ language: 'DE', message: 'Nicht jetzt.' }],
    })
    const updates = await prisma.maintenanceUpdate.findMany({
      where: { maintenanceId: id },
      orderBy: { createdAt: 'asc' },
    })
    expect(updates.map(({ translations }) => translations)).toMatchObject([
      { DE: { message: 'Bald.' } },
      { DE: { message: 'Eher.' } },
      { DE: { message: 'Nicht jetzt.', html: '<p>Nicht jetzt.</p>' } },
    ])
    const edited = await editMaintenanceUpdate(acme.ctx, {
      ...{ id: updates[0]?.id, message: 'Very soon.', version: 1 },
      translations: [{ language: 'DE', message: 'Sehr bald.' }],
    })
    expect(edited).toMatchObject({ html: '<p>Very soon.</p>', translations: { DE: { message: 'Sehr bald.' } } })
  })

  test('that repeats passes them on to each date, and later changes too', async () => {
    const acme = await tenant()
    const series = await createMaintenanceSeries(acme.ctx, {
      ...{ title: 'Updates', message: 'Weekly.', startsAt: times.startsAt, durationMinutes: 60, rule: 'FREQ=WEEKLY' },
      translations: [{ language: 'DE', title: 'Aktualisierung', message: 'Jede Woche.' }],
    })
    const dates = () => prisma.maintenance.findMany({ where: { seriesId: series.id }, include: { updates: true } })
    const found = await dates()
    expect(found.length).toBeGreaterThan(1)
    for (const each of found) {
      expect(each.titles).toEqual({ DE: 'Aktualisierung' })
      expect(each.updates).toMatchObject([{ message: 'Weekly.', translations: { DE: { message: 'Jede Woche.' } } }])
    }
    const changed = await updateMaintenanceSeries(acme.ctx, {
      id: series.id,
      translations: [
        { language: 'DE', message: 'Wöchentlich.' },
        { language: 'FR', title: 'Mises à jour' },
      ],
    })
    expect(changed.translations).toEqual({
      DE: { title: 'Aktualisierung', message: 'Wöchentlich.' },
      FR: { title: 'Mises à jour' },
    })
    for (const each of await dates()) {
      expect(each.titles).toEqual({ DE: 'Aktualisierung', FR: 'Mises à jour' })
      expect(each.updates).toMatchObject([{ message: 'Weekly.', translations: { DE: { message: 'Wöchentlich.' } } }])
    }
  })
})
