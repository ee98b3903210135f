import { describe, expect, test } from 'vitest'
import { Conflict, Invalid, NotFound } from '../../../src/core/errors.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import {
  createTemplate,
  deleteTemplate,
  fillTemplate,
  readTemplates,
  updateTemplate,
} from '../../../src/status/template/template.ts'
import { fillPlaceholders, placeholdersIn, requirePlaceholders } from '../../../src/status/template/template-text.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

describe('placeholders', () => {
  test('are filled in; unknown ones stay', () => {
    const values = { service: 'API', page: 'Acme' }
    expect(fillPlaceholders('{{service}} of {{ page }} since {{started}}. {{x}}', values)).toBe(
      'API of Acme since {{started}}. {{x}}',
    )
    expect(placeholdersIn(['{{ends}} {{service}}', '{{service}} {{other}}'])).toEqual(['service', 'ends'])
    // A value is not parsed again.
    expect(fillPlaceholders('{{service}}', { service: '{{page}} $& $1', page: 'no' })).toBe('{{page}} $& $1')
  })

  test('with unknown names are refused', () => {
    expect(() => requirePlaceholders(['message'], 'Since {{begun}}')).toThrow('unknown placeholder {{begun}}')
    expect(() => requirePlaceholders(['message'], 'Since {{started}} {x} {{}}')).not.toThrow()
    // In quadratic time, this would take minutes.
    expect(() => requirePlaceholders(['message'], '{{ '.repeat(330_000))).not.toThrow()
  })
})

describe('a template', () => {
  const outage = {
    kind: 'INCIDENT',
    name: 'Outage',
    title: '{{service}} is down',
    message: 'Since {{started}}.',
  } as const

  test('is created, changed, listed by name and deleted, each with an event', async () => {
    const acme = await tenant()
    const [api = '', web = ''] = await acme.services('API', 'Web')
    const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
    const made = await createTemplate(acme.ctx, { ...outage, status: 'IDENTIFIED', impact: 'MAJOR', services })
    expect(made).toMatchObject({
      name: 'Outage',
      impact: 'MAJOR',
      notifySubscribers: true,
      services: [{ serviceId: api }],
    })
    const planned = { kind: 'MAINTENANCE', name: 'Disks', message: 'New disks.', serviceIds: [web] }
    await createTemplate(acme.ctx, planned)
    // The same name is free in another kind.
    await createTemplate(acme.ctx, { ...planned, name: 'Outage' })
    const edit = { id: made.id, name: 'Big outage', impact: null, services: [], notifySubscribers: false, version: 1 }
    expect(await updateTemplate(acme.ctx, edit)).toMatchObject({ impact: null, services: [], status: 'IDENTIFIED' })
    await expect(updateTemplate(acme.ctx, edit)).rejects.toThrow(Conflict)
    expect((await readTemplates(acme.ctx, acme.id)).map(({ name }) => name)).toEqual(['Big outage', 'Disks', 'Outage'])
    expect(await readTemplates(acme.ctx, acme.id, 'UPDATE')).toEqual([])
    await deleteTemplate(acme.ctx, made.id)
    expect((await acme.news()).slice(2)).toEqual([
      'TEMPLATE_CREATED Outage',
      'TEMPLATE_CREATED Disks',
      'TEMPLATE_CREATED Outage',
      'TEMPLATE_UPDATED Big outage',
      'TEMPLATE_DELETED Big outage',
    ])
  })

  test('is refused with a taken name, fields of another kind, and services of others', async () => {
    const acme = await tenant()
    const other = await tenant()
    const [theirs = ''] = await other.services('API')
    const { id } = await createTemplate(acme.ctx, outage)
    await expect(createTemplate(acme.ctx, outage)).rejects.toThrow('There is a template “Outage” already.')
    const refused = [
      { kind: 'UPDATE', impact: 'MAJOR' },
      { kind: 'MAINTENANCE', status: 'RESOLVED' },
      { kind: 'MAINTENANCE', services: [] },
      { kind: 'INCIDENT', serviceIds: [] },
      { message: '{{begun}}' },
      { translations: [{ language: 'DE', title: '{{begun}}' }] },
      { message: '' },
    ]
    for (const wrong of refused) {
      await expect(createTemplate(acme.ctx, { ...outage, name: 'Wrong', ...wrong })).rejects.toThrow(Invalid)
    }
    const services = [{ serviceId: theirs, status: 'MAJOR_OUTAGE' }]
    await expect(createTemplate(acme.ctx, { ...outage, name: 'Wrong', services })).rejects.toThrow(NotFound)
    await expect(updateTemplate(other.ctx, { id, name: 'Mine' })).rejects.toThrow(NotFound)
    await expect(deleteTemplate(other.ctx, id)).rejects.toThrow(NotFound)
  })

  test('is filled in by its services or an incident, in each of its languages', async () => {
    const acme = await tenant()
    const [api = '', web = ''] = await acme.services('API', 'Web')
    const services = [api, web].map((serviceId) => ({ serviceId, status: 'MAJOR_OUTAGE' }))
    const translations = [{ language: 'DE', title: '{{service}} gestört', message: 'Seit {{started}}, bis {{ends}}.' }]
    const template = await createTemplate(acme.ctx, { ...outage, services, translations })
    expect(await fillTemplate(acme.ctx, template, { startedAt: noon })).toEqual({
      title: 'API and Web is down',
      message: 'Since 20 November 2026 at 12:00.',
      translations: [
        { language: 'DE', title: 'API und Web gestört', message: 'Seit 20. November 2026 um 12:00, bis {{ends}}.' },
      ],
      missing: ['ends'],
    })
    expect(await fillTemplate(acme.ctx, template, { serviceIds: [web] })).toMatchObject({
      title: 'Web is down',
      message: 'Since 20 November 2026 at 12:00.',
      missing: ['ends'],
    })
    const incident = await createIncident(acme.ctx, {
      ...{ title: 'Disk full', status: 'INVESTIGATING', impact: 'MAJOR', message: 'Oh.' },
      services: [{ serviceId: web, status: 'PARTIAL_OUTAGE' }],
    })
    const update = { kind: 'UPDATE', name: 'Fixed', message: '{{title}}: {{service}} of {{page}} works.' }
    const fixed = await createTemplate(acme.ctx, update)
    const use = { incidentId: incident.id }
    expect(await fillTemplate(acme.ctx, fixed, use)).toMatchObject({ message: 'Disk full: Web of Acme works.' })
    const other = await tenant()
    await expect(fillTemplate(other.ctx, await createTemplate(other.ctx, update), use)).rejects.toThrow(NotFound)
  })
})
