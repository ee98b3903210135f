import { expect, test } from 'vitest'
import { hidden, newVisitor } from '../../../people/html/visitor.ts'
import { testConsole } from '../../../support/console.ts'

const { app, database, organization } = await testConsole()
const { signIn } = await organization('forgetful')
const other = await organization('elsewhere')

test('the operator creates a link with which a member sets a new password', async () => {
  const [operator, member] = [await signIn(null, { isOperator: true }), await signIn('EDITOR')]
  const path = `people/${member.userId}/reset`
  expect((await operator.get('people')).html).toContain(`/console/forgetful/${path}`)
  expect((await operator.get(path)).status).toBe(200)
  const { status, html } = await operator.post(path, {})
  expect(status).toBe(200)
  const link = new RegExp(`${app.baseUrl}/sign-in/reset/[\\w-]{43}`).exec(html)?.[0] ?? ''
  const visitor = newVisitor(app.baseUrl)
  expect((await visitor.get(link)).status).toBe(200)
  expect((await visitor.post(link, { password: 'a new long password' })).status).toBe(303)
  await expect.poll(async () => (await member.get('now')).status).toBe(303)
})

test('the operator confirms their identity first', async () => {
  const [operator, member] = [await signIn(null, { isOperator: true }), await signIn('EDITOR')]
  const where = { userId: operator.userId }
  await database.prisma.session.updateMany({ where, data: { confirmedAt: new Date(0) } })
  const refused = await operator.post(`people/${member.userId}/reset`, {})
  expect(refused.status).toBe(401)
  expect(hidden(refused, 'held')).toContain(`people/${member.userId}/reset`)
  expect(await database.prisma.oneTimeToken.count({ where: { userId: member.userId } })).toBe(0)
})

test('no one else can, and members of other organizations are not shown', async () => {
  const [owner, member] = [await signIn('OWNER'), await signIn('EDITOR')]
  const path = `people/${member.userId}/reset`
  expect((await owner.get('people')).html).not.toContain('/reset')
  expect([(await owner.get(path)).status, (await owner.post(path, {})).status]).toEqual([404, 404])
  const stranger = await other.signIn('OWNER')
  const operator = await signIn(null, { isOperator: true })
  const foreign = `people/${stranger.userId}/reset`
  expect([(await operator.get(foreign)).status, (await operator.post(foreign, {})).status]).toEqual([404, 404])
})
