// @slow
import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { database, organization } = await testConsole()
const { signIn } = await organization('screens')
const other = await organization('others')

describe('a screen', () => {
  test('shows members their organization, and is not cached', async () => {
    const { status, html, headers } = await (await signIn('VIEWER')).get('now')
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(html).toContain('Nothing is monitored yet.')
  })

  test.each([
    ['now', 'start'],
    ['incidents', 'incidents/new'],
    ['maintenance', 'maintenance/new'],
    ['services', 'services/new'],
    ['monitors', 'start'],
    ['subscribers', 'subscribers/new'],
    ['deliveries', 'subscribers/new'],
    ['blacklists', 'monitors/new?kind=BLACKLIST'],
  ])('that is empty, as %s, describes what to do first, with one button for those who may', async (path, first) => {
    const button = new RegExp(
      `<p class="lead">[^<]+</p><p class="actions"><a class="button" href="/console/screens/${first.replace('?', '\\?')}">`,
    )
    const [editor, viewer] = [await signIn('EDITOR'), await signIn('VIEWER')]
    expect((await editor.get(path)).html).toMatch(button)
    const { html } = await viewer.get(path)
    expect(html).toContain('<p class="lead">')
    expect(html).not.toMatch(button)
    expect((await editor.get(first)).status).toBe(200)
  })

  test('does not exist for a stranger', async () => {
    const stranger = await other.signIn('OWNER')
    const missing = await stranger.get('/console/no-such-organization/now')
    const foreign = await stranger.get('/console/screens/now')
    expect([missing.status, foreign.status]).toEqual([404, 404])
    expect(foreign.html).toBe(missing.html)
  })

  test('asks a visitor to sign in, and redirects back', async () => {
    const visitor = { ...(await signIn(null)) }
    const { status, location } = await visitor.get('now')
    expect([status, location]).toEqual([404, null])
  })

  test('leads someone with several organizations to the others', async () => {
    const person = await signIn('VIEWER')
    expect((await person.get('now')).html).not.toContain('>Organizations</a>')
    const where = { userId: person.userId, organizationId: other.organization.id }
    await database.prisma.membership.create({ data: { ...where, role: 'VIEWER', createdAt: new Date() } })
    await expect.poll(async () => (await person.get('now')).html).toContain('>Organizations</a>')
    const { html } = await person.get('/console')
    expect(html).toContain('/console/screens/now')
    expect(html).toContain('/console/others/now')
  })

  test('opens for the operator without a membership', async () => {
    const operator = await signIn(null, { isOperator: true })
    expect((await operator.get('now')).status).toBe(200)
  })
})

describe('a form', () => {
  const target = 'https://www.example.com/'

  test('creates a service and a monitor from one field, and redirects', async () => {
    const editor = await signIn('EDITOR')
    const { status, location } = await editor.post('start', { target })
    expect([status, location]).toEqual([303, '/console/screens/now'])
    const [event] = await database.prisma.event.findMany({
      where: { kind: 'SERVICE_CREATED', subjectName: 'www.example.com' },
    })
    expect(event).toMatchObject({ actorKind: 'USER', actorUserId: editor.userId })
  })

  test('asks whether a port without a usual use is a website, and creates what the person chooses', async () => {
    const editor = await signIn('EDITOR')
    const found = () => database.prisma.monitor.findMany({ where: { name: { startsWith: 'odd.example.com' } } })
    const asked = await editor.post('start', { target: ' odd.example.com:4861 ' })
    expect(asked.html).toContain('The website http://odd.example.com:4861')
    expect(asked.html).toContain('Only the TCP connection to odd.example.com:4861')
    expect(await found()).toEqual([])
    const { status } = await editor.post('start', { target: 'odd.example.com:4861', as: 'website' })
    expect(status).toBe(303)
    expect(await found()).toMatchObject([{ kind: 'HTTP', options: { url: 'http://odd.example.com:4861/' } }])
    await editor.post('start', { target: 'odd.example.com:4862', as: 'connection' })
    expect((await found()).map(({ kind }) => kind).toSorted()).toEqual(['HTTP', 'TCP'])
    const refused = await editor.post('start', { target: 'ftp://x/' })
    expect([refused.status, refused.html.includes('Begins with ftp://, which cannot be monitored')]).toEqual([
      422,
      true,
    ])
  })

  test('is refused to a role that may not, with its input', async () => {
    const { status, html } = await (await signIn('VIEWER')).post('start', { target: 'https://viewer.example.com/' })
    expect(status).toBe(422)
    expect(html).toContain('This requires the role EDITOR; yours is VIEWER.')
    expect(html).toContain('value="https://viewer.example.com/"')
  })

  test('shows errors beside its fields', async () => {
    const { status, html } = await (await signIn('EDITOR')).post('start', { target: 'two words' })
    expect(status).toBe(422)
    expect(html).toContain('<p class="problem" id="target-problem">Must be one address, without spaces.</p>')
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host', { origin: 'https://evil.example' }],
    ['nowhere', {}],
  ])('is refused when it comes from %s', async (_from, headers) => {
    const editor = await signIn('EDITOR')
    const cookie = `allclear_session=${editor.token}`
    const { status } = await editor.post('start', { target: 'https://forged.example.com/' }, { cookie, ...headers })
    expect(status).toBe(403)
    expect(await database.prisma.service.count({ where: { name: 'forged.example.com' } })).toBe(0)
  })

  test('is kept while the person signs in again', async () => {
    const editor = await signIn('EDITOR')
    await database.prisma.session.deleteMany({ where: { userId: editor.userId } })
    await expect.poll(async () => (await editor.get('now')).location).toContain('/sign-in?to=')
    const { status, html } = await editor.post('start', { target: 'https://kept.example.com/' })
    expect(status).toBe(401)
    expect(html).toContain('name="held"')
    expect(html).toContain('https://kept.example.com/')
  })
})
