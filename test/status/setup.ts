import { createOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import type { Event, PrismaClient } from '../../src/generated/prisma/client.ts'
import type { Role, Scope, Tier } from '../../src/generated/prisma/enums.ts'
import { createService } from '../../src/status/service/service.ts'
import { noon, testContext } from '../support/context.ts'

/** A separate organization. */
export interface Tenant {
  readonly id: string
  readonly slug: string
  /** The context of its first key, at noon. */
  readonly ctx: Context
  /** The context of a key with another scope. */
  as(scope: Scope): Context
  /** The context of its first key, so many milliseconds after noon. */
  later(milliseconds: number): Context
  /** Its events, in order. */
  events(): Promise<Event[]>
  /** Its events as texts: `KIND subject's name`. */
  news(): Promise<string[]>
  /** Adds services with these names, whose status is stated since noon, without an event of its own. Returns their ids. */
  services(...names: string[]): Promise<string[]>
}

let made = 0

/** Creates organizations in a database. */
export function tenantsOf(prisma: PrismaClient): (tier?: Tier) => Promise<Tenant> {
  const operator = testContext(prisma, { actor: { kind: 'operator' } })
  return async (tier = 'FREE') => {
    const slug = `tenant-${++made}`
    const { organization, apiKey } = await createOrganization(operator, {
      name: 'Acme',
      slug,
      contactEmail: 'ops@acme.example',
    })
    const { id } = await prisma.organization.update({ where: { id: organization.id }, data: { tier } })
    const holder = (scope: Scope, now = noon) =>
      testContext(prisma, {
        actor: { kind: 'apiKey', keyId: apiKey.apiKey.id, organizationId: id, scope, checkPlan: 'FREE' },
        now: () => now,
      })
    const ctx = holder('ADMIN')
    const events = () =>
      prisma.event.findMany({ where: { organizationId: id, seq: { gt: 2 } }, orderBy: { seq: 'asc' } })
    return {
      id,
      slug,
      ctx,
      as: holder,
      later: (milliseconds) => holder('ADMIN', new Date(noon.getTime() + milliseconds)),
      events,
      news: async () => (await events()).map(({ kind, subjectName }) => `${kind} ${subjectName}`),
      async services(...names) {
        const ids: string[] = []
        for (const name of names) ids.push((await createService(ctx, { name })).id)
        await prisma.service.updateMany({ where: { id: { in: ids } }, data: { statedAt: noon } })
        return ids
      },
    }
  }
}

/** The outcomes of concurrent attempts: the results, and the errors. */
export async function together<T>(attempts: readonly Promise<T>[]): Promise<{ done: T[]; refused: unknown[] }> {
  const settled = await Promise.allSettled(attempts)
  return {
    done: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    refused: settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])),
  }
}

/** A member of an organization, signed in at noon. */
export interface TestMember {
  /** The id of the person. */
  readonly id: string
  readonly ctx: Context
}

/** Adds people as members of organizations in a database. */
export function membersOf(prisma: PrismaClient) {
  return async ({ id: organizationId }: Tenant, name: string, role: Role = 'EDITOR'): Promise<TestMember> => {
    const user = { id: newId('User'), email: `${newId('User')}@people.example`, name, createdAt: noon }
    const memberships = { create: { organizationId, role, createdAt: noon } }
    await prisma.user.create({ data: { ...user, memberships } })
    const session = { id: newId('Session'), userId: user.id, hash: user.id, userAgent: '', expiresAt: noon }
    await prisma.session.create({ data: { ...session, createdAt: noon, lastSeenAt: noon, confirmedAt: noon } })
    const ctx = testContext(prisma, {
      actor: {
        ...{ kind: 'user', userId: user.id, sessionId: session.id, isOperator: false, confirmedAt: noon },
        ...{ organizationId, memberships: new Map([[organizationId, { role, checkPlan: 'FREE' }]]) },
      },
      now: () => noon,
    })
    return { id: user.id, ctx }
  }
}

/** Malformed ids, and one that does not exist: all get the same answer, and none reaches the database as text. */
export const noIds = (prefix: string): string[] => [
  '',
  prefix,
  `${prefix}_\u0000`,
  `${prefix}_${'0'.repeat(100_000)}`,
  `org_${'0'.repeat(24)}`,
  `${prefix}_${'0'.repeat(24)}`,
]
