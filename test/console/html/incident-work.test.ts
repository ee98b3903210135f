import { expect, test } from 'vitest'
import { newId } from '../../../src/core/id.ts'
import { SECOND } from '../../../src/core/time.ts'
import { testConsole } from '../../support/console.ts'
import { mutate } from '../../support/filled-organization.ts'
import { post } from '../../support/graphql-client.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const { id: organizationId } = acme.organization

const incidentOf = (title: string) =>
  mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', {
    ...{ title, status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.', services: [] },
  })

const asked = async (query: string, key?: string) => JSON.stringify(await post(app.baseUrl, { query, key }))

/** Returns what visitors can read of an incident, at each public address. */
async function publicTexts(id: string): Promise<string> {
  const paths = ['', `/incidents/${id}`, '/history', '/history.atom', '/history.rss', '/api/v2/incidents.json']
  const pages = paths.map(async (path) => (await fetch(`${app.baseUrl}/status/acme${path}`)).text())
  const fields =
    'id notes { nodes { message } } lead { name } alertedChannels { name } updates { nodes { notified { notified } } }'
  pages.push(asked(`{ node(id: "${id}") { ... on Incident { ${fields} } } }`))
  return (await Promise.all(pages)).join('\n')
}

const timesOfChange = (texts: string) => texts.match(/"updated_at":"[^"]+"|<updated>[^<]+|<lastBuildDate>[^<]+/g)

test('notes are written, edited and deleted in the timeline, and appear at no public address', async () => {
  const [ana, ben, viewer] = [await acme.signIn('EDITOR'), await acme.signIn('EDITOR'), await acme.signIn('VIEWER')]
  const { id } = await incidentOf('All is down')
  const before = await publicTexts(id)
  const path = `incidents/${id}/notes`
  expect((await ana.post(path, { note: ' ', form: 'note' })).status).toBe(422)
  expect((await ana.post(path, { note: 'The **s3cret** disk.' })).location).toBe(`/console/acme/incidents/${id}`)
  const { id: noteId } = await prisma.incidentNote.findFirstOrThrow({ where: { incidentId: id } })
  const { html } = await viewer.get(`incidents/${id}`)
  expect(html).toMatch(/Private note<\/strong>[\s\S]*<strong>s3cret<\/strong>/)
  expect(html).not.toContain(`${noteId}/delete`)
  expect((await ben.get(`incidents/${id}`)).html).not.toContain(`${noteId}/delete`)
  expect((await ana.get(`incidents/${id}`)).html).toContain(`${noteId}/delete`)
  expect((await ben.post(`${path}/${noteId}`, { message: 'Mine.' })).status).toBe(422)
  await ana.post(`incidents/${id}/lead`, { userId: ana.userId })
  expect((await viewer.get(`incidents/${id}`)).html).toContain('Led by Person')
  const after = await publicTexts(id)
  expect(after).not.toContain('s3cret')
  expect(after).not.toContain('Person')
  expect(timesOfChange(after)).toEqual(timesOfChange(before))
  // The same for members; there must be no errors.
  const query = `{ node(id: "${id}") { ... on Incident { notes { nodes { message authorName } } lead { userId } } } }`
  expect(await asked(query, acme.key)).toContain('s3cret')
  expect(await asked(query, acme.key)).toContain(ana.userId)
  expect((await ana.post(`${path}/${noteId}`, { message: 'Edited.', version: '1' })).location).toMatch(/incidents/)
  expect((await ana.post(`${path}/${noteId}`, { message: 'Outdated.', version: '1' })).status).toBe(422)
  expect((await ana.get(`${path}/${noteId}/delete`)).html).toContain('Delete this note?')
  await ana.post(`${path}/${noteId}/delete`, {})
  expect((await ana.get(`incidents/${id}`)).html).not.toContain('Edited.')
  expect((await viewer.get('now')).html).toMatch(/Led by [^<]* · last update by /)
  await ana.post(`incidents/${id}/lead`, { userId: '' })
  expect((await viewer.get('now')).html).toContain('It has no lead · last update by ')
  expect((await viewer.get(`incidents/${id}`)).html).toContain('It has no lead.')
})

test('members see who was notified of an update, including alert channels, and no one else does', async () => {
  const [viewer, { id }] = [await acme.signIn('VIEWER'), await incidentOf('Notified')]
  const { seq, at } = await prisma.event.findFirstOrThrow({ where: { organizationId, subjectId: id } })
  const statuses = ['DELIVERED', 'DELIVERED', 'FAILED', 'PENDING'] as const
  for (const [nth, status] of statuses.entries()) {
    const own = { id: newId('Subscriber'), organizationId, channel: 'EMAIL', createdAt: at } as const
    const address = { address: `${nth}@b.example`, addressHash: `${nth}`, label: `${nth}`, destination: 'b.example' }
    const secret = { tokenHash: `${id}-${nth}`, token: '' }
    const common = { organizationId, channel: 'EMAIL', subjectId: id, destination: '', createdAt: at } as const
    const deliveries = { create: { ...common, id: newId('Delivery'), seq, status } }
    const rest = { topics: [], allServices: true, confirmableUntil: at, confirmedAt: at, sinceSeq: seq }
    await prisma.subscriber.create({ data: { ...own, ...address, ...secret, ...rest, deliveries } })
  }
  const monitor = await mutate(app.baseUrl, acme.key, 'createMonitor', 'Monitor', {
    name: 'Backup',
    probe: { heartbeat: {} },
  })
  await prisma.incidentMonitor.create({ data: { incidentId: id, monitorId: monitor.id, joinedAt: at } })
  const channels = ['Night shift', 'Ended before'].map((name) => ({ id: newId('AlertChannel'), name }))
  for (const [nth, channel] of channels.entries()) {
    const owned = { organizationId, kind: 'MAIL', address: '', label: '', destination: 'mail', sinceSeq: 0 } as const
    await prisma.alertChannel.create({ data: { ...channel, ...owned, createdAt: at } })
    const alert = {
      organizationId,
      subjectId: monitor.id,
      subjectName: 'Backup',
      change: 'DOWN',
      state: 'DOWN',
    } as const
    const times = { since: at, openedAt: at, endedAt: nth === 0 ? null : new Date(at.getTime() - SECOND) }
    const recipients = { create: { channelId: channel.id, notifiedAt: at, count: 1 } }
    await prisma.alert.create({ data: { ...alert, ...times, id: newId('Alert'), message: '', recipients } })
  }
  const { html } = await viewer.get(`incidents/${id}`)
  expect(html).toContain('4 by Mail (2 delivered, 1 failed, 1 on the way)')
  expect(html).toContain('Team alerted: Night shift<')
  const fields = 'alertedChannels { name kind } updates { nodes { notified { channel notified delivered failed } } }'
  const query = `{ node(id: "${id}") { ... on Incident { ${fields} } } }`
  expect(JSON.parse(await asked(query, acme.key))).toMatchObject({
    data: {
      node: {
        alertedChannels: [{ name: 'Night shift', kind: 'MAIL' }],
        updates: { nodes: [{ notified: [{ channel: 'EMAIL', notified: 4, delivered: 2, failed: 1 }] }] },
      },
    },
  })
  const visited = await publicTexts(id)
  expect(visited).not.toContain('Night shift')
  expect(visited).not.toContain('"notified":4')
})

test('a service moves to another incident with a form, which describes what is wrong', async () => {
  const [editor, viewer] = [await acme.signIn('EDITOR'), await acme.signIn('VIEWER')]
  const service = await mutate(app.baseUrl, acme.key, 'createService', 'Service', { name: 'Search' })
  const services = [{ serviceId: service.id, status: 'MAJOR_OUTAGE' }]
  const story = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
  const from = await mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...story, title: 'From', services })
  const into = await mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...story, title: 'Into' })
  const path = `incidents/${from.id}/move`
  expect((await editor.get(`incidents/${from.id}`)).html).toContain(path)
  expect((await viewer.get(`incidents/${from.id}`)).html).not.toContain(path)
  expect((await editor.get(path)).html).toMatch(/Search: Major outage[\s\S]*Into/)
  expect((await editor.get(`incidents/${into.id}/move`)).html).toContain('It does not impair any service.')
  const given = { serviceId: service.id, intoId: into.id, 'notifySubscribers.shown': 'true' }
  const early = await editor.post(path, { ...given, at: '2020-01-01T00:00', message: 'Typed.' })
  expect(early.status).toBe(422)
  expect(early.html).toMatch(/Must be after the start and the newest update[\s\S]*Typed\./)
  expect((await viewer.post(path, given)).status).toBe(422)
  const moved = await editor.post(path, { ...given, at: '', message: 'Search is part of **this**.' })
  expect(moved.location).toBe(`/console/acme/incidents/${into.id}`)
  const page = await (await fetch(`${app.baseUrl}/status/acme/incidents/${into.id}`)).text()
  expect(page).toMatch(/Search is part of <strong>this<\/strong>/)
  expect((await editor.get(`incidents/${from.id}/move`)).html).toContain('It does not impair any service.')
})

test('a service moves from a draft to any open incident, and from a public one to public ones only', async () => {
  const editor = await acme.signIn('EDITOR')
  const service = await mutate(app.baseUrl, acme.key, 'createService', 'Service', { name: 'Index' })
  const services = [{ serviceId: service.id, status: 'MAJOR_OUTAGE' }]
  const story = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
  const report = (title: string, more: object) =>
    mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...story, title, ...more })
  const draft = await report('Unsaid', { services, visibility: 'DRAFT' })
  const other = await report('Also unsaid', { visibility: 'DRAFT' })
  const open = await report('Said', {})
  expect((await editor.get(`incidents/${draft.id}`)).html).toContain(`incidents/${draft.id}/move`)
  const { html } = await editor.get(`incidents/${draft.id}/move`)
  expect(html).toMatch(/the service is removed from it[\s\S]*Also unsaid, draft[\s\S]*newest update of the other/)
  expect(html).toContain(open.id)
  const moved = await editor.post(`incidents/${draft.id}/move`, { serviceId: service.id, intoId: open.id })
  expect(moved.location).toBe(`/console/acme/incidents/${open.id}`)
  expect((await editor.get(`incidents/${draft.id}`)).html).not.toContain('id="affected"')
  // Moving it to the draft would make the page show the service as operational.
  expect((await editor.get(`incidents/${open.id}/move`)).html).not.toContain(other.id)
  const back = await editor.post(`incidents/${open.id}/move`, { serviceId: service.id, intoId: other.id })
  expect(back.status).toBe(422)
  expect(back.html).toContain('Publish the other incident first')
})
