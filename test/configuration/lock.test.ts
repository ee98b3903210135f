// @slow
import { afterAll, describe, expect, test } from 'vitest'
import {
  lockManagedObject,
  readManagedObject,
  requireUnlocked,
  unlockManagedObject,
} from '../../src/account/managed-object.ts'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { deleteAlertChannel, updateAlertChannel } from '../../src/alerting/channel.ts'
import type { AlertingContext } from '../../src/alerting/context.ts'
import { applyConfiguration } from '../../src/configuration/apply.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { ManagedByFile, NotFound } from '../../src/core/errors.ts'
import { deleteMonitor, updateMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor } from '../../src/monitoring/monitor/pause.ts'
import { deleteObjective, updateObjective } from '../../src/monitoring/objective/objective.ts'
import { deletePage, updatePage } from '../../src/status/page/page.ts'
import { deleteService, updateService } from '../../src/status/service/service.ts'
import { deleteServiceGroup, updateServiceGroup } from '../../src/status/service/service-group.ts'
import { deleteTemplate, updateTemplate } from '../../src/status/template/template.ts'
import { testDatabase } from '../support/database.ts'
import { configuredIn, short } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const configured = configuredIn(database)
afterAll(closeYamlProcess)

const file = `allclear: 1
groups:
  core: { name: Core }
services:
  api: { name: API, group: core }
monitors:
  health: { name: Health, service: api, http: { url: https://example.com/ } }
pages:
  SLUG: { slug: SLUG, name: Acme }
  shop: { slug: SLUG-shop, name: Shop, services: [api] }
channels:
  team: { name: Team, webhook: { url: "https://hooks.example.com/\${HOOK}" }, when: [DOWN], quietTimes: { windows: [{ days: [MONDAY], from: "22:00", to: "06:00" }] } }
templates:
  slow: { kind: INCIDENT, name: Slow, message: It is slow., services: [{ service: api, status: MAJOR_OUTAGE }] }
objectives:
  api: { service: api, target: 99.9 }
`

const variables = [{ name: 'HOOK', value: 'a' }]

/** Sets up an organization with an applied file. Returns the ids of its objects by key. */
async function withFile() {
  const tenant = await configured.tenant()
  const yaml = file.replaceAll('SLUG', tenant.slug)
  await configured.apply(tenant, yaml, { variables })
  const rows = await prisma.managedObject.findMany({ where: { organizationId: tenant.id } })
  const ids = new Map(rows.map(({ section, key, objectId }) => [`${section}.${key}`, objectId]))
  return { tenant, yaml, ctx: configured.ctx(tenant), id: (place: string) => ids.get(place) ?? '' }
}

type Edit = (ctx: AlertingContext, id: string) => Promise<unknown>

interface Kind {
  readonly place: string
  /** Edits of members that the file sets, by the refused members. */
  readonly refused: Readonly<Record<string, Edit>>
  /** Edits that change nothing, or nothing that the file sets. */
  readonly allowed: readonly Edit[]
  readonly remove: Edit
}

const kinds: readonly Kind[] = [
  {
    place: 'groups.core',
    refused: { name: (ctx, id) => updateServiceGroup(ctx, { id, name: 'Other', description: 'Free.' }) },
    allowed: [(ctx, id) => updateServiceGroup(ctx, { id, name: 'Core', description: 'Free.' })],
    remove: deleteServiceGroup,
  },
  {
    place: 'services.api',
    refused: {
      name: (ctx, id) => updateService(ctx, { id, name: 'Other', statusOverride: 'MAJOR_OUTAGE' }),
      group: (ctx, id) => updateService(ctx, { id, groupId: null }),
    },
    allowed: [
      (ctx, id) => updateService(ctx, { id, name: 'API', statusOverride: 'MAJOR_OUTAGE', description: 'Free.' }),
    ],
    remove: deleteService,
  },
  {
    place: 'monitors.health',
    refused: {
      http: (ctx, id) => updateMonitor(ctx, { id, http: { url: 'https://example.com/other' } }),
      'name, service': (ctx, id) => updateMonitor(ctx, { id, name: 'Other', serviceId: null, intervalSeconds: 600 }),
    },
    allowed: [
      (ctx, id) =>
        updateMonitor(ctx, { id, name: 'Health', intervalSeconds: 600, http: { url: 'https://example.com/' } }),
      pauseMonitor,
    ],
    remove: deleteMonitor,
  },
  {
    place: 'pages.shop',
    refused: {
      name: (ctx, id) => updatePage(ctx, { id, name: 'Other', accentColor: '#112233' }),
      services: (ctx, id) => updatePage(ctx, { id, serviceIds: null }),
    },
    allowed: [(ctx, id) => updatePage(ctx, { id, name: 'Shop', accentColor: '#112233' })],
    remove: deletePage,
  },
  {
    place: 'channels.team',
    refused: {
      'when, quietTimes': (ctx, id) => updateAlertChannel(ctx, { id, when: ['UP'], quietTimes: null }),
      webhook: (ctx, id) => updateAlertChannel(ctx, { id, webhook: { url: 'https://hooks.example.com/b' } }),
    },
    allowed: [
      (ctx, id) =>
        updateAlertChannel(ctx, { id, remindAfterMinutes: 30, webhook: { url: 'https://hooks.example.com/a' } }),
    ],
    remove: deleteAlertChannel,
  },
  {
    place: 'templates.slow',
    refused: {
      'name, services': (ctx, id) => updateTemplate(ctx, { id, name: 'Other', title: 'Free', services: [] }),
      message: (ctx, id) => updateTemplate(ctx, { id, message: 'Other.' }),
    },
    allowed: [(ctx, id) => updateTemplate(ctx, { id, name: 'Slow', title: 'Free', notifySubscribers: false })],
    remove: deleteTemplate,
  },
  {
    place: 'objectives.api',
    refused: { target: (ctx, id) => updateObjective(ctx, { id, target: 99, windowDays: 7 }) },
    allowed: [(ctx, id) => updateObjective(ctx, { id, target: 99.9, windowDays: 30 })],
    remove: deleteObjective,
  },
]

describe('a managed object', () => {
  const applied = withFile()

  test.each(kinds)('is locked: $place', async ({ place, refused, allowed, remove }) => {
    const { tenant, ctx, id } = await applied
    for (const edit of allowed) await edit(ctx, id(place))
    const before = await tenant.news()
    for (const [members, edit] of Object.entries(refused)) {
      const error = await edit(ctx, id(place)).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ManagedByFile)
      const [section, key] = place.split('.')
      expect(error).toMatchObject({ file: 'allclear.yaml', section, key, members: members.split(', ') })
    }
    await expect(remove(ctx, id(place))).rejects.toThrow(`allclear.yaml manages ${place}.`)
    // A refused edit changes nothing, not even members that the file does not set.
    expect(await tenant.news()).toEqual(before)
    expect(await readManagedObject(ctx, tenant.id, id(place))).not.toBeNull()
  })

  test('is locked in the settings of the organization too, for the first page', async () => {
    const { tenant, ctx, id } = await applied
    const first = id(`pages.${tenant.slug}`)
    await expect(updateOrganization(ctx, { name: 'Other' })).rejects.toThrow(ManagedByFile)
    await expect(updatePage(ctx, { id: first, slug: `${tenant.slug}-x` })).rejects.toThrow(ManagedByFile)
    await updateOrganization(ctx, { name: 'Acme', timeZone: 'Europe/Berlin', description: 'Free.' })
  })

  test.each(kinds)('can be unlocked until the file is applied again: $place', async ({ place, refused }) => {
    const { tenant, yaml, ctx, id } = await withFile()
    await unlockManagedObject(ctx, id(place))
    for (const edit of Object.values(refused)) await edit(ctx, id(place))
    const plan = await configured.plan(tenant, yaml, { variables })
    const members = Object.keys(refused).join(', ').split(', ')
    expect(plan.drift.map((each) => [`${each.section}.${each.key}`, each.members.toSorted()])).toEqual([
      [place, members.toSorted()],
    ])
    expect(short(plan).map((line) => line.split(' ')[1])).toEqual([place])
    // A plan does not lock it.
    expect(await readManagedObject(ctx, tenant.id, id(place))).toMatchObject({ unlockedAt: expect.any(Date) })
    await configured.apply(tenant, yaml, { variables })
    const [edit] = Object.values(refused)
    await expect(edit?.(ctx, id(place))).rejects.toThrow(ManagedByFile)
  })

  test('is unlocked and locked once, with an event that names the actor', async () => {
    const { tenant, ctx, id } = await withFile()
    const api = id('services.api')
    await Promise.all([unlockManagedObject(ctx, api), unlockManagedObject(ctx, api)])
    await lockManagedObject(ctx, api)
    await lockManagedObject(ctx, api)
    const subject = 'services.api of allclear.yaml'
    expect((await tenant.news()).slice(-2)).toEqual([
      `MANAGED_OBJECT_UNLOCKED ${subject}`,
      `MANAGED_OBJECT_LOCKED ${subject}`,
    ])
    await expect(updateService(ctx, { id: api, name: 'Other' })).rejects.toThrow(ManagedByFile)
    const [free = ''] = await tenant.services('Free')
    await expect(unlockManagedObject(ctx, free)).rejects.toThrow(NotFound)
    const other = await configured.tenant()
    await expect(unlockManagedObject(configured.ctx(other), api)).rejects.toThrow(NotFound)
    await expect(unlockManagedObject({ ...ctx, actor: tenant.as('READ').actor }, api)).rejects.toThrow('scope WRITE')
  })

  test('is not locked after the file releases it, or by a file applied without locks', async () => {
    const { tenant, ctx, id } = await withFile()
    await configured.apply(tenant, 'allclear: 1')
    await updateService(ctx, { id: id('services.api'), name: 'Free' })
    const yaml = 'allclear: 1\nservices: { api: { name: API } }'
    const { hash } = await configured.plan(tenant, yaml, { file: 'loose.yaml' })
    await applyConfiguration(ctx, { yaml, file: 'loose.yaml', planHash: hash, lock: false })
    const managed = await prisma.managedObject.findFirstOrThrow({ where: { file: 'loose.yaml' } })
    await requireUnlocked(ctx, tenant.id, managed.objectId, ['name'])
    await updateService(ctx, { id: managed.objectId, name: 'Loose' })
  })

  test('matches the file after an apply, in any order with concurrent edits', async () => {
    const { tenant, ctx, id, yaml } = await withFile()
    const api = id('services.api')
    await unlockManagedObject(ctx, api)
    const nameOf = (error: Error) => error.name
    const edit = (name: string) => updateService(ctx, { id: api, name }).then(() => 'saved', nameOf)
    const apply = configured.apply(tenant, yaml, { variables }).then(() => 'applied', nameOf)
    const edits = await Promise.all([edit('One'), edit('Two'), edit('Three')])
    expect(edits.filter((each) => !['saved', 'ManagedByFile'].includes(each))).toEqual([])
    // The apply is refused if an edit followed its plan.
    if ((await apply) === 'Conflict') await configured.apply(tenant, yaml, { variables })
    expect(await edit('Four')).toBe('ManagedByFile')
    expect(await prisma.service.findUniqueOrThrow({ where: { id: api } })).toMatchObject({ name: 'API' })
  })
})
