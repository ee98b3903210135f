import { describe, expect, test } from 'vitest'
import { totpCode } from '../../../../src/people/credential/totp.ts'
import { hashPassword } from '../../../../src/people/password.ts'
import type { Browser } from '../../../support/console.ts'
import { testConsole } from '../../../support/console.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { database, organization } = await testConsole()
const { prisma } = database
const { signIn } = await organization('accounts')
const other = await organization('foreign')
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

/** Begins another session of a person. */
async function secondSession({ userId }: Browser): Promise<string> {
  const now = new Date()
  const times = { createdAt: now, lastSeenAt: now, confirmedAt: now, expiresAt: new Date(now.getTime() + 60_000) }
  const id = `ses_${Math.random().toString(32).slice(2).padEnd(24, '0').slice(0, 24)}`
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  await prisma.session.create({ data: { id, userId, hash: id, userAgent, ...times } })
  return id
}

const sessionsOf = ({ userId }: Browser) => prisma.session.count({ where: { userId } })
const expire = ({ userId }: Browser) =>
  prisma.session.updateMany({ where: { userId }, data: { confirmedAt: new Date(Date.now() - 3_600_000) } })

describe('the account screen', () => {
  test('shows the person, and renames it', async () => {
    const viewer = await signIn('VIEWER')
    const { email } = await prisma.user.findUniqueOrThrow({ where: { id: viewer.userId } })
    expect((await viewer.get('account')).html).toContain(email)
    expect(await viewer.post('account', { name: 'Grace' })).toMatchObject({ status: 303 })
    expect((await viewer.get('account')).html).toContain('value="Grace"')
    const { status, html } = await viewer.post('account', { name: '' })
    expect(status).toBe(422)
    expect(html).toContain('id="name-problem"')
  })

  test('lists sessions, and ends one or all others', async () => {
    const viewer = await signIn('VIEWER')
    const id = await secondSession(viewer)
    const { html } = await viewer.get('account')
    expect(html).toContain('Firefox on Linux')
    expect(html).toContain('this browser')
    expect((await viewer.post('account/sessions/end', { id })).location).toBe('/console/accounts/account')
    expect(await sessionsOf(viewer)).toBe(1)
    await secondSession(viewer)
    await secondSession(viewer)
    await viewer.post('account/sessions/end-others', {})
    expect(await sessionsOf(viewer)).toBe(1)
    expect((await viewer.get('account')).status).toBe(200)
  })

  test('shows and ends nothing of another person', async () => {
    const [own, stranger] = [await signIn('OWNER'), await other.signIn('OWNER')]
    const id = await secondSession(stranger)
    const now = new Date()
    const passkey = { id: 'foreign', name: 'Foreign', publicKey: new Uint8Array(1), counter: 0, createdAt: now }
    await prisma.passkey.create({ data: { ...passkey, userId: stranger.userId } })
    expect((await own.get('account')).html).not.toContain('Foreign')
    expect((await own.post('account/sessions/end', { id })).status).toBe(404)
    expect((await own.post('account/passkeys/remove', { id: 'foreign' })).status).toBe(404)
    expect([await sessionsOf(stranger), await prisma.passkey.count({ where: { id: 'foreign' } })]).toEqual([2, 1])
    expect((await stranger.get('account')).html).toContain('Foreign')
    expect((await stranger.post('account/passkeys/remove', { id: 'foreign' })).status).toBe(303)
  })

  test('is also for the operator in other organizations', async () => {
    const operator = await signIn(null, { isOperator: true })
    expect((await operator.get('account')).html).toContain('this browser')
    expect((await operator.post('account', { name: 'The operator' })).status).toBe(303)
  })

  test('takes at most ten statements', async () => {
    const viewer = await signIn('VIEWER')
    await viewer.get('account')
    expect(await fewestStatements(async () => void (await viewer.get('account')))).toBeLessThanOrEqual(10)
  })
})

describe('the password', () => {
  test('is changed with the current one', async () => {
    const editor = await signIn('EDITOR')
    await prisma.user.update({ where: { id: editor.userId }, data: { passwordHash } })
    const wrong = await editor.post('account/password', { currentPassword: 'wrong', password: 'a new long password' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).toContain('id="currentPassword-problem"')
    await secondSession(editor)
    const fields = { currentPassword: password, password: 'a new long password' }
    expect((await editor.post('account/password', fields)).status).toBe(303)
    expect([await sessionsOf(editor), (await editor.get('account')).status]).toEqual([1, 200])
  })
})

describe('two-factor authentication', () => {
  test('is set up with a code of the app, and shows recovery codes once', async () => {
    const editor = await signIn('EDITOR')
    expect((await editor.get('account/second-factor')).html).not.toContain('otpauth:')
    expect((await editor.post('account/second-factor/start', {})).location).toBe(
      '/console/accounts/account/second-factor',
    )
    const { html } = await editor.get('account/second-factor')
    expect(html).toContain('<svg class="qr-code"')
    const secret = /secret=([A-Z2-7]{32})/.exec(html)?.[1] ?? ''
    const wrong = await editor.post('account/second-factor', { code: '000000' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).toContain('id="code-problem"')
    const code = totpCode(secret, Math.floor(Date.now() / 30_000))
    const { status, html: shown } = await editor.post('account/second-factor', { code })
    const codes = shown.match(/([0-9a-v]{4}-){3}[0-9a-v]{4}/g)
    expect([status, codes?.length]).toEqual([200, 10])
    const after = await editor.get('account/second-factor')
    expect(after.html).toContain('Recovery codes left: 10.')
    expect(after.html).not.toContain(secret)
  })

  test('asks for a confirmation, and resumes the step', async () => {
    const editor = await signIn('EDITOR')
    await expire(editor)
    const { status, html } = await editor.post('account/second-factor/start', {})
    expect(status).toBe(401)
    expect(html).toContain('Confirm that it’s you')
    expect(html).toContain('/console/accounts/account/second-factor/start')
  })

  test('is turned off on its own page', async () => {
    const editor = await signIn('EDITOR')
    await prisma.user.update({ where: { id: editor.userId }, data: { totpEnabled: true, totpSecret: 'sealed' } })
    expect((await editor.get('account/second-factor/remove')).html).toContain('your recovery codes stop working')
    expect((await editor.post('account/second-factor/remove', {})).location).toBe('/console/accounts/account')
    expect((await editor.get('account')).html).toContain('Off. With it')
  })
})
