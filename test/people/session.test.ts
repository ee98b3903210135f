import { describe, expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import { transaction } from '../../src/core/context.ts'
import { Unauthenticated } from '../../src/core/errors.ts'
import { insertMembership, setRole } from '../../src/people/membership.ts'
import {
  confirmSession,
  createKnownSessions,
  endSessions,
  MAX_SESSIONS,
  revokeOtherSessions,
  sessionsOf,
  startSession,
  userOfSession,
} from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { createService } from '../../src/status/service/service.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const database = await testDatabase()
const { prisma } = database
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const DAY = 86_400_000
const at = (milliseconds: number) => testContext(prisma, { now: () => new Date(noon.getTime() + milliseconds) })

let made = 0

async function person() {
  made += 1
  return insertUser(operator, 'MAILED_SIGN_UP_LINK', {
    email: `p${made}@example.com`,
    name: `P ${made}`,
    passwordHash: null,
  })
}

/** A signed-in owner. */
async function owner() {
  const user = await person()
  const input = { name: 'A', slug: `sessions-${made}`, contactEmail: 'a@b.example' }
  const { organization } = await createOrganization(operator, input)
  await transaction(operator, (tx) =>
    insertMembership(tx, { organizationId: organization.id, userId: user.id, role: 'OWNER' }, user.name),
  )
  const token = await startSession(operator, user.id, 'x')
  return { user, organization, token }
}

/** The context of a signed-in person, acting in an organization. */
async function contextOf(token: string, organizationId?: string, ctx: Context = at(0)): Promise<Context> {
  const actor = await userOfSession(ctx, token)
  if (actor === null) throw new Error('No one is signed in.')
  return { ...ctx, actor: organizationId === undefined ? actor : { ...actor, organizationId } }
}

describe('a session', () => {
  test('has a token of 256 bits, of which the database stores only a hash', async () => {
    const { id } = await person()
    const token = await startSession(operator, id, 'a browser')
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const rows = await prisma.$queryRaw<{ row: string }[]>`SELECT s::text AS row FROM "Session" s`
    expect(rows.map(({ row }) => row).join()).not.toContain(token)
    expect(await userOfSession(at(0), token)).toMatchObject({ kind: 'user', userId: id, isOperator: false })
  })

  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(10_000), 'ü'.repeat(43)])('is not %j', async (token) => {
    expect(await userOfSession(at(0), token)).toBeNull()
  })

  test('lasts 30 days after its last use', async () => {
    const { id } = await person()
    const token = await startSession(operator, id, 'x')
    expect(await userOfSession(at(29 * DAY), token)).not.toBeNull()
    const { expiresAt } = await expect
      .poll(() => prisma.session.findFirstOrThrow({ where: { userId: id } }))
      .toMatchObject({ expiresAt: new Date(noon.getTime() + 59 * DAY) })
      .then(() => prisma.session.findFirstOrThrow({ where: { userId: id } }))
    expect(await userOfSession(at(expiresAt.getTime() - noon.getTime()), token)).toBeNull()
  })

  test('ends immediately on an instance that has cached it', async () => {
    const { id } = await person()
    const token = await startSession(operator, id, 'x')
    const knownSessions = await createKnownSessions(database)
    const other = { ...at(0), knownSessions }
    expect(await userOfSession(other, token)).not.toBeNull()
    await endSessions(at(0), { userId: id })
    await expect.poll(() => userOfSession(other, token)).toBeNull()
    await knownSessions.close()
  })

  test('that has ended cannot change anything, even if it is still cached', async () => {
    const { user, organization, token } = await owner()
    const ctx = await contextOf(token, organization.id)
    await prisma.session.deleteMany({ where: { userId: user.id } })
    await expect(createService(ctx, { name: 'Late' })).rejects.toThrow(Unauthenticated)
    expect(await prisma.service.count({ where: { name: 'Late' } })).toBe(0)
  })

  test('whose role has changed cannot change anything with the old one', async () => {
    const { organization, token } = await owner()
    const editor = await person()
    await transaction(operator, (tx) =>
      insertMembership(tx, { organizationId: organization.id, userId: editor.id, role: 'EDITOR' }, 'E'),
    )
    const stale = await contextOf(await startSession(operator, editor.id, 'x'), organization.id)
    await setRole(await contextOf(token, organization.id), { userId: editor.id, role: 'VIEWER' })
    await expect(createService(stale, { name: 'Stale' })).rejects.toThrow(Unauthenticated)
  })

  test('can end the others without ending itself', async () => {
    const { id } = await person()
    const tokens = [await startSession(operator, id, 'one'), await startSession(operator, id, 'two')]
    const ctx = await contextOf(tokens[0] ?? '')
    expect(await revokeOtherSessions(ctx)).toBe(1)
    expect((await sessionsOf(ctx)).map(({ userAgent }) => userAgent)).toEqual(['one'])
  })

  test('beyond the limit ends the least recently used one', async () => {
    const { id } = await person()
    const first = await startSession(at(0), id, 'first')
    for (let count = 1; count < MAX_SESSIONS; count++) await startSession(at(count), id, 'x')
    expect(await userOfSession(at(100), first)).not.toBeNull()
    await startSession(at(1000), id, 'last')
    expect(await prisma.session.count({ where: { userId: id } })).toBe(MAX_SESSIONS)
    expect(await userOfSession(at(1000), first)).toBeNull()
  })

  test('can be confirmed again', async () => {
    const { id } = await person()
    const token = await startSession(operator, id, 'x')
    const later = await contextOf(token, undefined, at(DAY))
    await confirmSession(later)
    expect(await userOfSession(at(DAY), token)).toMatchObject({ confirmedAt: new Date(noon.getTime() + DAY) })
  })
})
