// @slow
import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { database, organization } = await testConsole()
const { prisma } = database
let made = 0

/** An organization with services A, B, C and a group. */
async function withServices() {
  const acme = await organization(`services-${++made}`)
  const editor = await acme.signIn('EDITOR')
  for (const name of ['A', 'B', 'C']) await editor.post('services/new', { name, description: '' })
  await editor.post('services/groups/new', { name: 'Group', description: '' })
  const where = { organizationId: acme.organization.id }
  const names = async () =>
    (await prisma.service.findMany({ where, orderBy: { position: 'asc' } })).map(({ name }) => name)
  const services = await prisma.service.findMany({ where, orderBy: { position: 'asc' } })
  const [a = '', b = '', c = ''] = services.map(({ id }) => id)
  const { id: group } = await prisma.serviceGroup.findFirstOrThrow({ where })
  return { acme, editor, where, names, ids: { a, b, c }, group }
}

describe('services', () => {
  test('are moved one place with a button, and to any place by their order', async () => {
    const { editor, names, ids } = await withServices()
    expect((await editor.post('services/order', { up: ids.c })).location).toContain('/services?page=1')
    expect(await names()).toEqual(['A', 'C', 'B'])
    await editor.post('services/order', { down: ids.b, ids: [ids.a, ids.c, ids.b] })
    expect(await names()).toEqual(['A', 'C', 'B'])
    await editor.post('services/order', { ids: [ids.b, ids.a, ids.c] })
    expect(await names()).toEqual(['B', 'A', 'C'])
  })

  test('move within their group', async () => {
    const { editor, names, ids, group } = await withServices()
    const edit = { name: 'B', description: '', groupId: group, statusOverride: '', version: '1' }
    expect((await editor.post(`services/${ids.b}`, edit)).status).toBe(303)
    await editor.post('services/order', { up: ids.c })
    expect(await names()).toEqual(['C', 'B', 'A'])
    const { html } = await editor.get('services')
    expect(html.indexOf('>C<')).toBeLessThan(html.indexOf('>A<'))
    expect(html.indexOf('>Group<')).toBeLessThan(html.indexOf('>B<'))
  })

  test('have a manual status until it is cleared', async () => {
    const { editor, ids } = await withServices()
    const edit = { name: 'A', description: 'First.', groupId: '', statusOverride: 'PARTIAL_OUTAGE', version: '1' }
    await editor.post(`services/${ids.a}`, edit)
    expect((await editor.get('services')).html).toContain('Partial outage')
    await editor.post(`services/${ids.a}`, { ...edit, statusOverride: '', version: '2' })
    expect((await editor.get('services')).html).not.toContain('Partial outage')
  })

  test('are created with the status that the form proposes, or with none yet', async () => {
    const { editor, where, ids } = await withServices()
    const { html } = await editor.get('services/new')
    const [field = ''] = /<select[^>]*name="status".*?<\/select>/s.exec(html) ?? []
    const choices = [...field.matchAll(/<option value="([A-Z_]*)"( selected[^>]*)?>/g)]
    expect(choices.map(([, value, selected]) => [value, selected !== undefined])).toEqual([
      ['OPERATIONAL', true],
      ['DEGRADED_PERFORMANCE', false],
      ['PARTIAL_OUTAGE', false],
      ['MAJOR_OUTAGE', false],
      ['UNDER_MAINTENANCE', false],
      ['', false],
    ])
    await editor.post('services/new', { name: 'Stated', description: '', status: 'OPERATIONAL' })
    await editor.post('services/new', { name: 'Open', description: '', status: '' })
    const found = async (name: string) => prisma.service.findFirstOrThrow({ where: { ...where, name } })
    expect(await found('Stated')).toMatchObject({ statedAt: expect.any(Date), statusOverride: null })
    expect(await found('Open')).toMatchObject({ statedAt: null, statusOverride: null })
    const list = (await editor.get('services')).html
    expect(list.match(/No status yet/g)).toHaveLength(4)
    expect(list).toContain('Operational, by hand')
    expect(list).not.toContain('Waiting for first result')
    // The form of a service without a status offers to state one; operational does not hide later incidents.
    const form = (await editor.get(`services/${ids.a}`)).html
    expect([form.includes('name="status"'), form.includes('name="statusOverride"')]).toEqual([true, false])
    await editor.post(`services/${ids.a}`, { name: 'A', description: 'Still none.', status: '', version: '1' })
    expect(await found('A')).toMatchObject({ statedAt: null, description: 'Still none.' })
    await editor.post(`services/${ids.a}`, { name: 'A', description: '', status: 'OPERATIONAL', version: '2' })
    expect(await found('A')).toMatchObject({ statedAt: expect.any(Date), statusOverride: null })
    const later = (await editor.get(`services/${ids.a}`)).html
    expect([later.includes('name="status"'), later.includes('name="statusOverride"')]).toEqual([false, true])
    const refused = await editor.post('services/new', { name: 'Odd', description: '', status: 'UNKNOWN' })
    expect([refused.status, refused.html.includes('value="Odd"')]).toEqual([422, true])
  })

  test('show what another editor saved beside the input', async () => {
    const { editor, ids } = await withServices()
    const edit = { name: 'Alpha', description: '', statusOverride: '', version: '1' }
    await editor.post(`services/${ids.a}`, edit)
    const { status, html } = await editor.post(`services/${ids.a}`, { ...edit, name: 'Aleph' })
    expect(status).toBe(422)
    expect(html).toContain('Now: Alpha')
    expect(html).toContain('value="Aleph"')
    expect(html).toContain('name="version" value="2"')
  })

  test('are deleted on a page that lists what is deleted with them', async () => {
    const { editor, ids } = await withServices()
    const incident = { title: 'Broken', status: 'INVESTIGATING', impact: 'MINOR', message: 'So it is.' }
    await editor.post('incidents/new', { ...incident, [`services.${ids.a}`]: 'MAJOR_OUTAGE' })
    expect((await editor.get(`services/${ids.a}/delete`)).html).toContain('1 incident will stay without it.')
    expect((await editor.post(`services/${ids.a}/delete`, {})).status).toBe(303)
    expect((await editor.get(`services/${ids.a}`)).status).toBe(404)
  })

  test('stay when their group is deleted', async () => {
    const { editor, names, ids, group } = await withServices()
    await editor.post(`services/${ids.a}`, { name: 'A', groupId: group, version: '1' })
    expect((await editor.get(`services/groups/${group}/delete`)).html).toContain('Its service stays on the page')
    await editor.post(`services/groups/${group}/delete`, {})
    expect(await names()).toEqual(['A', 'B', 'C'])
  })

  test('are ordered, updated and seen by members only, and updated by editors only', async () => {
    const { acme, editor, names, ids, group } = await withServices()
    const viewer = await acme.signIn('VIEWER')
    expect((await viewer.get('services')).html).not.toContain('<button type="submit" class="quiet"')
    for (const [path, fields] of [
      ['services/order', { up: ids.b }],
      [`services/${ids.a}`, { name: 'Taken', version: '1' }],
      [`services/${ids.a}/delete`, {}],
      [`services/groups/${group}`, { name: 'Taken' }],
    ] as const)
      expect([path, (await viewer.post(path, fields)).status]).toEqual([path, 422])
    const stranger = await (await organization(`strangers-${made}`)).signIn('OWNER')
    for (const path of [`services/${ids.a}`, `services/${ids.a}/delete`, `services/groups/${group}`])
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404])
    expect((await stranger.post('services/order', { ids: [ids.b, ids.a] })).status).toBe(303)
    expect([await names(), (await editor.get(`services/${ids.a}`)).status]).toEqual([['A', 'B', 'C'], 200])
  })

  test('are shown and can be selected for pages when there are a thousand', async () => {
    const { editor, where, names } = await withServices()
    const numbers = Array.from({ length: 997 }, (_, number) => number)
    await prisma.service.createMany({
      data: numbers.map((number) => ({
        ...where,
        id: `svc_${String(number).padStart(24, '0')}`,
        name: `Service ${number}`,
        position: 10 + number,
        createdAt: new Date(),
      })),
    })
    const { html } = await editor.get('services?page=2')
    expect([html.includes('>Service 46<'), html.includes('>Service 47<'), html.includes('>Service 97<')]).toEqual([
      false,
      true,
      false,
    ])
    const moved = await editor.post('services/order', { up: `svc_${'47'.padStart(24, '0')}`, page: '2' })
    expect(moved.location).toContain('/services?page=2')
    expect((await names()).slice(49, 51)).toEqual(['Service 47', 'Service 46'])
    const incident = { title: 'One of many', status: 'INVESTIGATING', impact: 'MINOR', message: 'Somewhere.' }
    const found = await editor.post('incidents/new', { ...incident, serviceText: 'service 42', find: 'true' })
    expect(found.html).toContain('>Service 425<')
    expect(found.html).toContain('value="One of many"')
    // Names may have up to a hundred characters.
    await prisma.$executeRaw`
      UPDATE "Service" SET name = rpad(name, 100, ' of all the regions') WHERE "organizationId" = ${where.organizationId}`
    for (const path of [
      'services',
      'incidents/new',
      'incidents',
      'maintenance/new',
      'maintenance',
      'monitors/new?kind=TCP',
    ]) {
      const page = await editor.get(path)
      const statements = await fewestStatements(async () => void (await editor.get(path)))
      expect([path, page.html.length < 100_000, page.html.length]).toEqual([path, true, page.html.length])
      expect([path, statements > 2 && statements <= 10, statements]).toEqual([path, true, statements])
    }
  })
})
