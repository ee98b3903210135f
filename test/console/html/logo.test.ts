import { expect, test } from 'vitest'
import { testConsole } from '../../support/console.ts'
import { jpeg, png, svg } from '../../support/pictures.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const admin = await acme.signIn('ADMIN')
const stored = () => prisma.organization.findUniqueOrThrow({ where: { id: acme.organization.id } })

/**
 * The settings form.
 * @param content of the chosen file; null: none.
 */
async function settings(content: Uint8Array<ArrayBuffer> | null, changes: Record<string, string> = {}) {
  const { version, name, slug, contactEmail, timeZone, accentColor } = await stored()
  const fields = {
    name,
    slug,
    contactEmail,
    timeZone,
    accentColor,
    description: '',
    logoUrl: '',
    version: String(version),
  }
  const form = new FormData()
  for (const [key, value] of Object.entries({ ...fields, ...changes })) form.set(key, value)
  form.set('logo', new Blob(content ? [content] : [], { type: 'image/png' }), content ? 'Logo.png' : '')
  return form
}

const get = (path: string) => fetch(app.baseUrl + path)

test('is uploaded, shown, kept, and cached forever', async () => {
  expect((await admin.post('page', await settings(png(300, 80)))).status).toBe(303)
  const { logoUrl } = await stored()
  expect(logoUrl).toMatch(/^\/logos\/[0-9a-f]{64}\.png$/)
  const page = await get('/status/acme')
  expect(await page.text()).toContain(`<img src="${logoUrl}" alt="" height="40"`)
  expect(page.headers.get('content-security-policy')).toContain("img-src 'self' data:;")
  const picture = await get(logoUrl ?? '')
  expect(new Uint8Array(await picture.arrayBuffer())).toEqual(png(300, 80))
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringMatching(/^default-src 'none'.*; sandbox$/),
  })
  // A form without a file and with an empty address keeps the logo.
  expect((await admin.post('page', await settings(null, { description: 'Anew.' }))).status).toBe(303)
  expect(await stored()).toMatchObject({ logoUrl, description: 'Anew.' })
  const { data } = await admin.graphql('{ statusPage(slug: "acme") { logoUrl } }')
  expect(data).toEqual({ statusPage: { logoUrl: app.baseUrl + logoUrl } })
})

test('is replaced by another file or an address, and removed', async () => {
  await admin.post('page', await settings(svg('<script>alert(1)</script>')))
  const { logoUrl: first } = await stored()
  expect((await get(first ?? '')).headers.get('content-type')).toBe('image/svg+xml')
  await admin.post('page', await settings(jpeg(10, 10)))
  const { logoUrl: second } = await stored()
  expect(second).not.toBe(first)
  expect(await prisma.logo.count()).toBe(1)
  await admin.post('page', await settings(null, { logoUrl: 'https://cdn.example/a.svg' }))
  expect(await stored()).toMatchObject({ logoUrl: 'https://cdn.example/a.svg' })
  expect(await prisma.logo.count()).toBe(0)
  await admin.post('page', await settings(jpeg(10, 10)))
  await admin.post('page', await settings(null, { logoRemoved: 'true' }))
  expect(await stored()).toMatchObject({ logoUrl: null })
  expect(await prisma.logo.count()).toBe(0)
  expect((await get(`/logos/${'0'.repeat(64)}.png`)).status).toBe(404)
})

test('that cannot be shown is refused beside its field, and the input stays', async () => {
  const { status, html } = await admin.post('page', await settings(png(5000, 5000), { description: 'Kept.' }))
  expect(status).toBe(422)
  expect(html).toContain('id="logo-problem"')
  expect(html).toContain('at most 2000 pixels wide and high')
  expect(html).toContain('Kept.</textarea>')
  expect(html).toContain('Choose the file again')
})

test('of a form that is too large is refused with a clear message', async () => {
  const { status, html } = await admin.post('page', await settings(new Uint8Array(3 * 1024 * 1024)))
  expect(status).toBe(413)
  expect(html).toContain('Too large')
})

test('is lost when the session ends, which the form reports', async () => {
  const visitor = { 'sec-fetch-site': 'same-origin' }
  const { status, html } = await admin.post('page', await settings(png(8, 8), { description: 'Kept.' }), visitor)
  expect(status).toBe(401)
  expect(html).toContain('Kept.')
  expect(html).toContain('logo.sent')
  // Resent after sign-in, without the file: the form reports that beside the field, and saves nothing.
  const sentAgain = await settings(null, { description: 'Kept.', 'logo.sent': 'true' })
  const again = await admin.post('page', sentAgain)
  expect(again.status).toBe(422)
  expect(again.html).toMatch(/id="logo-problem">Was lost while you signed in: choose the file again/)
  expect(again.html).toContain('Kept.</textarea>')
  expect(again.html).not.toContain('name="logo.sent"')
})

test('of a deleted page is gone at once', async () => {
  await prisma.organization.update({ where: { id: acme.organization.id }, data: { tier: 'TEAM' } })
  const { location } = await admin.post('pages/new', { name: 'Staff', slug: 'acme-staff', shows: 'ALL' })
  const path = location?.replace('/console/acme/', '') ?? expect.unreachable()
  const { id, version } = await prisma.page.findUniqueOrThrow({ where: { slug: 'acme-staff' } })
  const { version: ofOwner } = await stored()
  const form = await settings(png(9, 9), { name: 'Staff', slug: 'acme-staff', version: String(version + ofOwner) })
  expect((await admin.post(path, form)).status).toBe(303)
  const { logoUrl } = await prisma.page.findUniqueOrThrow({ where: { id } })
  expect((await get(logoUrl ?? '')).status).toBe(200)
  expect((await admin.post(`${path}/delete`, {})).status).toBe(303)
  expect((await get(logoUrl ?? '')).status).toBe(404)
})

test('cannot be uploaded below the role admin', async () => {
  const editor = await acme.signIn('EDITOR')
  expect((await editor.post('page', await settings(png(8, 8)))).status).toBe(403)
  expect(await prisma.logo.count()).toBe(0)
})

test('of a deleted organization is gone', async () => {
  const gone = await organization('gone')
  const content = png(7, 7)
  const file = `${'a'.repeat(64)}.png`
  await prisma.logo.create({
    data: { pageId: gone.organization.pageId, organizationId: gone.organization.id, file, content },
  })
  await prisma.organization.update({ where: { id: gone.organization.id }, data: { deletedAt: new Date() } })
  expect((await get(`/logos/${file}`)).status).toBe(404)
})
