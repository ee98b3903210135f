import { expect, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { changePassword, renameUser } from '../../src/people/account.ts'
import { sessionsOf } from '../../src/people/session.ts'
import { signInByPassword } from '../../src/people/sign-in/sign-in.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { newUser, password, peopleContext, signedIn } from './setup.ts'

const { prisma } = await testDatabase()
const ctx = peopleContext(prisma)

test('people can rename themselves', async () => {
  const own = await signedIn(ctx, await newUser(ctx))
  expect(await renameUser(own, { name: 'Ada' })).toMatchObject({ name: 'Ada' })
  await expect(renameUser(own, { name: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('changing a password requires the current one, and ends the other sessions', async () => {
  const user = await newUser(ctx, true)
  const [own, other] = [await signedIn(ctx, user), await signedIn(ctx, user)]
  const wrong = changePassword(own, { currentPassword: 'something else', password: 'a new long password' })
  await expect(wrong).rejects.toMatchObject({ issues: [{ path: ['currentPassword'], message: 'is wrong' }] })
  expect(await sessionsOf(other)).toHaveLength(2)
  await changePassword(own, { currentPassword: password, password: 'a new long password' })
  expect(await sessionsOf(own)).toMatchObject([{ id: 'sessionId' in own.actor ? own.actor.sessionId : null }])
  expect(await signInByPassword(ctx, { email: user.email, password }, '')).toBeNull()
  const signIn = await signInByPassword(ctx, { email: user.email, password: 'a new long password' }, '')
  expect(signIn).toMatchObject({ kind: 'signedIn' })
})

test('setting a first password requires a confirmation instead', async () => {
  const own = await signedIn(ctx, await newUser(ctx))
  const late = { ...own, now: () => new Date(noon.getTime() + 11 * MINUTE) }
  await expect(changePassword(late, { password })).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  await changePassword(own, { password })
})

test('a correct answer after nine wrong ones does not count towards the limit, so signing in still works', async () => {
  const user = await newUser(ctx, true)
  const visitor = { ...ctx, clientAddress: '203.0.113.50' }
  const attempt = (given: string) => signInByPassword(visitor, { email: user.email, password: given }, '')
  for (let wrong = 0; wrong < 9; wrong++) expect(await attempt('wrong')).toBeNull()
  expect(await attempt(password)).not.toBeNull()
  expect(await attempt(password)).not.toBeNull()
  expect(await attempt('wrong')).toBeNull()
  await expect(attempt(password)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
