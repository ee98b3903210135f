import { expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'
import { mutate } from '../../../support/filled-organization.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')

test('a template fills the incident form, with its services, without a script', async () => {
  const editor = await acme.signIn('EDITOR')
  const { id: api } = await mutate(app.baseUrl, acme.key, 'createService', 'Service', { name: 'API' })
  const words = { title: '{{service}} is down', message: 'Since {{started}}. We look <b>now</b>.', impact: 'CRITICAL' }
  const made = await editor.post('templates/new', { kind: 'INCIDENT', name: 'Outage', ...words, status: 'IDENTIFIED' })
  expect(made.location).toBe('/console/acme/templates')
  const { id } = await database.prisma.template.findFirstOrThrow({ where: { name: 'Outage' } })
  expect((await editor.get('templates')).html).toContain('Outage')
  const unknown = await editor.get(`incidents/new?template=${id}`)
  expect(unknown.html).toContain('value="{{service}} is down"')
  expect(unknown.html).toContain('Still to fill in: {{service}}')
  const typed = {
    title: '',
    message: '',
    status: 'INVESTIGATING',
    impact: 'MINOR',
    [`services.${api}`]: 'MAJOR_OUTAGE',
  }
  const used = await editor.post('incidents/new', { ...typed, use: 'true', templateId: id })
  expect(used.status).toBe(200)
  expect(used.html).toContain('value="API is down"')
  expect(used.html).toContain('We look &lt;b&gt;now&lt;/b&gt;.')
  expect(used.html).toContain('<option value="CRITICAL" selected')
  expect(used.html).toContain('<option value="IDENTIFIED" selected')
  expect(used.html).not.toContain('Still to fill in')
  expect(await database.prisma.incident.count()).toBe(0)
  // Unfilled placeholders are refused, and typed text is kept.
  const open = { ...typed, title: '{{service}} is down', message: 'We look.', templateId: '' }
  const refused = await editor.post('incidents/new', open)
  expect(refused.status).toBe(422)
  expect(refused.html).toContain('Still has the placeholder {{service}} of the template: fill it in.')
  // The Enter key presses the first button of the form; with no template chosen it reports the incident.
  const sent = await editor.post('incidents/new', { ...open, title: 'API is down', use: 'true' })
  expect(sent.location).toMatch(/^\/console\/acme\/incidents\/inc_/)
})

test('templates for updates and maintenance fill their forms, and other kinds have no effect', async () => {
  const editor = await acme.signIn('EDITOR')
  const { id: web } = await mutate(app.baseUrl, acme.key, 'createService', 'Service', { name: 'Web' })
  const incident = await mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', {
    ...{ title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' },
    services: [{ serviceId: web, status: 'DEGRADED_PERFORMANCE' }],
  })
  const update = { kind: 'UPDATE', name: 'Found', message: 'We found why {{service}} is slow.', status: 'IDENTIFIED' }
  const found = await mutate(app.baseUrl, acme.key, 'createTemplate', 'Template', {
    ...update,
    notifySubscribers: false,
  })
  const path = `incidents/${incident.id}/updates`
  const typed = {
    form: 'update',
    status: 'INVESTIGATING',
    message: '',
    version: '1',
    'notifySubscribers.shown': 'true',
  }
  const used = await editor.post(path, { ...typed, notifySubscribers: 'true', use: 'true', templateId: found.id })
  expect(used.html).toContain('We found why Web is slow.')
  expect(used.html).toContain('<option value="IDENTIFIED" selected')
  const disks = {
    kind: 'MAINTENANCE',
    name: 'Disks',
    title: 'New disks',
    message: 'Until {{ends}}.',
    serviceIds: [web],
  }
  const planned = await mutate(app.baseUrl, acme.key, 'createTemplate', 'Template', disks)
  const times = { startsAt: '2999-01-01T02:00', endsAt: '2999-01-01T03:00' }
  const schedule = await editor.post('maintenance/new', { ...times, use: 'true', templateId: planned.id })
  expect(schedule.html).toContain('value="New disks"')
  expect(schedule.html).toContain('Until 1 January 2999 at 03:00.')
  expect(schedule.html).toMatch(new RegExp(`value="${web}"[^>]*checked`))
  const other = await editor.post('incidents/new', { title: 'Mine', use: 'true', templateId: planned.id })
  expect(other.html).toContain('value="Mine"')
  expect((await editor.get('incidents/new?template=tpl_000000000000000000000000')).status).toBe(404)
})

test('templates are edited with their version, deleted after a confirmation, and read-only for viewers', async () => {
  const editor = await acme.signIn('EDITOR')
  const words = { kind: 'INCIDENT', name: 'Mail', message: 'Mail waits.' }
  const { id } = await mutate(app.baseUrl, acme.key, 'createTemplate', 'Template', words)
  const edit = { name: 'Mails', title: '', message: 'Mails wait.', version: '1' }
  expect((await editor.post(`templates/${id}`, edit)).location).toBe('/console/acme/templates')
  const late = await editor.post(`templates/${id}`, { ...edit, message: 'Late.' })
  expect([late.status, late.html.includes('Another person has changed this')]).toEqual([422, true])
  const viewer = await acme.signIn('VIEWER')
  expect((await viewer.get(`templates/${id}`)).html).toContain('Mails wait.')
  expect((await viewer.post(`templates/${id}/delete`, {})).status).toBe(422)
  expect((await editor.post(`templates/${id}/delete`, {})).location).toBe('/console/acme/templates')
  expect((await editor.get(`templates/${id}`)).status).toBe(404)
})

test('the notification choice is stored with a template, and applied to reports, updates and maintenance', async () => {
  const { prisma } = database
  const editor = await acme.signIn('EDITOR')
  const viewer = await acme.signIn('VIEWER')
  // Browsers do not send unchecked boxes.
  const unchecked = { 'notifySubscribers.shown': 'true' }
  const checkbox = /<input[^>]*name="notifySubscribers"[^>]*>/
  const isChecked = (html: string) => checkbox.exec(html)?.[0]?.includes(' checked') ?? expect.unreachable()
  const make = async (kind: string, name: string, fields: Record<string, string>) => {
    await editor.post('templates/new', { kind, name, title: `${name}!`, message: 'As prepared.', ...fields })
    return prisma.template.findFirstOrThrow({ where: { kind: kind as 'INCIDENT', name } })
  }
  for (const kind of ['INCIDENT', 'UPDATE', 'MAINTENANCE']) {
    const notifying = await make(kind, 'Notifying', { ...unchecked, notifySubscribers: 'true' })
    const quiet = await make(kind, 'Quiet', unchecked)
    expect([notifying.notifySubscribers, quiet.notifySubscribers]).toEqual([true, false])
    expect(isChecked((await editor.get(`templates/${notifying.id}`)).html)).toBe(true)
    expect(isChecked((await editor.get(`templates/${quiet.id}`)).html)).toBe(false)
    // Viewers can read it too.
    expect((await viewer.get(`templates/${notifying.id}`)).html).toContain('Subscribers are notified.')
    expect((await viewer.get(`templates/${quiet.id}`)).html).toContain('Subscribers are not notified.')
  }
  const idOf = async (kind: 'INCIDENT' | 'UPDATE' | 'MAINTENANCE', name: string) =>
    (await prisma.template.findFirstOrThrow({ where: { kind, name } })).id
  const newest = () => prisma.event.findFirstOrThrow({ orderBy: { seq: 'desc' }, where: { subjectName: { not: '' } } })
  // The filled-in form is sent as a browser sends it.
  const chosen = (html: string): Record<string, string> => (isChecked(html) ? { notifySubscribers: 'true' } : {})
  const report = { title: 'Slow', message: 'We look.', status: 'INVESTIGATING', impact: 'MINOR' }
  for (const [name, expected] of [
    ['Notifying', true],
    ['Quiet', false],
  ] as const) {
    const opposite: Record<string, string> = expected ? {} : { notifySubscribers: 'true' }
    const incidentTemplate = await idOf('INCIDENT', name)
    const byAddress = await editor.get(`incidents/new?template=${incidentTemplate}`)
    const use = { ...unchecked, ...opposite, use: 'true' }
    const filled = await editor.post('incidents/new', { ...use, templateId: incidentTemplate })
    expect([isChecked(byAddress.html), isChecked(filled.html)]).toEqual([expected, expected])
    const { location } = await editor.post('incidents/new', { ...unchecked, ...report, ...chosen(filled.html) })
    expect(await newest()).toMatchObject({ kind: 'INCIDENT_CREATED', notifySubscribers: expected })
    const path = `${location}/updates`
    const update = { form: 'update', status: 'MONITORING', ...unchecked }
    const posted = await editor.post(path, { ...update, ...use, templateId: await idOf('UPDATE', name) })
    expect(isChecked(posted.html)).toBe(expected)
    await editor.post(path, { ...update, message: 'Better.', ...chosen(posted.html) })
    expect(await newest()).toMatchObject({ kind: 'INCIDENT_UPDATE_POSTED', notifySubscribers: expected })
    const times = { startsAt: '2999-01-01T02:00', endsAt: '2999-01-01T03:00' }
    const schedule = { ...times, ...use, templateId: await idOf('MAINTENANCE', name) }
    const planned = await editor.post('maintenance/new', schedule)
    expect(isChecked(planned.html)).toBe(expected)
    const words = { title: 'Disks', message: 'New ones.', ...times, ...unchecked, ...chosen(planned.html) }
    await editor.post('maintenance/new', words)
    expect(await newest()).toMatchObject({ kind: 'MAINTENANCE_SCHEDULED', notifySubscribers: expected })
  }
})

test('the notification choice can be read and written by GraphQL, and changed alone', async () => {
  const words = { kind: 'INCIDENT', name: 'By key', message: 'We look.' }
  const selection = 'id version notifySubscribers'
  type Made = { readonly id: string; readonly version: number; readonly notifySubscribers: boolean }
  const made = await mutate<Made>(app.baseUrl, acme.key, 'createTemplate', 'Template', words, selection)
  expect(made).toMatchObject({ version: 1, notifySubscribers: true })
  const edit = (notifySubscribers: boolean | null) =>
    mutate<Made>(app.baseUrl, acme.key, 'updateTemplate', 'Template', { id: made.id, notifySubscribers }, selection)
  expect(await edit(false)).toMatchObject({ version: 2, notifySubscribers: false })
  expect(await edit(null)).toMatchObject({ version: 2, notifySubscribers: false })
  expect(await edit(true)).toMatchObject({ version: 3, notifySubscribers: true })
})
