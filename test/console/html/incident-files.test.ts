import { expect, test } from 'vitest'
import { notificationContent } from '../../../src/notification/content/content.ts'
import { buildNotification } from '../../../src/notification/content/payload.ts'
import { testConsole } from '../../support/console.ts'
import { mutate } from '../../support/filled-organization.ts'
import { png, textFile } from '../../support/pictures.ts'

const owner = {
  ...{ name: 'Acme', slug: 'acme', timeZone: 'UTC', customDomain: null, accentColor: '#000000', logoUrl: null },
}
const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const story = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
const { id } = await mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...story, title: 'Down' })
const [editor, other, viewer] = [await acme.signIn('EDITOR'), await acme.signIn('EDITOR'), await acme.signIn('VIEWER')]

interface Chosen {
  readonly name: string
  readonly content: Uint8Array<ArrayBuffer>
  readonly alt?: string
}

/** A form with files chosen in its first file fields, as a browser sends it. */
function formOf(fields: Record<string, string>, ...files: readonly (Chosen | null)[]): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const place of [0, 1, 2]) {
    const file = files[place] ?? null
    form.set(`files.${place}.content`, new Blob(file ? [file.content] : []), file?.name ?? '')
    form.set(`files.${place}.alt`, file?.alt ?? '')
  }
  return form
}

const log = { name: 'disk.log', content: textFile('Full.') }
const graph = { name: 'graph.png', content: png(40, 20), alt: 'Errors rise.' }
const update = { form: 'update', status: 'IDENTIFIED', message: 'It is the disk.', 'notifySubscribers.shown': 'true' }

test('an update is posted with files, which are on the page, in feeds and in notifications', async () => {
  const { html } = await editor.get(`incidents/${id}`)
  expect(html).toContain('enctype="multipart/form-data"')
  expect(html).toContain('id="note-files.0.content"')
  const posted = await editor.post(`incidents/${id}/updates`, formOf(update, graph, null, log))
  expect(posted.location).toBe(`/console/acme/incidents/${id}`)
  const files = await prisma.incidentFile.findMany({ orderBy: { createdAt: 'asc' } })
  expect(files).toMatchObject([{ name: 'graph.png' }, { name: 'disk.log' }])
  const [picture, text] = files.map((file) => file.id)
  const own = await viewer.get(`incidents/${id}`)
  expect(own.html).toContain(`<img src="/console/acme/incidents/${id}/files/${picture}" alt="Errors rise."`)
  expect(own.html).not.toContain(`${picture}/delete`)
  expect(own.html).not.toContain('Add files')
  const page = await (await fetch(`${app.baseUrl}/status/acme/incidents/${id}`)).text()
  expect(page).toContain(`<img src="/status/acme/files/${picture}" alt="Errors rise."`)
  expect(page).toContain(`<a href="/status/acme/files/${text}" download="disk.log"><bdi>disk.log</bdi></a>`)
  expect(await (await fetch(`${app.baseUrl}/status/acme/de/incidents/${id}`)).text()).toContain('aria-label="Dateien"')
  const event = await prisma.event.findFirstOrThrow({ orderBy: { seq: 'desc' }, where: { subjectId: id } })
  const notification = await buildNotification(prisma, event)
  if (notification === null) return expect.unreachable()
  const content = notificationContent(notification.payload, owner, app.baseUrl, 'EN')
  expect(content.facts).toEqual([
    ['Impact', 'Minor'],
    ['graph.png', `${app.baseUrl}/status/acme/files/${picture}`],
    ['disk.log', `${app.baseUrl}/status/acme/files/${text}`],
  ])
  expect(content.event.data['incident']).toMatchObject({
    files: [{ id: picture, alt: 'Errors rise.', url: `${app.baseUrl}/status/acme/files/${picture}` }, { id: text }],
  })
})

test('a picture without a description is refused beside its field, and the input stays', async () => {
  const { status, html } = await editor.post(
    `incidents/${id}/updates`,
    formOf({ ...update, message: 'Typed.' }, null, { ...graph, alt: '' }),
  )
  expect(status).toBe(422)
  expect(html).toContain('id="files.1.alt-problem"')
  expect(html).toMatch(/<details class="file-fields" open/)
  expect(html).toContain('Typed.</textarea>')
  expect(html).toContain('Choose the file again')
})

test('the files of a note are for members, and can be changed by its author', async () => {
  await editor.post(`incidents/${id}/notes`, formOf({ form: 'note', note: 'See this.' }, log))
  const note = await prisma.incidentNote.findFirstOrThrow({ include: { files: true } })
  const [file] = note.files
  const path = `incidents/${id}/files/${file?.id}`
  const shown = await viewer.get(path)
  expect([shown.status, shown.html]).toEqual([200, 'Full.'])
  expect(shown.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(shown.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect((await fetch(`${app.baseUrl}/status/acme/files/${file?.id}`)).status).toBe(404)
  const foreign = await (await organization('foreign')).signIn('OWNER')
  expect((await foreign.get(`/console/acme/${path}`)).status).toBe(404)
  expect((await foreign.get(`/console/foreign/${path}`)).status).toBe(404)
  expect((await other.get(`incidents/${id}`)).html).not.toContain(`${file?.id}/delete`)
  expect((await other.post(`${path}/delete`, {})).status).toBe(422)
  const more = `incidents/${id}/files/new?noteId=${note.id}`
  expect((await editor.get(`incidents/${id}`)).html).toContain(more)
  expect((await editor.get(more)).html).toContain('Only members see them.')
  expect((await other.post(more, formOf({}, log))).status).toBe(422)
  expect((await viewer.post(more, formOf({}, log))).status).toBe(422)
  expect((await editor.post(more, formOf({}, log))).location).toBe(`/console/acme/incidents/${id}`)
  expect((await editor.get(`${path}/delete`)).html).toContain('Delete this file?')
  expect((await editor.post(`${path}/delete`, {})).location).toBe(`/console/acme/incidents/${id}`)
  expect((await viewer.get(path)).status).toBe(404)
})

test('a file of an existing update is public at once', async () => {
  const { id: updateId } = await prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: id } })
  const more = `incidents/${id}/files/new?updateId=${updateId}`
  expect((await editor.get(more)).html).toContain('Everyone who sees the update sees them.')
  await editor.post(more, formOf({}, { ...graph, alt: 'Later.' }))
  expect(await (await fetch(`${app.baseUrl}/status/acme/incidents/${id}`)).text()).toContain('alt="Later."')
})
