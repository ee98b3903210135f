// @slow
import { afterAll, describe, expect, test } from 'vitest'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { updateService } from '../../src/status/service/service.ts'
import type { Tenant } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { configuredIn, refusal, short } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const configured = configuredIn(database)
afterAll(closeYamlProcess)

const fileWith = (api: string) => `allclear: 1\nservices:\n  api: { name: API${api} }\n`
const stated = fileWith(', status: OPERATIONAL')
const serviceOf = ({ id }: Tenant) => prisma.service.findFirstOrThrow({ where: { organizationId: id } })

describe('the status of a service in a file', () => {
  test.each([
    ['', { statedAt: null, statusOverride: null }],
    [', status: null', { statedAt: null, statusOverride: null }],
    [', status: OPERATIONAL', { statedAt: noon, statusOverride: null }],
    [', status: MAJOR_OUTAGE', { statedAt: noon, statusOverride: 'MAJOR_OUTAGE' }],
  ])('is stated when the service is created, and then nothing is left to do: {%s}', async (status, expected) => {
    const tenant = await configured.tenant()
    const yaml = fileWith(status)
    expect(short(await configured.apply(tenant, yaml))).toEqual(['CREATE services.api'])
    expect(await serviceOf(tenant)).toMatchObject(expected)
    expect(await configured.plan(tenant, yaml)).toMatchObject({ changes: [], drift: [] })
  })

  test('is stated later for a service without one', async () => {
    const tenant = await configured.tenant()
    await configured.apply(tenant, fileWith(''))
    expect(short(await configured.apply(tenant, stated))).toEqual(['UPDATE services.api status'])
    expect(await serviceOf(tenant)).toMatchObject({ statedAt: noon, statusOverride: null })
    expect(await tenant.news()).toContain('SERVICE_STATUS_CHANGED API')
  })

  test.each([
    ['a person', (tenant: Tenant, id: string) => updateService(tenant.ctx, { id, status: 'PARTIAL_OUTAGE' })],
    [
      'an incident',
      (tenant: Tenant, serviceId: string) => {
        const services = [{ serviceId, status: 'PARTIAL_OUTAGE' }]
        const incident = { title: 'Slow', status: 'INVESTIGATING', impact: 'MAJOR', message: 'Hm.', services }
        return createIncident(tenant.ctx, incident)
      },
    ],
  ])('stays as %s sets it: it is not locked, is no drift, and applying the file again keeps it', async (_, set) => {
    const tenant = await configured.tenant()
    await configured.apply(tenant, stated)
    const { id } = await serviceOf(tenant)
    await set(tenant, id)
    const before = await serviceOf(tenant)
    expect(await configured.plan(tenant, stated)).toMatchObject({ changes: [], drift: [] })
    const renamed = stated.replace('API', 'The API')
    expect(short(await configured.apply(tenant, renamed))).toEqual(['UPDATE services.api name'])
    expect(await serviceOf(tenant)).toEqual({ ...before, name: 'The API', version: before.version + 1 })
  })

  test('locks the other members only', async () => {
    const tenant = await configured.tenant()
    await configured.apply(tenant, stated)
    const { id } = await serviceOf(tenant)
    await expect(updateService(tenant.ctx, { id, name: 'Mine', status: 'MAJOR_OUTAGE' })).rejects.toMatchObject({
      members: ['name'],
    })
    await updateService(tenant.ctx, { id, status: 'MAJOR_OUTAGE' })
    expect(await serviceOf(tenant)).toMatchObject({ name: 'API', statusOverride: 'MAJOR_OUTAGE' })
  })

  test('is exported, so that the file creates the same elsewhere, and changes nothing here', async () => {
    const tenant = await configured.tenant()
    await configured.apply(tenant, `${stated}  web: { name: Web }\n  mail: { name: Mail, status: PARTIAL_OUTAGE }\n`)
    const yaml = await configured.export(tenant)
    expect(yaml).toMatch(/api:\n\s+name: API\n\s+status: OPERATIONAL\n/)
    expect(yaml).toMatch(/web:\n\s+name: Web\n\s+mail:\n\s+name: Mail\n\s+status: PARTIAL_OUTAGE\n/)
    expect(await configured.plan(tenant, yaml)).toMatchObject({ changes: [], drift: [] })
    const other = await configured.tenant()
    await configured.apply(other, yaml.replaceAll(tenant.slug, other.slug))
    const fields = { name: true, statusOverride: true, statedAt: true } as const
    const copied = (of: Tenant) =>
      prisma.service.findMany({ where: { organizationId: of.id }, select: fields, orderBy: { position: 'asc' } })
    expect(await copied(other)).toEqual(await copied(tenant))
  })

  test('is one of five', async () => {
    const tenant = await configured.tenant()
    const [issue] = await refusal(configured.plan(tenant, fileWith(', status: UNKNOWN')))
    expect(issue).toMatch(/^3 services\.api\.status: /)
  })
})
