import { request } from 'node:http'
import { expect, test } from 'vitest'
import { testConsole } from '../../support/console.ts'
import { mutate } from '../../support/filled-organization.ts'
import { png, textFile } from '../../support/pictures.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const [acme, other] = [await organization('acme'), await organization('other')]
const story = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
const incidentOf = (more: object = {}) =>
  mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...story, title: 'Down', ...more })
const { id } = await incidentOf()
const { id: updateId } = await prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: id } })
const path = `/api/v1/incidents/${id}/files`
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

function formOf(content: Uint8Array<ArrayBuffer>, name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.set(key, value)
  form.set('file', new Blob([content], { type: 'image/png' }), name)
  return form
}

async function upload(body: BodyInit, key = acme.key, at = path) {
  const response = await fetch(app.baseUrl + at, { method: 'POST', body, headers: bearer(key) })
  return {
    status: response.status,
    ...((await response.json()) as { file?: Record<string, unknown>; error?: unknown }),
  }
}

const get = (at: string, headers: Record<string, string> = {}) => fetch(app.baseUrl + at, { headers })

test('the file of an update is on its page at once, until it is deleted', async () => {
  const alt = 'Errors rise at noon.'
  const { status, file } = await upload(formOf(png(40, 20), 'C:\\Graph ü.png', { alt, update_id: updateId }))
  expect(status).toBe(201)
  expect(file).toMatchObject({
    ...{ incident_id: id, update_id: updateId, note_id: null, name: 'Graph ü.png', type: 'image/png', size: 33, alt },
    url: `${app.baseUrl}${path}/${file?.['id']}`,
  })
  const shown = `/status/acme/files/${file?.['id']}`
  const page = await (await get(`/status/acme/incidents/${id}`)).text()
  expect(page).toContain(`<img src="${shown}" alt="${alt}" width="40" height="20" loading="lazy"`)
  expect(await (await get('/status/acme')).text()).toContain(shown)
  for (const feed of ['atom', 'rss'])
    expect(await (await get(`/status/acme/history.${feed}`)).text()).toContain(`${app.baseUrl}${shown}`)
  const picture = await get(shown)
  expect(new Uint8Array(await picture.arrayBuffer())).toEqual(png(40, 20))
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': `inline; filename="Graph u_.png"; filename*=UTF-8''Graph%20%C3%BC.png`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': expect.stringMatching(/^public, max-age=0/),
  })
  const etag = picture.headers.get('etag') ?? ''
  expect((await get(shown, { 'if-none-match': etag })).status).toBe(304)
  expect((await get(shown.replace('acme', 'other'))).status).toBe(404)
  const query = `{ node(id: "${updateId}") { ... on IncidentUpdate { files { id path width url } } } }`
  const asked = await fetch(`${app.baseUrl}/graphql?query=${encodeURIComponent(query)}`)
  expect(await asked.json()).toMatchObject({
    data: { node: { files: [{ id: file?.['id'], path: `/files/${file?.['id']}`, width: 40 }] } },
  })
  const remove = `mutation { deleteIncidentFile(id: "${file?.['id']}") { __typename } }`
  const headers = { 'content-type': 'application/json', ...bearer(acme.key) }
  await fetch(`${app.baseUrl}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: remove }) })
  expect((await get(shown, { 'if-none-match': etag })).status).toBe(404)
  expect(await (await get(`/status/acme/incidents/${id}`)).text()).not.toContain(shown)
})

test('files for members require a key of the organization', async () => {
  const { file } = await upload(formOf(textFile('<script>alert(1)</script>'), 'page.html'))
  const at = `${path}/${file?.['id']}`
  expect((await get(`/status/acme/files/${file?.['id']}`)).status).toBe(404)
  expect((await get(at)).status).toBe(401)
  expect((await get(at, bearer(other.key))).status).toBe(404)
  expect((await get(at.replace(id, (await incidentOf()).id), bearer(acme.key))).status).toBe(404)
  const own = await get(at, bearer(acme.key))
  expect(await own.text()).toBe('<script>alert(1)</script>')
  expect(Object.fromEntries(own.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="page.html"/),
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
  })
})

test('a private page guards its files', async () => {
  const { file } = await upload(formOf(textFile('A log.'), 'a.log', { update_id: updateId }))
  const at = `/status/acme/files/${file?.['id']}`
  expect((await get(at)).status).toBe(200)
  const pageId = acme.organization.pageId
  const token = await mutate<{ secret: string }>(
    app.baseUrl,
    acme.key,
    'createPageToken',
    'CreatePageTokenPayload',
    { pageId, name: 'Reader' },
    'secret',
  )
  const access = (input: object) =>
    mutate(app.baseUrl, acme.key, 'updatePageAccess', 'PageAccess', { pageId, ...input }, 'kind')
  await access({ access: { kind: 'MEMBERS' } })
  expect((await get(at)).status).toBe(401)
  const withToken = await get(at, bearer(token.secret))
  expect(withToken.status).toBe(200)
  expect(withToken.headers.get('cache-control')).toBe('private, no-store')
  await access({ access: { kind: 'PUBLIC' } })
  expect((await get(at)).status).toBe(200)
})

test('a file of no incident of the organization is refused', async () => {
  const { key: reader } = await (async () => {
    const made = await mutate<{ secret: string }>(
      app.baseUrl,
      acme.key,
      'createApiKey',
      'CreateApiKeyPayload',
      { name: 'Reader', scope: 'READ' },
      'secret',
    )
    return { key: made.secret }
  })()
  const log = () => formOf(textFile('A log.'), 'a.log')
  expect((await upload(log(), reader)).status).toBe(403)
  expect((await upload(log(), other.key)).status).toBe(404)
  expect((await upload(log(), 'ac_wrong')).status).toBe(401)
  expect((await upload(formOf(png(8, 8), 'a.png'))).error).toMatchObject({
    issues: [{ path: ['files', '0', 'alt'] }],
  })
  expect((await upload(formOf(textFile('x'), 'a', { note_id: 'nte_x' }))).status).toBe(404)
  expect((await upload(formOf(textFile('x'), 'a', { update_id: updateId, note_id: 'nte_x' }))).status).toBe(400)
  expect((await upload(new URLSearchParams({ file: 'x' }))).status).toBe(415)
  expect((await upload(new FormData())).status).toBe(400)
  expect((await upload(formOf(new Uint8Array(5 * 1024 * 1024 + 1), 'a'))).status).toBe(400)
  expect((await upload(formOf(new Uint8Array(6 * 1024 * 1024), 'a'))).status).toBe(413)
  expect((await fetch(app.baseUrl + path, { headers: bearer(acme.key) })).status).toBe(405)
})

test('a file of the largest size is stored and sent whole', async () => {
  const content = new Uint8Array(5 * 1024 * 1024).map((_, index) => index % 251)
  const { file } = await upload(formOf(content, 'a.bin', { update_id: updateId }))
  const sent = await get(`/status/acme/files/${file?.['id']}`)
  expect(Buffer.compare(Buffer.from(await sent.arrayBuffer()), Buffer.from(content))).toBe(0)
})

test('uploads that one organization leaves open keep no other from reporting an incident or uploading', async () => {
  const multipart = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': 2 ** 20 }
  const editor = await acme.signIn('EDITOR')
  const asEditor = { ...multipart, cookie: `allclear_session=${editor.token}`, 'sec-fetch-site': 'same-origin' }
  const notes = `incidents/${id}/notes`
  const refused: number[] = []
  const begin = (at: string, headers: Record<string, string | number>) => {
    const sent = request(app.baseUrl + at, { method: 'POST', headers }).on('error', () => undefined)
    sent.on('response', ({ statusCode = 0 }) => refused.push(statusCode))
    sent.write('-')
    return sent
  }
  // Half of the slots, and one more of each kind.
  const open = [0, 1, 2].flatMap(() => [
    begin(path, { ...multipart, ...bearer(acme.key) }),
    begin(`/console/acme/${notes}`, asEditor),
  ])
  await expect.poll(() => refused).toHaveLength(2)
  const large = () => formOf(new Uint8Array(2 ** 20), 'a.bin')
  const own = () => upload(large()).then(({ status }) => status)
  expect(await own()).toBe(503)
  expect((await editor.post(notes, large())).html).toContain('Too many files are being uploaded')
  expect((await editor.post(notes, { form: 'note', note: 'A note.' })).status).toBe(303)

  const theirs = await mutate(app.baseUrl, other.key, 'createIncident', 'Incident', { ...story, title: 'Theirs' })
  const form = new FormData()
  for (const [name, value] of Object.entries({ status: 'MONITORING', message: 'We watch.' })) form.set(name, value)
  form.set('files.0.content', new Blob([textFile('A log.')]), 'a.log')
  const update = await (await other.signIn('EDITOR')).post(`incidents/${theirs.id}/updates`, form)
  expect([update.status, update.location]).toEqual([303, expect.stringContaining(theirs.id)])

  for (const each of open) each.destroy()
  await expect.poll(own).toBe(201)
})
