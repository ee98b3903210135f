// @slow
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../src/core/id.ts'
import { languages } from '../../../../src/language/catalogue.ts'
import { testConsole } from '../../../support/console.ts'
import { formIn } from '../../../support/form-in.ts'
import { png } from '../../../support/pictures.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const { id: organizationId } = acme.organization
await prisma.organization.update({ where: { id: organizationId }, data: { tier: 'TEAM' } })
const admin = await acme.signIn('ADMIN')
const other = await acme.signIn('ADMIN')
const [shop, office] = await Promise.all(['Shop', 'Office'].map(service))

async function service(name: string): Promise<string> {
  await admin.post('services/new', { name })
  return (await prisma.service.findFirstOrThrow({ where: { organizationId, name } })).id
}

const open = (kind: string) => ({ 'access.kind': kind, 'access.password': '', 'access.ranges': '' })

/** Creates a page by its form. Returns the path of its settings. */
async function create(slug: string, fields: Record<string, string | readonly string[]> = {}): Promise<string> {
  const { location } = await admin.post('pages/new', {
    name: 'Staff',
    slug,
    shows: 'ALL',
    ...open('PUBLIC'),
    ...fields,
  })
  return location?.replace('/console/acme/', '') ?? expect.unreachable()
}

/** The values of a page's form, as a browser sends them back. */
async function shown(path: string, changes: Record<string, string | readonly string[]> = {}) {
  const { html } = await admin.get(path)
  const form = /<form[^>]* id="settings"[\s\S]*?<\/form>/.exec(html)?.[0] ?? ''
  const value = (name: string) => new RegExp(` name="${name}"[^>]* value="([^"]*)"`).exec(form)?.[1] ?? ''
  const select = (name: string) => new RegExp(`name="${name}"[\\s\\S]*? value="(\\w+)" selected`).exec(form)?.[1] ?? ''
  const texts = ['name', 'slug', 'accentColor', 'logoUrl', 'version']
  return {
    ...Object.fromEntries(texts.map((name) => [name, value(name)])),
    description: /name="description"[^>]*>([^<]*)/.exec(form)?.[1] ?? '',
    uptimeSource: select('uptimeSource'),
    shows: select('shows'),
    'serviceIds.shown': 'true',
    serviceIds: [...form.matchAll(/name="serviceIds" value="(\w+)" checked/g)].map(([, id = '']) => id),
    ...changes,
  }
}

const row = (path: string) => prisma.page.findUniqueOrThrow({ where: { id: path.split('/')[1] ?? '' } })
const summary = (slug: string) => fetch(`${app.baseUrl}/status/${slug}/api/v2/summary.json`)

describe('another page', () => {
  test('is created with its services, and listed with its contents', async () => {
    const path = await create('acme-office', { shows: 'CHOSEN', serviceIds: [office ?? ''] })
    const { components } = await (await summary('acme-office')).json()
    expect(components.map(({ name }: { name: string }) => name)).toEqual(['Office'])
    const { html } = await admin.get('pages')
    expect(html).toContain('2 of 50 pages on this plan.')
    expect(html).toContain(`href="/console/acme/${path}">Staff</a>`)
    expect(html).toContain('href="/console/acme/page">The acme</a>')
  })

  test('is private from its first moment', async () => {
    await create('acme-private', { 'access.kind': 'PASSWORD', 'access.password': 'long enough' })
    expect((await summary('acme-private')).status).toBe(401)
  })

  test('is refused beside the field, and the input stays', async () => {
    const sent = { name: 'Kept', slug: 'acme', shows: 'ALL', ...open('PUBLIC') }
    const taken = await admin.post('pages/new', sent)
    expect([taken.status, taken.html]).toEqual([422, expect.stringContaining('The slug is taken.')])
    expect(taken.html).toContain('value="Kept"')
    const both = await admin.post('pages/new', { ...sent, slug: 'acme-both', serviceIds: [shop ?? ''] })
    expect(both.status).toBe(422)
    expect(both.html).toContain('id="shows-problem"')
    const closed = await admin.post('pages/new', { ...sent, slug: 'acme-closed', ...open('PASSWORD') })
    expect(closed.html).toContain('id="access.password-problem"')
    expect(await prisma.page.count({ where: { slug: { in: ['acme-both', 'acme-closed'] } } })).toBe(0)
  })

  test('follows the look of the first where it is the same', async () => {
    const path = await create('acme-look')
    await admin.post(path, await shown(path, { name: 'Renamed', accentColor: '#aa0000' }))
    expect(await row(path)).toMatchObject({ name: 'Renamed', accentColor: '#aa0000', description: null, links: null })
    await admin.post('page', await firstPage({ description: 'About all of us.' }))
    const { html } = await fetch(`${app.baseUrl}/status/acme-look`).then(async (response) => ({
      html: await response.text(),
    }))
    expect(html).toContain('About all of us.')
    // The colour of the first page again, and another description.
    const { accentColor } = await prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    await admin.post(path, await shown(path, { accentColor, description: 'Only this one.' }))
    expect(await row(path)).toMatchObject({ accentColor: null, description: 'Only this one.' })
  })

  test('has its own logo, which is deleted with it', async () => {
    const path = await create('acme-logo')
    const form = new FormData()
    for (const [name, value] of Object.entries(await shown(path)))
      for (const each of [value].flat()) form.append(name, each)
    form.set('logo', new Blob([png(9, 9)], { type: 'image/png' }), 'a.png')
    expect((await admin.post(path, form)).status).toBe(303)
    const { logoUrl, id } = await row(path)
    expect((await fetch(app.baseUrl + logoUrl)).status).toBe(200)
    expect((await prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })).logoUrl).toBeNull()
    expect((await admin.get(path)).html).toContain('Remove the logo')
    await admin.post(`${path}/delete`, {})
    expect(await prisma.logo.count({ where: { pageId: id } })).toBe(0)
  })

  test('shows both versions when another person has saved in between, also of the first page’s look', async () => {
    const path = await create('acme-both')
    const before = await shown(path)
    await other.post(path, { ...before, name: 'Theirs' })
    const { status, html } = await admin.post(path, { ...before, name: 'Mine' })
    expect(status).toBe(422)
    expect(html).toContain('Now: Theirs</span>')
    expect(html).toContain('value="Mine"')
    const again = await shown(path)
    await other.post('page', await firstPage({ description: 'Changed in between.' }))
    const late = await admin.post(path, again)
    expect(late.status).toBe(422)
    expect(late.html).toContain('Now: Changed in between.</span>')
  })

  test('is previewed without being saved', async () => {
    const path = await create('acme-preview')
    const fields = await shown(path, { name: 'Only a draft' })
    const { html } = await admin.post(path, { ...fields, preview: 'true' })
    expect(html).toMatch(/srcdoc="[\s\S]*Only a draft[\s\S]*data-from="/)
    expect((await admin.post(`${path}/preview`, fields)).html).toContain('Only a draft')
    expect((await row(path)).name).toBe('Staff')
  })

  test('keeps all or some services, and does not become public without a choice', async () => {
    const path = await create('acme-some', { shows: 'CHOSEN', serviceIds: [shop ?? '', office ?? ''] })
    await admin.post(path, await shown(path, { serviceIds: [] }))
    expect(await row(path)).toMatchObject({ allServices: false })
    expect((await (await summary('acme-some')).json()).components).toEqual([])
    await admin.post(path, await shown(path, { shows: 'ALL' }))
    expect(await row(path)).toMatchObject({ allServices: true })
  })

  test('is deleted after a confirmation that lists what is deleted with it', async () => {
    const path = await create('acme-gone', { 'access.kind': 'PASSWORD', 'access.password': 'long enough' })
    const { id } = await row(path)
    await admin.post(`${path}/tokens`, { name: 'Wall' })
    const question = await admin.get(`${path}/delete`)
    expect(question.html).toContain('/status/acme-gone stops working')
    expect(question.html).toContain('Its read token stops working.')
    expect((await admin.post(`${path}/delete`, {})).location).toBe('/console/acme/pages')
    const left = { where: { pageId: id } }
    expect(await Promise.all([prisma.pageAccess.count(left), prisma.pageToken.count(left)])).toEqual([0, 0])
    expect((await summary('acme-gone')).status).toBe(404)
  })

  test('exceeds the free tier, which the list reports', async () => {
    const free = await (await organization('free')).signIn('ADMIN')
    const list = await free.get('pages')
    expect(list.html).toContain('1 of 1 page on this plan.')
    expect(list.html).not.toContain('pages/new')
    const { status, html } = await free.post('pages/new', { name: 'Staff', slug: 'free-staff' })
    expect([status, html]).toEqual([422, expect.stringContaining('The FREE tier allows one page.')])
  })

  test('is not available to editors and other organizations, and the first page cannot be deleted', async () => {
    const path = await create('acme-reach')
    const editor = await acme.signIn('EDITOR')
    expect((await editor.get('pages')).status).toBe(403)
    expect((await editor.post(path, { name: 'Taken' })).status).toBe(403)
    const stranger = await (await organization('stranger')).signIn('OWNER')
    expect((await stranger.get(path)).status).toBe(404)
    const first = `pages/${acme.organization.pageId}`
    expect((await admin.get(first)).location).toBe('/console/acme/page')
    expect((await admin.post(`${first}/delete`, {})).location).toBe('/console/acme/page')
    expect((await summary('acme')).status).toBe(200)
  })
})

describe('subscribers', () => {
  test('are imported, listed and exported by page', async () => {
    const path = await create('acme-readers')
    const { id } = await row(path)
    await admin.post('subscribers/import', { csv: 'both@a.example\nstaff@a.example', pageId: id })
    await admin.post('subscribers/import', { csv: 'both@a.example' })
    const addresses = ({ html }: { html: string }) =>
      [...html.matchAll(/<span>(\w+@a\.example)/g)].map(([, each]) => each)
    expect(addresses(await admin.get(`subscribers?pageId=${id}`)).sort()).toEqual(['both@a.example', 'staff@a.example'])
    expect(addresses(await admin.get(`subscribers?pageId=${acme.organization.pageId}`))).toEqual(['both@a.example'])
    const { html: csv } = await admin.get(`subscribers/export.csv?pageId=${id}`)
    expect(
      csv
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.split(',').at(-1)),
    ).toEqual(['acme-readers', 'acme-readers'])
    expect((await admin.get('pages')).html).toContain('aria-label="2 subscribers of Staff"')
  })

  test('cannot be added to a page of another organization', async () => {
    const { organization: theirs } = await organization('theirs')
    const sent = { csv: 'lost@a.example', email: 'lost@a.example', pageId: theirs.pageId }
    expect((await admin.post('subscribers/import', sent)).status).toBe(404)
    expect((await admin.post('subscribers/new', sent)).status).toBe(404)
    expect(await prisma.subscriber.count({ where: { label: 'lost@a.example' } })).toBe(0)
  })
})

test('the screens of pages take at most ten statements', async () => {
  const path = await create('acme-fast')
  for (const screen of ['pages', 'pages/new', path, `${path}/access`, `${path}/delete`, 'page', 'subscribers']) {
    expect([screen, await fewestStatements(async () => void (await admin.get(screen)))]).toEqual([
      screen,
      expect.toSatisfy((count: number) => count <= 10),
    ])
  }
})

test('the languages of a page can be selected, with a default, and all of them include later ones', async () => {
  const before = (await admin.get('page')).html
  expect(before.match(/name="languages" value="\w+" checked/g)).toHaveLength(languages.length)
  const choose = async (defaultLanguage: string, chosen: readonly string[]) => {
    const { location } = await admin.post('page', await firstPage({ defaultLanguage, languages: chosen }))
    expect(location).toBe('/console/acme/page')
    return prisma.organization.findUniqueOrThrow({
      where: { id: organizationId },
      select: { languages: true, defaultLanguage: true },
    })
  }
  expect(await choose('DE', ['FR'])).toEqual({ languages: ['DE', 'FR'], defaultLanguage: 'DE' })
  const { html } = await admin.get('page')
  expect(html).toContain('<option value="DE" selected="">Deutsch</option>')
  expect(html.match(/name="languages" value="\w+" checked/g)).toEqual([
    'name="languages" value="DE" checked',
    'name="languages" value="FR" checked',
  ])
  const refused = await admin.post('page', await firstPage({ defaultLanguage: 'XX', languages: [] }))
  expect(refused.status).toBe(422)
  expect(await choose('EN', languages)).toEqual({ languages: [], defaultLanguage: 'EN' })
})

describe('the order of a page’s services', () => {
  test('is set by buttons and by a list, within groups, for each page separately', async () => {
    const third = await service('Warehouse')
    const [a = '', b = ''] = [shop, office]
    const path = await create('acme-order', { shows: 'CHOSEN', serviceIds: [a, b, third] })
    const order = async () => {
      const { components } = await (await summary('acme-order')).json()
      return components.map(({ name }: { name: string }) => name)
    }
    await expect.poll(order).toEqual(['Shop', 'Office', 'Warehouse'])
    const { html } = await admin.get(`${path}/order`)
    expect(html).toContain('aria-label="Move Office up"')
    expect(html).toContain('class="handle"')
    const moved = await admin.post(`${path}/order`, { page: '1', up: third })
    expect(moved.location).toBe(`/console/acme/${path}/order?page=1`)
    await expect.poll(order).toEqual(['Shop', 'Warehouse', 'Office'])
    await admin.post(`${path}/order`, { page: '1', ids: [b, third, a] })
    await expect.poll(order).toEqual(['Office', 'Warehouse', 'Shop'])
    // Saving the settings keeps the order.
    expect((await admin.post(path, await shown(path, { description: 'In order.' }))).status).toBe(303)
    await expect.poll(order).toEqual(['Office', 'Warehouse', 'Shop'])
    const { version } = await row(path)
    await admin.post(`${path}/order`, { page: '1', up: b })
    expect((await row(path)).version).toBe(version)
    await admin.post(`services/${third}/delete`, {})
    expect((await admin.get(`${path}/order`)).html).not.toContain('Warehouse')
  })

  test('is that of all services on a page that shows all, which the form states', async () => {
    const path = await create('acme-unordered')
    expect((await admin.get(`${path}/order`)).html).toContain('shows all services')
    const refused = await admin.post(`${path}/order`, { up: shop ?? '' })
    expect([refused.status, refused.html]).toEqual([422, expect.stringContaining('in their own order')])
  })
})

test('a page can have no logo although its organization has one, and take it back', async () => {
  const logoOf = async (slug: string) => {
    const { data } = await admin.graphql('query ($slug: String!) { statusPage(slug: $slug) { logoUrl } }', { slug })
    return (data?.['statusPage'] as { logoUrl: string | null } | undefined)?.logoUrl
  }
  const logo = 'https://cdn.example/acme.png'
  await admin.post('page', await firstPage({ logoUrl: logo }))
  const path = await create('acme-bare')
  await expect.poll(() => logoOf('acme-bare')).toBe(logo)
  expect((await admin.post(path, await shown(path, { 'logoNone.shown': 'true', logoNone: 'true' }))).status).toBe(303)
  await expect.poll(() => logoOf('acme-bare')).toBeNull()
  expect(await (await fetch(`${app.baseUrl}/status/acme-bare`)).text()).not.toContain(logo)
  const { html } = await admin.get(path)
  expect(html).toContain('name="logoNone" value="true" checked=""')
  expect((await admin.post(path, await shown(path, { 'logoNone.shown': 'true', logoNone: 'true' }))).status).toBe(303)
  expect(await row(path)).toMatchObject({ logoUrl: '' })
  await admin.post(path, await shown(path, { 'logoNone.shown': 'true' }))
  await expect.poll(() => logoOf('acme-bare')).toBe(logo)
  await admin.post('page', await firstPage({ logoUrl: '' }))
})

test('a page with more services than a form lists keeps those that are not listed', async () => {
  const many = await organization('many')
  const { id: ownerId } = many.organization
  await prisma.organization.update({ where: { id: ownerId }, data: { tier: 'TEAM' } })
  const person = await many.signIn('ADMIN')
  const data = Array.from({ length: 120 }, (_, position) => {
    return { id: newId('Service'), organizationId: ownerId, name: `Line ${position}`, position, createdAt: new Date() }
  })
  await prisma.service.createMany({ data })
  const page = {
    id: newId('StatusPage'),
    organizationId: ownerId,
    slug: 'many-lines',
    name: 'Lines',
    allServices: false,
  }
  await prisma.page.create({ data: { ...page, createdAt: new Date() } })
  const pageId = page.id
  await prisma.pageService.createMany({
    data: data.map(({ id: serviceId }, position) => ({ pageId, serviceId, position })),
  })
  const chosen = () => prisma.pageService.count({ where: { pageId } })
  const path = `pages/${pageId}`
  const form = async (html: string, changes: Record<string, string> = {}) => {
    const fields: Record<string, string[]> = {}
    for (const [name, value] of formIn(html, 'id="settings"')) fields[name] = [...(fields[name] ?? []), value]
    return { ...fields, ...changes }
  }
  const { html } = await person.get(path)
  expect(html).toContain('45 more are chosen, and stay so.')
  expect((await person.post(path, await form(html, { description: 'Saved.' }))).status).toBe(303)
  expect(await chosen()).toBe(120)
  // One of the others is found by its name, and removed.
  const last = data.at(-1)?.id ?? ''
  const asked = await person.post(path, await form(html, { serviceText: 'Line 119', find: 'true' }))
  expect(asked.html).toContain(`value="${last}" checked=""`)
  const found = await form(
    (await person.post(path, await form((await person.get(path)).html, { serviceText: 'Line 119', find: 'true' })))
      .html,
  )
  const serviceIds = [found['serviceIds'] ?? []].flat().filter((each) => each !== last)
  expect((await person.post(path, { ...found, serviceIds })).status).toBe(303)
  expect(await chosen()).toBe(119)
})

test('the preview shows selected services before they are saved', async () => {
  const path = await create('acme-draft', { shows: 'CHOSEN', serviceIds: [shop ?? ''] })
  const drawn = async (changes: Record<string, string | readonly string[]>) =>
    (await admin.post(`${path}/preview`, await shown(path, changes))).html
  expect(await drawn({})).not.toContain('Office')
  const other = await drawn({ serviceIds: [office ?? ''] })
  expect([other.includes('Office'), other.includes('Shop')]).toEqual([true, false])
  const all = await drawn({ shows: 'ALL', serviceIds: [] })
  expect([all.includes('Office'), all.includes('Shop')]).toEqual([true, true])
  const { components } = await (await summary('acme-draft')).json()
  expect(components).toHaveLength(1)
})

describe('the domain and the access of a page', () => {
  test('are not overwritten unseen', async () => {
    const path = await create('acme-race')
    const { version } = await row(path)
    const sent = { ...open('ADDRESSES'), 'access.mailDomains': '', version: String(version) }
    await other.post(`${path}/access`, { ...sent, 'access.ranges': '192.0.2.0/24' })
    const { status, html } = await admin.post(`${path}/access`, { ...sent, 'access.ranges': '198.51.100.0/24' })
    expect(status).toBe(422)
    expect(html).toContain('Now: 192.0.2.0/24</span>')
    expect(html).toContain('198.51.100.0/24</textarea>')
    const domain = await admin.post(`${path}/domain`, { domain: 'late.example', version: String(version) })
    expect(domain.status).toBe(422)
    expect(domain.html).toContain('Another person has changed this in the meantime.')
  })

  test('require a confirmation of identity before a page is opened or closed', async () => {
    const path = await create('acme-proof')
    const person = await acme.signIn('ADMIN')
    const confirmedAt = new Date(Date.now() - 11 * 60_000)
    await prisma.session.updateMany({ where: { userId: person.userId }, data: { confirmedAt } })
    await prisma.$executeRaw`SELECT pg_notify('revoked_api_key', ${person.userId})`
    await expect.poll(async () => (await person.post(`${path}/access`, open('MEMBERS'))).status).toBe(401)
    expect((await summary('acme-proof')).status).toBe(200)
  })
})

/** The fields of the first page's form. */
async function firstPage(changes: Record<string, string | readonly string[]>) {
  const { timeZone, contactEmail } = await prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
  return { ...(await shown('page')), timeZone, contactEmail, ...changes }
}
