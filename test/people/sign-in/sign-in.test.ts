import { describe, expect, test } from 'vitest'
import type { PeopleContext } from '../../../src/people/context.ts'
import { hashPassword } from '../../../src/people/password.ts'
import { startSession, userOfSession } from '../../../src/people/session.ts'
import { confirmByPassword, signInByPassword } from '../../../src/people/sign-in/sign-in.ts'
import { insertUser } from '../../../src/people/user.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { peopleContext } from '../setup.ts'

const { prisma } = await testDatabase()
const passwordHash = await hashPassword('the right password')

let made = 0

/** An instance of the service, seen by a client at an address. */
function instance(clientAddress: string): PeopleContext {
  return peopleContext(prisma, { clientAddress })
}

async function person() {
  made += 1
  const email = `signer-${made}@example.com`
  return insertUser(testContext(prisma), 'MAILED_SIGN_UP_LINK', { email, name: 'S', passwordHash })
}

/** An address that no other test uses. */
const address = () => `198.51.100.${++made}`

describe('signing in with a password', () => {
  test('starts a session, regardless of the case of the address and of spaces around it', async () => {
    const { id, email } = await person()
    const ctx = instance(address())
    const signIn = await signInByPassword(
      ctx,
      { email: ` ${email.toUpperCase()} `, password: 'the right password' },
      'b',
    )
    expect(signIn).toMatchObject({ kind: 'signedIn' })
    const token = signIn?.kind === 'signedIn' ? signIn.sessionToken : ''
    expect(await userOfSession(ctx, token)).toMatchObject({ userId: id })
  })

  test('is refused in the same way for a wrong password and an unknown address', async () => {
    const { email } = await person()
    const ctx = instance(address())
    expect(await signInByPassword(ctx, { email, password: 'wrong' }, 'b')).toBeNull()
    expect(await signInByPassword(ctx, { email: 'nobody@example.com', password: 'wrong' }, 'b')).toBeNull()
    expect(await signInByPassword(ctx, { email: 'no address', password: '' }, 'b')).toBeNull()
  })

  test('asks for the second factor if there is one', async () => {
    const { id, email } = await person()
    await prisma.user.update({ where: { id }, data: { totpEnabled: true } })
    const signIn = await signInByPassword(instance(address()), { email, password: 'the right password' }, 'b')
    expect(signIn).toMatchObject({ kind: 'secondFactor' })
    expect(await prisma.session.count({ where: { userId: id } })).toBe(0)
  })
})

test('a signed-in person confirms their identity with the password, within the same limits', async () => {
  const { id } = await person()
  const ctx = instance(address())
  const actor = await userOfSession(ctx, await startSession(ctx, id, 'b'))
  if (actor === null) throw new Error('No one is signed in.')
  expect(await confirmByPassword({ ...ctx, actor }, 'wrong')).toBe(false)
  expect(await confirmByPassword({ ...ctx, actor }, 'the right password')).toBe(true)
})
