import { expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import type { PeopleContext } from '../../src/people/context.ts'
import { acceptInvitation, invite } from '../../src/people/invitation.ts'
import { addOwner, removeMember, setRole } from '../../src/people/membership.ts'
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

/** The context of an owner in the organization of the operator's context. */
async function ownerContext({ actor }: Context, userId: string): Promise<PeopleContext> {
  const user = await userOfSession(visitor, await startSession(visitor, userId, 'x'))
  if (user === null || actor.kind !== 'operator') throw new Error('No one is signed in.')
  return { ...visitor, actor: { ...user, organizationId: actor.organizationId } }
}
