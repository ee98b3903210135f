import { describe, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/account/api-key/api-key.ts'
import { createOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import type { PeopleContext } from '../../src/people/context.ts'
import { acceptInvitation, findInvitation, invite } from '../../src/people/invitation.ts'
import { addOwner, keptCredentials, removeMember, setRole } from '../../src/people/membership.ts'
import { createPageToken } from '../../src/people/page-access.ts'
import { createKnownSessions, startSession, userOfSession } from '../../src/people/session.ts'
import { testDatabase } from '../support/database.ts'
import { newUser, peopleContext } from './setup.ts'

const { prisma } = await testDatabase()

/** A database whose notifications have not arrived yet. */
const silent = { listen: async () => async () => undefined }
const knownSessions = await createKnownSessions(silent)
const visitor = peopleContext(prisma, { knownSessions })
const operator = { ...visitor, actor: { kind: 'operator' } as const }

let made = 0

/** An organization, and a person whose session the instance has cached without a membership. */
async function strangerOf() {
  const input = { name: 'A', slug: `membership-${++made}`, contactEmail: 'a@b.example' }
  const { organization } = await createOrganization(operator, input)
  const user = await newUser(visitor)
  const token = await startSession(visitor, user.id, 'x')
  const roleNow = async () => (await userOfSession(visitor, token))?.memberships.get(organization.id)?.role
  const inOrganization = { organizationId: organization.id }
  const forOrganization: Context = { ...operator, actor: { kind: 'operator', ...inOrganization } }
  const person = async (): Promise<PeopleContext> => {
    const actor = await userOfSession(visitor, token)
    if (actor === null) throw new Error('No one is signed in.')
    return { ...visitor, actor: { ...actor, ...inOrganization } }
  }
  expect(await roleNow()).toBeUndefined()
  return { user, roleNow, forOrganization, person }
}

test('a person whom the operator makes an owner is one with the next request', async () => {
  const { user, roleNow, forOrganization } = await strangerOf()
  await addOwner(forOrganization, user.email)
  expect(await roleNow()).toBe('OWNER')
})

test('a person who accepts an invitation is a member with the next request', async () => {
  const { user, roleNow, forOrganization, person } = await strangerOf()
  const owner = await newUser(visitor)
  await addOwner(forOrganization, owner.email)
  const { token } = await invite(await ownerContext(forOrganization, owner.id), { email: user.email, role: 'EDITOR' })
  await acceptInvitation(await person(), token)
  expect(await roleNow()).toBe('EDITOR')
})

test('a changed role and a removal count with the next request', async () => {
  const { user, roleNow, forOrganization } = await strangerOf()
  const owner = await newUser(visitor)
  for (const { email } of [owner, user]) await addOwner(forOrganization, email)
  const ctx = await ownerContext(forOrganization, owner.id)
  await setRole(ctx, { userId: user.id, role: 'VIEWER' })
  expect(await roleNow()).toBe('VIEWER')
  await removeMember(ctx, user.id)
  expect(await roleNow()).toBeUndefined()
})

describe('what a member leaves behind', () => {
  /** Two owners of an organization, one of whom has created keys, a read token and an invitation. */
  async function withKeys() {
    const { user, forOrganization } = await strangerOf()
    const owner = await newUser(visitor)
    for (const { email } of [owner, user]) await addOwner(forOrganization, email)
    const [ctx, leaving] = await Promise.all([owner, user].map(({ id }) => ownerContext(forOrganization, id)))
    if (ctx === undefined || leaving === undefined) throw new Error('No owners.')
    const { apiKey: admin } = await createApiKey(leaving, { name: 'Deploy', scope: 'ADMIN' })
    const organizationId = admin.organizationId
    const byKey: Context = {
      ...visitor,
      actor: { kind: 'apiKey', keyId: admin.id, organizationId, scope: 'ADMIN', checkPlan: 'FREE' },
    }
    await createApiKey(byKey, { name: 'Made by a key', scope: 'READ' })
    const { apiKey: revoked } = await createApiKey(leaving, { name: 'Revoked', scope: 'ADMIN' })
    await revokeApiKey(leaving, revoked.id)
    await createApiKey(ctx, { name: 'Another person’s', scope: 'ADMIN' })
    const { pageId } = await prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    await createPageToken(leaving, { pageId, name: 'Screen' })
    const { token } = await invite(leaving, { email: `back-${user.email}`, role: 'OWNER' })
    const newsOf = async (kind: 'MEMBER_KEYS_KEPT' | 'INVITATION_REVOKED') =>
      (await prisma.event.findMany({ where: { organizationId, kind } })).map(({ subjectName }) => subjectName)
    return { ctx, user, token, newsOf, organizationId }
  }

  test('keys and read tokens stay, listed to the owners and in the log; invitations do not', async () => {
    const { ctx, user, token, newsOf, organizationId } = await withKeys()
    const names = ['Made by a key', 'Deploy', 'Screen']
    const kept = await keptCredentials(ctx, { organizationId, user }, null)
    expect(kept.map(({ name }) => name).sort()).toEqual([...names].sort())
    await removeMember(ctx, user.id)
    const [said, ...others] = await newsOf('MEMBER_KEYS_KEPT')
    expect(others).toEqual([])
    for (const name of names) expect(said).toContain(name)
    expect(said).toMatch(new RegExp(`^${user.name}: `))
    expect(await newsOf('INVITATION_REVOKED')).toEqual([`back-${user.email}`])
    await expect(findInvitation(visitor, token)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await prisma.apiKey.count({ where: { createdById: user.id, revokedAt: null } })).toBe(2)
  })

  test('after a lesser role, it is what allows more than that role', async () => {
    const { ctx, user, token, newsOf } = await withKeys()
    await setRole(ctx, { userId: user.id, role: 'EDITOR' })
    expect(await newsOf('MEMBER_KEYS_KEPT')).toEqual([`${user.name}: Deploy`])
    await expect(findInvitation(visitor, token)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

/** The context of an owner in the organization of the operator's context. */
async function ownerContext({ actor }: Context, userId: string): Promise<PeopleContext> {
  const user = await userOfSession(visitor, await startSession(visitor, userId, 'x'))
  if (user === null || actor.kind !== 'operator') throw new Error('No one is signed in.')
  return { ...visitor, actor: { ...user, organizationId: actor.organizationId } }
}
