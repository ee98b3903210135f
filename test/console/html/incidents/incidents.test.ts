// @slow
import { beforeAll, describe, expect, test } from 'vitest'
import { ROWS_PER_PAGE } from '../../../../src/console/html/frame/paging.tsx'
import type { Browser, ConsolePage } from '../../../support/console.ts'
import { testConsole } from '../../../support/console.ts'
import { repeatedIds } from '../../../support/markup.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { database, organization } = await testConsole()
const acme = await organization('incidents')
const other = await organization('elsewhere')
const editor = await acme.signIn('EDITOR')
const viewer = await acme.signIn('VIEWER')
const { prisma } = database

await prisma.organization.update({ where: { id: acme.organization.id }, data: { timeZone: 'Europe/Berlin' } })

/** Adds a service; returns its id. */
async function addService(name: string): Promise<string> {
  await editor.post('services/new', { name, description: '' })
  const { id } = await prisma.service.findFirstOrThrow({ where: { name, organizationId: acme.organization.id } })
  return id
}

/** The fields of the form for a new incident. */
const fields = { title: 'Slow answers', status: 'INVESTIGATING', impact: 'MINOR', message: 'We are **looking**.' }

/** Reports an incident; returns its id. */
async function report(by: Browser = editor, more: Record<string, string> = {}): Promise<string> {
  const { status, location } = await by.post('incidents/new', { ...fields, ...more })
  expect(status).toBe(303)
  return location?.split('/').at(-1) ?? ''
}

const versionIn = ({ html }: ConsolePage) => /name="version" value="(\d+)"/.exec(html)?.[1] ?? ''
/** The value of a field. */
const fieldValue = ({ html }: ConsolePage, name: string) =>
  /value="([^"]*)"/.exec(
    /<input[^>]*>/g.exec(html.slice(html.lastIndexOf('<', html.indexOf(`id="${name}"`))))?.[0] ?? '',
  )?.[1] ?? ''
const incidentOf = (id: string) =>
  prisma.incident.findUniqueOrThrow({
    where: { id },
    include: { services: true, updates: { orderBy: { createdAt: 'desc' } } },
  })

describe('the composer', () => {
  let serviceId = ''
  beforeAll(async () => {
    serviceId = await addService('API')
  })

  test('reports an incident that affects a service', async () => {
    const id = await report(editor, { [`services.${serviceId}`]: 'PARTIAL_OUTAGE' })
    const { title, services } = await incidentOf(id)
    expect([title, services[0]?.status]).toEqual(['Slow answers', 'PARTIAL_OUTAGE'])
    const { html } = await editor.get(`incidents/${id}`)
    expect(html).toContain('We are <strong>looking</strong>.')
    expect(html).toMatch(/Person \d+ · <time/)
  })

  test('preselects only the service that its author came from, and says beside each what the page shows now', async () => {
    const [search, mail, wiki] = [await addService('Search'), await addService('Mail'), await addService('Wiki')]
    await prisma.service.updateMany({ where: { id: { in: [search, mail] } }, data: { statusOverride: 'MAJOR_OUTAGE' } })
    const other = await report(editor, { title: 'Wiki is slow', [`services.${wiki}`]: 'DEGRADED_PERFORMANCE' })
    const from = async (query: string) => {
      const { html } = await editor.get(`incidents/new${query}`)
      const chosen = [...html.matchAll(/<select id="services\.([^"]+)"[^>]*>(.*?)<\/select>/gs)]
      return {
        html,
        selected: chosen.flatMap(([, id, options]) =>
          [...(options ?? '').matchAll(/value="([A-Z_]+)" selected/g)].map(([, status]) => [id, status]),
        ),
      }
    }
    expect((await from('')).selected).toEqual([])
    const came = await from(`?service=${search}`)
    expect(came.selected).toEqual([[search, 'MAJOR_OUTAGE']])
    expect(came.html).toMatch(/Will be published for:<\/p><ul><li>Search: Major outage<\/li><\/ul>/)
    expect(came.html).toContain('Shown now: Degraded performance, in the open incident “Wiki is slow”')
    expect((await from(`?service=${other}`)).selected).toEqual([])
    const foreign = await prisma.monitor.findFirst({ where: { organizationId: { not: acme.organization.id } } })
    expect((await from(`?monitor=${foreign?.id ?? 'mon_none'}`)).selected).toEqual([])
    const { html: watched } = await editor.post('start', { target: 'https://wiki.example.com/' })
    expect(watched).not.toContain('problem')
    const monitor = await prisma.monitor.findFirstOrThrow({ where: { name: 'wiki.example.com' } })
    const statusOverride = 'PARTIAL_OUTAGE'
    await prisma.service.update({ where: { id: monitor.serviceId ?? '' }, data: { statusOverride } })
    expect((await from(`?monitor=${monitor.id}`)).selected).toEqual([[monitor.serviceId, 'PARTIAL_OUTAGE']])
    await prisma.monitor.delete({ where: { id: monitor.id } })
    await prisma.service.delete({ where: { id: monitor.serviceId ?? '' } })
    // The other doors to the form name the service that they are about.
    expect((await editor.get(`services/${search}`)).html).toContain(`incidents/new?service=${search}"`)
    expect((await editor.get('now')).html).toContain(`incidents/new?service=${search}"`)
    const asked = { ...fields, preview: 'true', [`services.${wiki}`]: 'PARTIAL_OUTAGE' }
    const { html } = await editor.post(`incidents/new?service=${search}`, asked)
    expect(html).toMatch(/Will be published for:<\/p><ul><li>Wiki: Partial outage<\/li><\/ul>/)
    await prisma.service.deleteMany({ where: { id: { in: [search, mail, wiki] } } })
  })

  test('has the impact of its worst service, unless its author chooses another one', async () => {
    const { html } = await editor.get('incidents/new')
    expect(html).toContain('<option value="" selected="">Follows the services</option>')
    expect(html).toContain('From the services: <b>Minor impact</b>')
    const other = await addService('Impact')
    const services = { [`services.${serviceId}`]: 'DEGRADED_PERFORMANCE', [`services.${other}`]: 'MAJOR_OUTAGE' }
    const impactOf = async (more: Record<string, string>) =>
      (await prisma.incident.findUniqueOrThrow({ where: { id: await report(editor, more) } })).impact
    expect(await impactOf({ impact: '', ...services })).toBe('CRITICAL')
    expect(await impactOf({ impact: 'NONE', ...services })).toBe('NONE')
    expect(await impactOf({ impact: '' })).toBe('MINOR')
    const asked = await editor.post('incidents/new', { ...fields, impact: '', ...services, preview: 'true' })
    expect(asked.html).toContain('From the services: <b>Critical impact</b>')
    expect((await editor.post('incidents/new', { ...fields, impact: 'HUGE' })).status).toBe(422)
    await prisma.service.delete({ where: { id: other } })
  })

  test('a draft says on the screen Now which services it will name', async () => {
    await report(editor, { title: 'A draft', visibility: 'DRAFT', [`services.${serviceId}`]: 'PARTIAL_OUTAGE' })
    expect((await editor.get('now')).html).toMatch(/Will be published for API: Partial outage/)
  })

  test('offers the other languages of the page, collapsed, and keeps their input', async () => {
    const { html } = await editor.get('incidents/new')
    expect(html).toContain('<summary>In other languages</summary>')
    expect(html).toContain('<summary lang="de">Deutsch</summary>')
    expect(html).not.toContain('<summary lang="en">')
    expect(html).not.toMatch(/<details class="translations" open/)
    const german = {
      'translations.0.language': 'DE',
      'translations.0.title': 'Langsam',
      'translations.0.message': 'Wir **suchen**.',
      'translations.1.language': 'FR',
      'translations.1.title': '',
      'translations.1.message': '',
    }
    const refused = await editor.post('incidents/new', {
      ...fields,
      ...german,
      'translations.0.title': 'x'.repeat(201),
    })
    expect(refused.status).toBe(422)
    expect(refused.html).toMatch(/<details class="translations" open="">/)
    expect(refused.html).toMatch(/id="translations\.0\.title-problem"[^>]*>Must have at most 200 characters\./)
    expect(refused.html).toContain('Wir **suchen**.</textarea>')
    expect(refused.html).toContain('Check the highlighted fields.')
    const long = { ...fields, ...german }
    for (const [index, language] of ['DE', 'FR', 'ES', 'IT', 'NL'].entries()) {
      Object.assign(long, {
        [`translations.${index}.language`]: language,
        [`translations.${index}.message`]: 'x'.repeat(9000),
      })
    }
    expect((await editor.post('incidents/new', long)).html).toContain('The messages must have at most 40000 characters')
    const id = await report(editor, german)
    expect(await incidentOf(id)).toMatchObject({
      titles: { DE: 'Langsam' },
      updates: [{ translations: { DE: { message: 'Wir **suchen**.' } } }],
    })
    const page = await editor.get(`incidents/${id}`)
    expect(page.html).toMatch(/name="translations\.0\.title"[^>]*value="Langsam"/)
    const posted = await editor.post(`incidents/${id}/updates`, {
      ...{ status: 'MONITORING', message: 'Better.', version: versionIn(page), form: 'update' },
      'translations.0.language': 'DE',
      'translations.0.title': '',
      'translations.0.message': 'Besser.',
    })
    expect(posted.status).toBe(303)
    const after = await incidentOf(id)
    expect([after.titles, after.updates[0]?.translations]).toMatchObject([{}, { DE: { message: 'Besser.' } }])
    const address = `incidents/${id}/updates/${after.updates[0]?.id}`
    const edit = await editor.get(address)
    expect(edit.html).toMatch(/<details class="translations" open="">/)
    await editor.post(address, {
      ...{ message: 'Better.', version: versionIn(edit) },
      'translations.0.language': 'DE',
      'translations.0.message': 'Viel besser.',
    })
    expect((await incidentOf(id)).updates[0]).toMatchObject({
      ...{ message: 'Better.', version: 2 },
      translations: { DE: { message: 'Viel besser.', html: '<p>Viel besser.</p>' } },
    })
    const outdated = await editor.post(address, {
      ...{ message: 'Better.', version: versionIn(edit) },
      'translations.0.language': 'DE',
      'translations.0.message': 'Anders.',
    })
    expect(outdated.html).toContain('Now: Viel besser.')
    await editor.post(`incidents/${id}/edit`, {
      ...{ title: 'Slow answers', impact: 'MINOR', version: String(after.version) },
      'translations.0.language': 'DE',
      'translations.0.title': 'Sehr langsam',
    })
    expect((await incidentOf(id)).titles).toEqual({ DE: 'Sehr langsam' })
  })

  test('is resolved with one button in several languages', async () => {
    const id = await report()
    const page = await editor.get(`incidents/${id}`)
    expect(page.html).toContain('<label for="resolve-translations.0.message">Message, Deutsch</label>')
    expect(repeatedIds(page.html)).toEqual([])
    const resolution = {
      form: 'resolve',
      status: 'RESOLVED',
      version: versionIn(page),
      'translations.0.language': 'DE',
    }
    const refused = await editor.post(`incidents/${id}/updates`, {
      ...{ ...resolution, message: 'Over.' },
      'translations.0.message': 'x'.repeat(10_001),
    })
    expect(refused.status).toBe(422)
    expect(refused.html).toMatch(/aria-describedby="resolve-translations\.0\.message-problem"/)
    const blank = await editor.post(`incidents/${id}/updates`, { ...resolution, message: ' ' })
    expect(blank.html).toContain('id="resolve-message-problem">Must not be blank.')
    await editor.post(`incidents/${id}/updates`, {
      ...{ ...resolution, message: 'Over.' },
      'translations.0.message': 'Vorbei.',
    })
    const { status, updates } = await incidentOf(id)
    expect([status, updates[0]?.translations]).toMatchObject(['RESOLVED', { DE: { message: 'Vorbei.' } }])
  })

  test('records past incidents, in the organization’s time zone', async () => {
    const id = await report(editor, {
      status: 'RESOLVED',
      startedAt: '2026-03-29T02:30',
      resolvedAt: '2026-03-29T04:00',
    })
    const { startedAt, resolvedAt } = await incidentOf(id)
    expect([startedAt.toISOString(), resolvedAt?.toISOString()]).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ])
  })

  test('notifies subscribers unless the box is unchecked', async () => {
    const silent = { 'notifySubscribers.shown': 'true' }
    const ids = [
      await report(),
      await report(editor, { ...silent, notifySubscribers: 'true' }),
      await report(editor, silent),
    ]
    const notifies = async (subjectId: string) =>
      (await prisma.event.findMany({ where: { subjectId }, orderBy: { seq: 'asc' } })).map(
        (each) => each.notifySubscribers,
      )
    expect(await Promise.all(ids.map(notifies))).toEqual([[true], [true], [false]])
    const [id = ''] = ids
    const update = { form: 'update', status: 'MONITORING', message: 'Better.' }
    await editor.post(`incidents/${id}/updates`, { ...update, ...silent })
    expect(await notifies(id)).toEqual([true, false])
    expect((await editor.get('log')).html).toMatch(/Incident update posted \(subscribers not notified\)/)
    expect((await editor.get('incidents/new')).html).toMatch(/name="notifySubscribers" value="true" checked=""/)
    const refused = await editor.post('incidents/new', { ...fields, ...silent, title: '' })
    expect(refused.html).not.toMatch(/name="notifySubscribers" value="true" checked/)
  })

  test('previews the message, and saves nothing', async () => {
    const before = await prisma.incident.count()
    const { status, html } = await editor.post('incidents/new', {
      ...fields,
      message: 'A *preview* <script>',
      [`services.${serviceId}`]: 'MAJOR_OUTAGE',
      'translations.0.language': 'DE',
      'translations.0.title': '',
      'translations.0.message': 'Eine *Vorschau* <script>',
      preview: 'true',
    })
    expect(status).toBe(200)
    expect(html).toMatch(/<div lang="de"><h3>Deutsch<\/h3>.*Eine <em>Vorschau<\/em> &lt;script&gt;/s)
    expect(html).toContain('A <em>preview</em> &lt;script&gt;')
    expect(html).toContain('value="Slow answers"')
    expect(html).toMatch(/<option value="MAJOR_OUTAGE" selected="">/)
    expect(await prisma.incident.count()).toBe(before)
  })

  test('shows errors beside its fields, and keeps the input', async () => {
    const { status, html } = await editor.post('incidents/new', { ...fields, title: ' ', startedAt: 'soon' })
    expect(status).toBe(422)
    expect(html).toContain('id="startedAt-problem">Must be a date and a time.')
    const second = await editor.post('incidents/new', { ...fields, title: ' ', startedAt: '2999-01-01T00:00' })
    expect(second.html).toContain('id="title-problem">Must not be blank.')
    expect(second.html).toContain('We are **looking**.</textarea>')
  })

  test('is refused to a viewer, who sees no button either', async () => {
    const { status, html } = await viewer.post('incidents/new', fields)
    expect([status, html.includes('This requires the role EDITOR; yours is VIEWER.')]).toEqual([422, true])
    expect((await viewer.get('incidents')).html).not.toContain('incidents/new')
  })

  test('offers the status of the service that its author came from', async () => {
    const id = await addService('Broken')
    await prisma.service.update({ where: { id }, data: { statusOverride: 'MAJOR_OUTAGE' } })
    const { html } = await editor.get(`incidents/new?service=${id}`)
    const field = html.slice(html.indexOf(`name="services.${id}"`)).split('</select>')[0]
    expect(field).toContain('<option value="MAJOR_OUTAGE" selected="">')
  })
})

describe('an incident', () => {
  test('gets an update with the status of a service', async () => {
    const serviceId = await addService('Search')
    const id = await report(editor, { [`services.${serviceId}`]: 'MAJOR_OUTAGE' })
    const version = versionIn(await editor.get(`incidents/${id}`))
    const { location } = await editor.post(`incidents/${id}/updates`, {
      form: 'update',
      status: 'MONITORING',
      message: 'Better.',
      version,
      [`services.${serviceId}`]: 'DEGRADED_PERFORMANCE',
    })
    expect(location).toBe(`/console/incidents/incidents/${id}`)
    const { status, services } = await incidentOf(id)
    expect([status, services[0]?.status]).toEqual(['MONITORING', 'DEGRADED_PERFORMANCE'])
  })

  test('is resolved with one button and a prepared message', async () => {
    const id = await report()
    const { html } = await editor.get(`incidents/${id}`)
    const form = html.slice(html.indexOf('id="resolve"'))
    const message = /<textarea[^>]*>([^<]*)</.exec(form)?.[1] ?? ''
    await editor.post(`incidents/${id}/updates`, { form: 'resolve', status: 'RESOLVED', message, version: '1' })
    const { status, updates } = await incidentOf(id)
    expect([status, updates[0]?.message]).toEqual(['RESOLVED', 'This incident is resolved.'])
    expect((await editor.get(`incidents/${id}`)).html).not.toContain('id="resolve"')
  })

  test('shows what another person posted in between beside the input, and accepts it when sent again', async () => {
    const id = await report()
    const late = { form: 'update', status: 'IDENTIFIED', message: 'My words.', version: '1' }
    await (await acme.signIn('ADMIN')).post(`incidents/${id}/updates`, {
      ...late,
      status: 'MONITORING',
      message: 'Theirs.',
    })
    const refused = await editor.post(`incidents/${id}/updates`, late)
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('Another person has changed this in the meantime.')
    expect(refused.html).toContain('Now: Monitoring')
    expect(refused.html).toContain('Theirs.')
    expect(refused.html).toContain('My words.</textarea>')
    const again = await editor.post(`incidents/${id}/updates`, { ...late, version: versionIn(refused) })
    expect(again.status).toBe(303)
  })

  test('is edited: title, impact and times', async () => {
    const id = await report()
    const { startedAt } = await incidentOf(id)
    const page = await editor.get(`incidents/${id}/edit`)
    const typed = fieldValue(page, 'startedAt')
    expect(typed).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
    const edit = { title: 'Slower answers', impact: 'MAJOR', startedAt: typed, version: '1' }
    expect((await editor.post(`incidents/${id}/edit`, edit)).status).toBe(303)
    // The form shows minutes; an unchanged time keeps its precision.
    expect(await incidentOf(id)).toMatchObject({ title: 'Slower answers', impact: 'MAJOR', startedAt })
    const refused = await editor.post(`incidents/${id}/edit`, { ...edit, title: 'Another title' })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('Now: Slower answers')
    expect(refused.html).toContain('value="Another title"')
  })

  test('loses single updates, which can be edited too', async () => {
    const id = await report()
    await editor.post(`incidents/${id}/updates`, {
      form: 'update',
      status: 'IDENTIFIED',
      message: 'Wrogn.',
      version: '1',
    })
    const [newest] = (await incidentOf(id)).updates
    const path = `incidents/${id}/updates/${newest?.id}`
    expect((await editor.get(path)).html).toContain('Wrogn.</textarea>')
    await editor.post(path, { message: 'Wrong.', createdAt: '', version: '1' })
    expect((await incidentOf(id)).updates[0]?.message).toBe('Wrong.')
    expect((await editor.post(`${path}/delete`, {})).location).toBe(`/console/incidents/incidents/${id}`)
    expect((await incidentOf(id)).status).toBe('INVESTIGATING')
    const [only] = (await incidentOf(id)).updates
    const kept = await editor.post(`incidents/${id}/updates/${only?.id}/delete`, {})
    expect([kept.status, kept.html.includes('This is the only update.')]).toEqual([422, true])
  })

  test('is deleted on a page that lists what is deleted with it', async () => {
    const id = await report()
    expect((await editor.get(`incidents/${id}/delete`)).html).toContain('Its update is deleted too')
    expect((await editor.post(`incidents/${id}/delete`, {})).location).toBe('/console/incidents/incidents')
    expect((await editor.get(`incidents/${id}`)).status).toBe(404)
  })

  test('of another organization is answered like one that does not exist', async () => {
    const id = await report()
    const [update] = (await incidentOf(id)).updates
    const stranger = await other.signIn('OWNER')
    const missing = `inc_${'0'.repeat(24)}`
    for (const rest of ['', '/edit', '/delete', `/updates/${update?.id}`, `/updates/${update?.id}/delete`]) {
      const [foreign, none] = [
        await stranger.get(`incidents/${id}${rest}`),
        await stranger.get(`incidents/${missing}${rest}`),
      ]
      expect([rest, foreign.status, foreign.html]).toEqual([rest, 404, none.html])
    }
    for (const rest of ['/edit', '/delete', '/updates', `/updates/${update?.id}`, `/updates/${update?.id}/delete`]) {
      const { status } = await stranger.post(`incidents/${id}${rest}`, { ...fields, version: '1' })
      expect([rest, status]).toEqual([rest, 404])
    }
    expect(await incidentOf(id)).toMatchObject({ title: 'Slow answers', version: 1 })
  })
})

describe('the list of incidents', () => {
  test('filters by state, service, days and text', async () => {
    const serviceId = await addService('Archive')
    const past = { status: 'RESOLVED', startedAt: '2025-06-01T00:30', resolvedAt: '2025-06-01T04:00' }
    await report(editor, { ...past, title: 'Old one', [`services.${serviceId}`]: 'MAJOR_OUTAGE' })
    await report(editor, { title: 'New one', message: 'The archive is the cause.' })
    const titles = async (query: string) => {
      const { html } = await editor.get(`incidents?${query}`)
      return [html.includes('>Old one<'), html.includes('>New one<')]
    }
    expect(await titles('state=resolved&from=2025-06-01&to=2025-06-01')).toEqual([true, false])
    expect(await titles('from=2025-05-31&to=2025-05-31')).toEqual([false, false])
    expect(await titles('state=open&text=ARCHIVE')).toEqual([false, true])
    expect(await titles(`serviceId=${serviceId}`)).toEqual([true, false])
    expect(await titles('service=ARCH')).toEqual([true, false])
    expect(await titles('service=%25')).toEqual([false, false])
  })

  test('reports an invalid filter, and keeps it', async () => {
    const { status, html } = await editor.get('incidents?from=2026-02-02&to=2026-01-01&text=words')
    expect(status).toBe(422)
    expect(html).toContain('id="to-problem">Must not be before the first day.')
    expect(html).toContain('value="words"')
    expect((await editor.get('incidents?after=no-cursor')).status).toBe(422)
  })

  test('has pages with few statements and bytes each', async () => {
    const { id: organizationId } = acme.organization
    const numbers = Array.from({ length: 1000 }, (_, number) => number)
    await prisma.incident.createMany({
      data: numbers.map((number) => ({
        id: `inc_${String(number).padStart(24, '0')}`,
        organizationId,
        title: `Incident number ${number}`,
        status: 'RESOLVED',
        impact: 'MINOR',
        startedAt: new Date(Date.UTC(2024, 0, 1) + number * 60_000),
        resolvedAt: new Date(Date.UTC(2024, 0, 3)),
        createdAt: new Date(Date.UTC(2024, 0, 1)),
      })),
    })
    const first = await editor.get('incidents?to=2024-01-02')
    expect(first.html).toContain('Incident number 999')
    const older = /href="([^"]*after=[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await editor.get(older)
    expect(second.html).toContain(`>Incident number ${999 - ROWS_PER_PAGE}<`)
    expect(second.html).toContain('rel="prev"')
    expect(second.html.length).toBeLessThan(100_000)
    const { id } = await prisma.incident.findFirstOrThrow({ where: { organizationId, title: 'New one' } })
    for (const path of ['now', older, 'incidents/new', `incidents/${id}`]) {
      const statements = await fewestStatements(async () => void (await editor.get(path)))
      // Beside the timeline, members see notes, files, the lead and the post-mortem.
      // The screen of current problems reads the leads, and the services that drafts will name.
      const most = path === `incidents/${id}` ? 16 : path === 'now' ? 15 : 10
      expect([path, statements > 2 && statements <= most, statements]).toEqual([path, true, statements])
    }
  })
})
