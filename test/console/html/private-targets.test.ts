import { describe, expect, test } from 'vitest'
import { noPrivateTargets } from '../../../src/network/outbound/destination-policy.ts'
import { testConsole } from '../../support/console.ts'

const service = await testConsole({ ALLOW_PRIVATE_NETWORKS: 'false' })
const acme = await service.organization('acme')
const other = await service.organization('other')
const operator = await acme.signIn(null, { isOperator: true })
const owner = await acme.signIn('OWNER')

const monitor = { kind: 'TCP', name: 'Router', 'tcp.host': '192.168.1.1', 'tcp.port': '22', intervalSeconds: '60' }
const forAcme = 'Allow private targets for The acme'
const OPERATORS = '/console/operator'

async function permissions() {
  const rows = await service.database.prisma.privateTargetPermission.findMany({ orderBy: { id: 'asc' } })
  return rows.map(({ id }) => ({ [acme.organization.id]: 'acme', [other.organization.id]: 'other' })[id] ?? id)
}

const monitorsOf = (organizationId: string) => service.database.prisma.monitor.count({ where: { organizationId } })

async function withdraw() {
  await operator.post(`${OPERATORS}/organizations/${acme.organization.id}/private-targets`, { allowed: 'false' })
  await operator.post(`${OPERATORS}/settings/private-targets`, { allowed: 'false' })
  expect(await permissions()).toEqual([])
}

describe('a refused private target', () => {
  test('tells an owner who decides, and offers nothing', async () => {
    const { status, html } = await owner.post('monitors/new', monitor)
    expect(status).toBe(422)
    expect(html).toContain(noPrivateTargets.hint)
    expect(html).not.toContain('allowPrivateTargets')
    expect(html).not.toContain('setPrivateTargets')
  })

  test('cannot be allowed by an owner who sends the operator’s button', async () => {
    for (const scope of ['organization', 'all', 'organization test']) {
      const { status, html } = await owner.post('monitors/new', { ...monitor, allowPrivateTargets: scope })
      expect(status).toBe(422)
      expect(html).toContain('Only the operator may do this.')
    }
    expect(await permissions()).toEqual([])
    expect(await monitorsOf(acme.organization.id)).toBe(0)
  })

  test('offers the operator to allow it there, after the button that Enter presses, with what was typed', async () => {
    const { status, html } = await operator.post('monitors/new', monitor)
    expect(status).toBe(422)
    expect(html).toContain(forAcme)
    expect(html).toContain('Allow private targets for all organizations')
    expect(html).toContain('value="192.168.1.1"')
    expect(html.indexOf('name="allowPrivateTargets"')).toBeGreaterThan(html.indexOf('>Save</button>'))
    expect(await permissions()).toEqual([])
  })

  test('is created with the button, for this organization only', async () => {
    const { status, location } = await operator.post('monitors/new', {
      ...monitor,
      allowPrivateTargets: 'organization',
    })
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/console\/acme\/monitors\/mon_/)])
    expect(await permissions()).toEqual(['acme'])
    const { status: there, html } = await operator.post('/console/other/monitors/new', monitor)
    expect([there, html]).toEqual([422, expect.stringContaining('Allow private targets for The other')])
    await withdraw()
  })

  test('is allowed for all with the other button', async () => {
    const { status } = await operator.post('/console/other/monitors/new', { ...monitor, allowPrivateTargets: 'all' })
    expect(status).toBe(303)
    expect(await permissions()).toEqual(['all'])
    await withdraw()
  })

  test('of the first monitor is offered too', async () => {
    const refused = await operator.post('start', { target: '10.0.0.7:22' })
    expect([refused.status, refused.html]).toEqual([422, expect.stringContaining(forAcme)])
    expect(refused.html).toContain('value="10.0.0.7:22"')
    const { location } = await operator.post('start', { target: '10.0.0.7:22', allowPrivateTargets: 'organization' })
    expect(location).toBe('/console/acme/now')
    await withdraw()
  })

  test('of a test is tested again, and not saved', async () => {
    const before = await monitorsOf(acme.organization.id)
    const inside = { ...monitor, 'tcp.host': '127.0.0.1', 'tcp.port': new URL(service.app.baseUrl).port }
    const refused = await operator.post('monitors/new', { ...inside, test: 'true' })
    expect(refused.html).toContain('value="organization test"')
    const tested = await operator.post('monitors/new', { ...inside, allowPrivateTargets: 'organization test' })
    expect(tested.status).toBe(200)
    expect(tested.html).toContain('Nothing is saved yet')
    expect(tested.html).toMatch(/data-state="UP"/)
    expect(await monitorsOf(acme.organization.id)).toBe(before)
    await withdraw()
  })

  test.each([
    ['alerts/channels/new', { kind: 'webhook', name: 'Ops', 'webhook.url': 'http://10.0.0.7/hook' }],
    ['subscribers/new', { webhook: 'http://10.0.0.7/hook' }],
  ])('is offered in the form %s', async (path, fields) => {
    const refused = await operator.post(path, fields)
    expect([refused.status, refused.html]).toEqual([422, expect.stringContaining(forAcme)])
    expect((await operator.post(path, { ...fields, allowPrivateTargets: 'organization' })).status).toBe(303)
    await withdraw()
  })

  test('that no one can allow is not offered', async () => {
    const { html } = await operator.post('monitors/new', { ...monitor, 'tcp.host': '169.254.169.254' })
    expect(html).toContain('Must be a public address.')
    expect(html).not.toContain('allowPrivateTargets')
  })
})

describe('the operator’s screens', () => {
  test('change the permission of an organization, which its log shows with the actor', async () => {
    const path = `${OPERATORS}/organizations/${acme.organization.id}`
    expect((await operator.get(path)).html).toContain('Allow private targets for this organization')
    await operator.post(`${path}/private-targets`, { allowed: 'true' })
    expect(await permissions()).toEqual(['acme'])
    expect((await operator.get(path)).html).toContain('Withdraw private targets for this organization')
    expect((await operator.get(`${OPERATORS}/organizations`)).html).toContain('private targets')
    expect((await operator.get(`${OPERATORS}/settings`)).html).toContain(`${path}#private-targets`)
    const { data } = await owner.graphql(
      '{ organization { privateTargets { allowed forOrganization forAll byEnvironment } events(first: 1, filter: { kind: [PRIVATE_TARGETS_ALLOWED] }) { nodes { kind actor } } } }',
    )
    expect(data?.['organization']).toMatchObject({
      privateTargets: { allowed: true, forOrganization: true, forAll: false, byEnvironment: false },
      events: { nodes: [{ kind: 'PRIVATE_TARGETS_ALLOWED', actor: 'OPERATOR' }] },
    })
    await withdraw()
  })

  test('change the permission for all', async () => {
    const path = `${OPERATORS}/settings`
    await operator.post(`${path}/private-targets`, { allowed: 'true' })
    expect(await permissions()).toEqual(['all'])
    expect((await operator.get(path)).html).toContain('Withdraw private targets for all')
    await withdraw()
  })

  test('do not exist for an owner', async () => {
    const { status } = await owner.post(`${OPERATORS}/settings/private-targets`, { allowed: 'true' })
    expect(status).toBe(404)
    expect(await permissions()).toEqual([])
  })
})

test('a permission of the environment is shown as one that the screen cannot withdraw', async () => {
  const open = await testConsole({ ALLOW_PRIVATE_NETWORKS: 'true' })
  const { signIn, organization } = await open.organization('open')
  const { get } = await signIn(null, { isOperator: true })
  for (const path of ['settings', `organizations/${organization.id}`])
    expect((await get(`${OPERATORS}/${path}`)).html).toContain('ALLOW_PRIVATE_NETWORKS in the environment allows it')
  expect((await get(`${OPERATORS}/settings`)).html).not.toContain('Withdraw private targets')
})
