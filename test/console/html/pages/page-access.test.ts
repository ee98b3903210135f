import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { app, organization } = await testConsole()

/** An organization with its first page, as visitors see it. */
async function withPage(name: string) {
  const created = await organization(name)
  const { slug, pageId } = created.organization
  const admin = await created.signIn('ADMIN')
  const read = (headers: Record<string, string> = {}) =>
    fetch(`${app.baseUrl}/status/${slug}/api/v2/summary.json`, { headers })
  return { ...created, admin, read, access: `pages/${pageId}/access`, tokens: `pages/${pageId}/tokens` }
}

/** The fields of the access form. */
const access = (kind: string, fields: Record<string, string> = {}) => ({
  'access.kind': kind,
  'access.password': '',
  'access.mailDomains': '',
  'access.ranges': '',
  ...fields,
})

describe('the access of a page', () => {
  test('is changed, and shown again', async () => {
    const { admin, access: path, read } = await withPage('acme')
    expect((await read()).status).toBe(200)
    const sent = access('ADDRESSES', { 'access.ranges': '192.0.2.0/24\n2001:db8::/32' })
    expect((await admin.post(path, sent)).location).toContain(path)
    const { html } = await admin.get(path)
    expect(html).toMatch(/<option value="ADDRESSES"[^>]* selected/)
    expect(html).toContain('192.0.2.0/24\n2001:db8::/32')
    await expect.poll(async () => (await read()).status).toBe(401)
    await admin.post(path, access('PUBLIC'))
    await expect.poll(async () => (await read()).status).toBe(200)
  })

  test('is refused beside the field, and the input is kept', async () => {
    const { admin, access: path, read } = await withPage('beta')
    const { status, html } = await admin.post(path, access('ADDRESSES', { 'access.ranges': 'everywhere' }))
    expect(status).toBe(422)
    expect(html).toContain('everywhere')
    expect(html).toContain('aria-invalid="true"')
    expect((await read()).status).toBe(200)
  })

  test('is for admins only', async () => {
    const { signIn, access: path, read } = await withPage('gamma')
    const editor = await signIn('EDITOR')
    expect((await editor.post(path, access('PASSWORD', { 'access.password': 'long enough' }))).status).toBe(403)
    expect((await read()).status).toBe(200)
  })
})

describe('a read token', () => {
  test('is shown once, opens the page, and is revoked after a confirmation', async () => {
    const { admin, access: path, tokens, read } = await withPage('delta')
    await admin.post(path, access('PASSWORD', { 'access.password': 'long enough' }))
    const { html } = await admin.post(tokens, { name: 'Wall display' })
    const [secret = ''] = /acp_[\w-]+/.exec(html) ?? []
    const list = (await admin.get(tokens)).html
    expect(list).toContain('Wall display')
    expect(list).not.toContain(secret)
    const authorization = `Bearer ${secret}`
    await expect.poll(async () => (await read({ authorization })).status).toBe(200)
    expect((await read()).status).toBe(401)

    const [, id = ''] = /tokens\/(ptk_\w+)\/revoke/.exec(list) ?? []
    expect((await admin.get(`${tokens}/${id}/revoke`)).html).toContain('Wall display')
    expect((await admin.post(`${tokens}/${id}/revoke`, {})).location).toContain(tokens)
    await expect.poll(async () => (await read({ authorization })).status).toBe(401)
    expect((await admin.get(tokens)).html).not.toContain('Wall display')
  })

  test('of another organization does not exist', async () => {
    const [one, other] = [await withPage('epsilon'), await withPage('zeta')]
    expect((await one.admin.get(other.tokens)).status).toBe(404)
    expect((await one.admin.post(other.tokens, { name: 'Mine' })).status).toBe(404)
  })
})
