import { afterAll, expect, test } from 'vitest'
import { newId } from '../../../../src/core/id.ts'
import { writeMonitors } from '../../../monitoring/histories.ts'
import { testConsole } from '../../../support/console.ts'
import { freePort } from '../../../support/free-port.ts'
import { startReceiver } from '../../../support/receiver.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const editor = await acme.signIn('EDITOR')
const receiver = await startReceiver()
afterAll(() => receiver.close())

test('alerts of another tool arrive at an address that is shown once, and a suggestion is published with one button', async () => {
  const shop = await acme.signIn('EDITOR')
  const made = await shop.post('integrations/new', { kind: 'GENERIC', name: 'Checks', 'rules.status': 'new' })
  const url = /http[^\s<]*\/api\/v1\/integrations\/[0-9a-v]{32}/.exec(made.html)?.[0] ?? ''
  const send = (state: string) =>
    fetch(url, { method: 'POST', body: JSON.stringify({ title: 'Disk <full>', key: 'disk', state }) })
  const { id } = await database.prisma.integration.findFirstOrThrow({ where: { name: 'Checks' } })
  expect((await shop.get(`integrations/${id}`)).html).not.toContain(url)
  expect((await send('firing')).status).toBe(202)
  await expect.poll(async () => (await shop.get('now')).html, { timeout: 20_000 }).toContain('Disk &lt;full&gt;')
  expect((await shop.get(`integrations/${id}`)).html).toContain('Suggested an incident.')
  const { id: bodyId } = await database.prisma.incomingBody.findFirstOrThrow({ where: { integrationId: id } })
  const whole = await shop.get(`integrations/${id}/bodies/${bodyId}`)
  expect(whole.html).toContain('{&quot;title&quot;:&quot;Disk &lt;full&gt;&quot;')
  for (const none of ['ibd_none', `${bodyId}x`])
    expect((await shop.get(`integrations/${id}/bodies/${none}`)).status).toBe(404)
  expect(await (await fetch(`${app.baseUrl}/status/acme`)).text()).not.toContain('Disk')
  const incident = await database.prisma.incident.findFirstOrThrow({ where: { title: 'Disk <full>' } })
  const published = await shop.post(`incidents/${incident.id}/publish`, { notifySubscribers: 'true' })
  expect(published.location).toBe(`/console/acme/incidents/${incident.id}`)
  await expect
    .poll(async () => (await fetch(`${app.baseUrl}/status/acme`)).text(), { timeout: 20_000 })
    .toContain('Disk &lt;full&gt;')
  await shop.post(`incidents/${incident.id}/delete`, {})
  expect((await shop.post(`integrations/${id}/delete`, {})).status).toBe(303)
  expect((await send('firing')).status).toBe(404)
})

test('an integration for any JSON defines the paths of its fields, and a refused form keeps its input', async () => {
  const shop = await acme.signIn('EDITOR')
  const rule = { 'rules.status': 'new', 'rules.labels': 'env=prod', 'rules.serviceId': '', 'rules.impact': 'MAJOR' }
  const given = { kind: 'GENERIC', name: 'Parts', ...rule, 'rules.mode': 'DRAFT' }
  const paths = { 'paths.title': 'alert.name', 'paths.labels': 'alert.tags', 'paths.resolvedValues': 'fine, over' }
  const refused = await shop.post('integrations/new', { ...given, ...paths, 'paths.key': 'not a path' })
  expect(refused).toMatchObject({ status: 422, html: expect.stringContaining('Must be a path, such as alert.title') })
  expect(refused.html).toContain('value="env=prod"')
  expect(refused.html).toContain('value="alert.name"')
  await shop.post('integrations/new', { ...given, ...paths, 'paths.key': '' })
  const { id } = await database.prisma.integration.findFirstOrThrow({ where: { name: 'Parts' } })
  const edited = { ...given, ...paths, 'rules.status': '', version: '1', 'paths.text': 'alert.note' }
  expect((await shop.post(`integrations/${id}`, edited)).status).toBe(303)
  const stored = await database.prisma.integration.findFirstOrThrow({ where: { id } })
  expect(stored.paths).toMatchObject({ title: 'alert.name', text: 'alert.note', resolvedValues: ['fine', 'over'] })
  expect(stored.rules).toMatchObject([{ labels: [{ name: 'env', value: 'prod' }], impact: 'MAJOR', mode: 'DRAFT' }])
  expect((await shop.get(`integrations/${id}`)).html).toMatch(/<details open[\s\S]*value="alert.tags"/)
})

test('a channel is created, tested, notified of an outage, acknowledged by its link, and deleted, without a script', async () => {
  expect((await editor.get('alerts')).html).toContain('No one is alerted yet')
  expect((await editor.get('alerts/channels/new')).html).toContain('?kind=pagerduty')
  expect((await editor.get('alerts/channels/new?kind=webhook')).html).toContain('name="webhook.url"')
  const refused = await editor.post('alerts/channels/new', { kind: 'webhook', name: 'Hook', 'webhook.url': 'ftp://x' })
  expect(refused).toMatchObject({ status: 422, html: expect.stringContaining('Must be an http:// or https:// URL.') })

  const fields = {
    kind: 'webhook',
    name: 'Hook',
    'webhook.url': `${receiver.url}/secret-path`,
    remindAfterMinutes: '5',
  }
  const created = await editor.post('alerts/channels/new', fields)
  expect(created.location).toMatch(/^\/console\/acme\/alerts\/channels\/alc_/)
  const path = created.location ?? ''
  const page = await editor.get(path)
  expect(page.html).toContain('whsec_')
  expect(page.html).not.toContain('secret-path')

  receiver.answer = () => ({
    status: 418,
    headers: { 'content-type': 'text/plain' },
    body: 'I am a <teapot> secret-path',
  })
  const tested = await editor.post(`${path}/test`, { test: 'true' })
  expect(tested.html).toContain('Answered with status 418.')
  expect(tested.html).toContain('I am a &lt;teapot&gt; •••')
  receiver.answer = () => ({ status: 200 })

  const tcp = { host: '127.0.0.1', port: await freePort() }
  await mutateAs(editor, { name: 'Database', failureThreshold: 1, intervalSeconds: 60, probe: { tcp } })
  const [down] = await receiver.arrived(1, ({ body }) => JSON.parse(body).type === 'monitor.down')
  const { acknowledge_url: url } = JSON.parse(down?.body ?? '').data
  expect((await editor.get('alerts')).html).toMatch(/Down: Database[\s\S]*Acknowledge/)

  const scanners = { 'sec-purpose': 'prefetch;prerender', purpose: 'prefetch', 'x-moz': 'prefetch' }
  for (const headers of [{}, scanners]) {
    for (const method of ['GET', 'HEAD']) expect((await fetch(url, { method, headers })).status).toBe(200)
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'DELETE'])
      expect((await fetch(url, { method, headers })).status).not.toBe(200)
  }
  expect(await (await fetch(url)).text()).toContain('Acknowledge this alert?')
  const acknowledged = await (await fetch(url, { method: 'POST' })).text()
  expect(acknowledged).toContain('acknowledged by the link sent to Hook')
  expect(acknowledged).not.toContain('<button')
  expect((await fetch(`${app.baseUrl}/alerts/${'a'.repeat(43)}`)).status).toBe(404)
  expect((await editor.get('alerts')).html).toContain('acknowledged by the link sent to Hook')

  const edited = await editor.post(path, { name: 'Renamed', version: '1', 'when.shown': 'true', when: ['DOWN', 'UP'] })
  expect(edited.status).toBe(303)
  expect((await editor.get('alerts')).html).toContain('Renamed')
  expect((await editor.post(`${path}/delete`, {})).status).toBe(303)
  expect((await editor.get(path)).status).toBe(404)
})

test('with more monitors and alerts than a screen shows, the selection is kept, and the rest is mentioned', async () => {
  const many = await organization('many')
  const owner = await many.signIn('EDITOR')
  const { prisma } = database
  const now = new Date()
  const past = { organizationId: many.organization.id, states: [['DOWN', now]] as const, lastKnownAt: now }
  const ids = await writeMonitors(prisma, Array<typeof past>(130).fill(past))
  const last = ids.toSorted().at(-1) ?? ''
  const channel = await owner.post('alerts/channels/new', { kind: 'ntfy', name: 'Phone', 'ntfy.topic': 'acme-alerts' })
  const path = channel.location ?? ''
  await prisma.alertChannel.updateMany({
    where: { organizationId: many.organization.id },
    data: { monitorIds: [last] },
  })
  const form = (await owner.get(path)).html
  expect(form).toContain('Only the first 50 are offered.')
  expect(form).toContain(`value="${last}" checked`)
  const edited = { name: 'Phone', version: '1', 'monitorIds.shown': 'true', monitorIds: [last] }
  expect((await owner.post(path, edited)).status).toBe(303)
  const stored = await prisma.alertChannel.findFirstOrThrow({ where: { organizationId: many.organization.id } })
  expect(stored.monitorIds).toEqual([last])

  const about = {
    organizationId: many.organization.id,
    change: 'DOWN',
    state: 'DOWN',
    message: 'Refused.',
    since: now,
  } as const
  await prisma.alert.createMany({
    data: ids.map((subjectId) => ({ ...about, id: newId('Alert'), subjectId, subjectName: 'Site', openedAt: now })),
  })
  const { html } = await owner.get('alerts')
  expect(html.match(/>Down: Site</g)).toHaveLength(50)
  expect(html).toContain('These are the newest 50.')
})

async function mutateAs(person: typeof editor, input: object): Promise<void> {
  const query =
    'mutation ($input: CreateMonitorInput!) { createMonitor(input: $input) { ... on Monitor { id } ... on Error { message } } }'
  const { data } = await person.graphql(query, { input })
  expect(data).toMatchObject({ createMonitor: { id: expect.any(String) } })
}
