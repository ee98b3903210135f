import { describe, expect, test } from 'vitest'
import type { ConsolePage } from '../../../support/console.ts'
import { testConsole } from '../../../support/console.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { database, organization } = await testConsole()
const acme = await organization('works')
const other = await organization('elsewhere')
const editor = await acme.signIn('EDITOR')
const viewer = await acme.signIn('VIEWER')
const { prisma } = database
await prisma.organization.update({ where: { id: acme.organization.id }, data: { timeZone: 'America/New_York' } })
await editor.post('services/new', { name: 'API', description: '' })
const service = await prisma.service.findFirstOrThrow({ where: { name: 'API' } })

const fields = {
  title: 'New disks',
  message: 'We *replace* disks.',
  startsAt: '2999-01-01T02:00',
  endsAt: '2999-01-01T03:00',
}

/** Schedules a maintenance; returns its id. */
async function schedule(more: Record<string, string> = {}): Promise<string> {
  const { status, location } = await editor.post('maintenance/new', { ...fields, serviceIds: service.id, ...more })
  expect(status).toBe(303)
  return location?.split('/').at(-1) ?? ''
}

const versionIn = ({ html }: ConsolePage) => /name="version" value="(\d+)"/.exec(html)?.[1] ?? ''
const maintenanceOf = (id: string) =>
  prisma.maintenance.findUniqueOrThrow({
    where: { id },
    include: { services: true, updates: { orderBy: { createdAt: 'desc' } } },
  })

describe('a maintenance', () => {
  test('is scheduled in the organization’s time zone', async () => {
    const id = await schedule()
    const { startsAt, services } = await maintenanceOf(id)
    expect([startsAt.toISOString(), services[0]?.serviceId]).toEqual(['2999-01-01T07:00:00.000Z', service.id])
    const { html } = await viewer.get(`maintenance/${id}`)
    expect(html).toContain('We <em>replace</em> disks.')
    expect(html).not.toContain('id="update"')
  })

  test('is scheduled and moved in any time zone', async () => {
    expect((await editor.get('maintenance/new')).html).toMatch(/id="timeZone"[^>]* value="America\/New_York"/)
    const id = await schedule({ timeZone: 'Asia/Tokyo' })
    const timesOf = async () => {
      const { startsAt, endsAt } = await maintenanceOf(id)
      return [startsAt.toISOString(), endsAt.toISOString()]
    }
    expect(await timesOf()).toEqual(['2998-12-31T17:00:00.000Z', '2998-12-31T18:00:00.000Z'])
    const { html } = await editor.get(`maintenance/${id}/edit`)
    expect(html).toContain('value="2998-12-31T12:00"')
    const edit = { title: fields.title, startsAt: '2999-01-01T02:00', endsAt: '2999-01-01T04:00', version: '1' }
    await editor.post(`maintenance/${id}/edit`, { ...edit, timeZone: 'Europe/Berlin' })
    expect(await timesOf()).toEqual(['2999-01-01T01:00:00.000Z', '2999-01-01T03:00:00.000Z'])
    const refused = await editor.post('maintenance/new', { ...fields, timeZone: 'Mars/Olympus' })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('id="timeZone-problem"')
    expect(refused.html).toContain('value="Mars/Olympus"')
  })

  test('is previewed, and refused with its input', async () => {
    const preview = await editor.post('maintenance/new', { ...fields, preview: 'true' })
    expect([preview.status, preview.html.includes('We <em>replace</em> disks.')]).toEqual([200, true])
    const refused = await editor.post('maintenance/new', {
      ...fields,
      endsAt: '2999-01-01T01:00',
      serviceIds: service.id,
    })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('id="endsAt-problem">Must be after the start.')
    expect(refused.html).toContain('value="New disks"')
    expect((await viewer.post('maintenance/new', fields)).status).toBe(422)
  })

  test('keeps whether subscribers are notified', async () => {
    const id = await schedule({ 'notifySubscribers.shown': 'true' })
    expect((await maintenanceOf(id)).notifySubscribers).toBe(false)
    const { html } = await editor.get(`maintenance/${id}/cancel`)
    expect(html).toContain('name="notifySubscribers" value="true"/>')
    const reported = {
      status: 'SCHEDULED',
      message: 'Soon.',
      'notifySubscribers.shown': 'true',
      notifySubscribers: 'true',
    }
    expect((await editor.post(`maintenance/${id}/updates`, reported)).status).toBe(303)
    expect((await maintenanceOf(id)).notifySubscribers).toBe(true)
  })

  test('is started, updated and completed', async () => {
    const id = await schedule()
    const started = { status: 'SCHEDULED', nextStatus: 'IN_PROGRESS', message: '', version: '1' }
    expect((await editor.post(`maintenance/${id}/updates`, started)).status).toBe(303)
    const reported = { status: 'IN_PROGRESS', message: 'Half of it is done.', version: '2' }
    expect((await editor.post(`maintenance/${id}/updates`, reported)).status).toBe(303)
    const outdated = await editor.post(`maintenance/${id}/updates`, {
      ...reported,
      status: 'VERIFYING',
      message: 'Mine.',
    })
    expect(outdated.status).toBe(422)
    expect(outdated.html).toContain('Another person has changed this in the meantime.')
    expect(outdated.html).toContain('Mine.</textarea>')
    const version = versionIn(outdated)
    await editor.post(`maintenance/${id}/updates`, {
      status: 'IN_PROGRESS',
      nextStatus: 'COMPLETED',
      message: '',
      version,
    })
    const { status, updates } = await maintenanceOf(id)
    expect([status, updates.length]).toEqual(['COMPLETED', 4])
    expect((await editor.get(`maintenance/${id}/edit`)).html).toContain('its times and services are final')
    await editor.post(`maintenance/${id}/edit`, { title: 'Newer disks', version: String(Number(version) + 1) })
    expect((await maintenanceOf(id)).title).toBe('Newer disks')
  })

  test('is moved, without mentioning what stays', async () => {
    const id = await schedule()
    const edit = { title: 'New disks', startsAt: fields.startsAt, endsAt: '2999-01-01T05:00', version: '1' }
    expect((await editor.post(`maintenance/${id}/edit`, edit)).status).toBe(303)
    const { endsAt, services } = await maintenanceOf(id)
    expect([endsAt.toISOString(), services]).toEqual(['2999-01-01T10:00:00.000Z', []])
    const refused = await editor.post(`maintenance/${id}/edit`, { ...edit, endsAt: '2999-01-01T06:00' })
    expect(refused.html).toContain('Now: 1 Jan 2999, 05:00 EST')
    expect(refused.html.match(/Now: /g)).toHaveLength(1)
    expect(refused.html).toContain('value="2999-01-01T06:00"')
  })

  test('is cancelled, and deleted, on separate pages', async () => {
    const id = await schedule()
    expect((await editor.get(`maintenance/${id}/cancel`)).html).toContain('Cancel the maintenance')
    const german = { 'translations.0.language': 'DE', 'translations.0.message': 'Nicht dieses Jahr.' }
    const refused = await editor.post(`maintenance/${id}/cancel`, { ...german, message: '' })
    expect([refused.status, refused.html.includes('Nicht dieses Jahr.</textarea>')]).toEqual([422, true])
    await editor.post(`maintenance/${id}/cancel`, { ...german, message: 'Not this year.' })
    const { status, updates } = await maintenanceOf(id)
    expect(status).toBe('CANCELLED')
    expect(updates.map(({ translations }) => translations)).toContainEqual({
      DE: expect.objectContaining({ message: 'Nicht dieses Jahr.' }),
    })
    expect((await editor.get(`maintenance/${id}/delete`)).html).toContain('Its 2 updates are deleted too')
    await editor.post(`maintenance/${id}/delete`, {})
    expect((await editor.get(`maintenance/${id}`)).status).toBe(404)
  })

  test('has updates that can be edited and deleted', async () => {
    const id = await schedule()
    await editor.post(`maintenance/${id}/updates`, { status: 'SCHEDULED', message: 'Wrogn.', version: '1' })
    const [newest] = (await maintenanceOf(id)).updates
    const path = `maintenance/${id}/updates/${newest?.id}`
    await editor.post(path, { message: 'Wrong.', createdAt: '', version: '1' })
    expect((await viewer.get(path)).html).toContain('<p>Wrong.</p>')
    await editor.post(`${path}/delete`, {})
    expect((await maintenanceOf(id)).updates).toHaveLength(1)
  })

  test('of another organization is answered like one that does not exist', async () => {
    const id = await schedule()
    const stranger = await other.signIn('OWNER')
    for (const rest of ['', '/edit', '/cancel', '/delete']) {
      expect([rest, (await stranger.get(`maintenance/${id}${rest}`)).status]).toEqual([rest, 404])
    }
    for (const rest of ['/edit', '/cancel', '/delete', '/updates']) {
      expect([rest, (await stranger.post(`maintenance/${id}${rest}`, { ...fields, version: '1' })).status]).toEqual([
        rest,
        404,
      ])
    }
    expect((await maintenanceOf(id)).version).toBe(1)
  })
})

test('the list of maintenance filters by state and text, with few statements', async () => {
  const upcoming = await schedule({ title: 'Another upcoming one' })
  const past = await schedule({ title: 'A past one', message: 'About turbines.' })
  await editor.post(`maintenance/${past}/cancel`, { message: '' })
  const shows = async (query: string) => {
    const { html } = await editor.get(`maintenance?${query}`)
    return [html.includes(`id="${upcoming}"`), html.includes(`id="${past}"`)]
  }
  expect(await shows('')).toEqual([true, true])
  expect(await shows('state=upcoming')).toEqual([true, false])
  expect(await shows('state=past')).toEqual([false, true])
  expect(await shows('state=constructor')).toEqual(await shows(''))
  expect(await shows('text=TURBINES')).toEqual([false, true])
  for (const path of ['maintenance', 'maintenance/new', `maintenance/${past}`]) {
    const statements = await fewestStatements(async () => void (await editor.get(path)))
    expect([path, statements > 2 && statements <= 10, statements]).toEqual([path, true, statements])
  }
})
