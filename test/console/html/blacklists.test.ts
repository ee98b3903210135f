// @slow
import { beforeAll, describe, expect, test } from 'vitest'
import { testConsole } from '../../support/console.ts'
import { fewestStatements } from '../../support/statements.ts'

const { database, organization } = await testConsole()
const { signIn, organization: acme } = await organization('senders')
const { signIn: signInFree } = await organization('freeriders')
const { prisma } = database
beforeAll(
  async () =>
    void (await prisma.organization.update({ where: { id: acme.id }, data: { checkPlan: 'PRO', tier: 'TEAM' } })),
)

describe('the table of blacklists', () => {
  test('checks many targets at once, and offers the answers as CSV', async () => {
    const viewer = await signIn('VIEWER')
    const { status, html } = await viewer.post('blacklists', { targets: '192.0.2.7\r\nnot a target!\r\n198.51.100.9' })
    expect(status).toBe(200)
    expect(html).toContain('<th scope="row">192.0.2.7</th>')
    expect(html).toContain('Not checked')
    const csv = decodeURIComponent(/href="data:text\/csv;charset=utf-8,([^"]+)"/.exec(html)?.[1] ?? '')
    const lines = csv.trim().split('\r\n')
    expect(lines[0]).toBe('target,result,listed on,details')
    expect(lines.some((line) => line.startsWith('198.51.100.9,'))).toBe(true)
    expect(html).not.toContain('>Watch</button>')
  })

  test('monitors a target with a button', async () => {
    const editor = await signIn('EDITOR')
    const { html } = await editor.post('blacklists', { targets: '192.0.2.25' })
    expect(html).toContain('name="target" value="192.0.2.25"')
    const { location } = await editor.post('blacklists/watch', { target: '192.0.2.25' })
    expect(location).toContain('/console/senders/monitors/mon_')
    const monitor = await prisma.monitor.findFirstOrThrow({ where: { organizationId: acme.id, name: '192.0.2.25' } })
    expect(monitor).toMatchObject({ kind: 'BLACKLIST', options: { target: '192.0.2.25' } })
    expect((await editor.get('blacklists')).html).toContain(`<li id="${monitor.id}"`)
    const viewer = await (await signIn('VIEWER')).post('blacklists/watch', { target: '192.0.2.26' })
    expect(viewer.status).toBe(422)
  })

  test('is refused with its input: too many targets, none, or no plan for it', async () => {
    const editor = await signIn('EDITOR')
    const targets = Array.from({ length: 21 }, (_, index) => `192.0.2.${index}`).join('\n')
    const many = await editor.post('blacklists', { targets })
    expect([many.status, many.html]).toEqual([422, expect.stringContaining('at most 20 targets')])
    expect(many.html).toContain('192.0.2.20</textarea>')
    expect((await editor.post('blacklists', { targets: '' })).html).toContain('Send at least one target.')
    const free = await (await signInFree('EDITOR')).post('blacklists', { targets: '192.0.2.7' })
    expect([free.status, free.html]).toEqual([422, expect.stringContaining('require the pro check plan')])
  })

  test('takes few statements', async () => {
    const editor = await signIn('EDITOR')
    expect(await fewestStatements(async () => void (await editor.get('blacklists')))).toBeLessThanOrEqual(10)
  })
})
