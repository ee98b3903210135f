import { z } from 'zod'
import type { Context, Database } from '../context.ts'

import { NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { CustomDomain } from '../generated/prisma/client.ts'
import { randomText } from '../id.ts'
import { invalid, validate } from '../validate.ts'
import { requireScope } from './access.ts'
import { domainProblem, hostName } from './domain-name.ts'

/** Where the file that proves a domain stands, before the token. */
export const CHALLENGE_PATH = '/.well-known/allclear-challenge'

/** 160 and 120 random bits. */
const TOKEN_LENGTH = 32
const ID_LENGTH = 24

/** What its owner puts up to prove a domain: one of the two. */
export interface DomainChallenge {
  readonly record: { readonly name: string; readonly value: string }
  readonly file: { readonly url: string; readonly content: string }
}

/** What proves a domain: a TXT record, or a file that its own web server has. */
export function challengeOf({ name, token }: Pick<CustomDomain, 'name' | 'token'>): DomainChallenge {
  return {
    record: { name: `_allclear-challenge.${name}`, value: token },
    // More than the path says: some servers repeat that.
    file: { url: `http://${name}${CHALLENGE_PATH}/${token}`, content: challengeContent(token) },
  }
}

const challengeContent = (token: string) => `allclear-challenge ${token}`

/**
 * What we answer at a domain's own challenge path. Only once it is proven: a name that merely points here, perhaps by an entry
 * that was forgotten, would else prove itself for anyone who asks for it.
 */
export async function ownChallenge(db: Database, host: string, token: string): Promise<string | null> {
  const domain = await db.customDomain.findFirst({
    where: { name: host, state: 'PROVEN', organization: { customDomain: host, deletedAt: null } },
    select: { token: true },
  })
  return domain?.token === token ? challengeContent(token) : null
}

const request = z.object({ pageId: z.string(), domain: hostName })

/**
 * Asks for a domain under which the page is to be served, in place of the one before: it is once the domain is proven. Asked
 * for again, it is checked again soon, with the same challenge. Needs a key with scope ADMIN.
 * @throws Invalid for a name that may not be used. @throws NotFound when the organization has no such page.
 */
export async function requestDomain(ctx: Context, input: unknown): Promise<CustomDomain> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { pageId, domain } = validate(request, input)
  if (pageId !== organizationId) throw new NotFound('There is no such page.')
  return change(ctx, organizationId, async (tx) => {
    const before = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const requested = await askForDomain(tx, organizationId, domain, ['domain'])
    if (before.customDomain === null || before.customDomain === domain) return [requested]
    await tx.db.organization.update({ where: { id: organizationId }, data: { version: { increment: 1 } } })
    return [requested, { kind: 'PAGE_UPDATED', subjectId: organizationId, subjectName: before.name }]
  })
}

/**
 * Asks for a domain in the caller's transaction.
 * @param path names the field of the input. @throws Invalid.
 */
export async function askForDomain(
  { db, config, now }: Context,
  organizationId: string,
  name: string,
  path: readonly string[],
): Promise<CustomDomain> {
  const problem = domainProblem(config.BASE_URL ?? 'http://localhost', name)
  if (problem !== null) throw invalid([{ path: [...path], message: problem }])
  const known = await db.customDomain.findUnique({ where: { organizationId } })
  if (known?.name === name) {
    // What is proven stays so, and is looked at as before.
    const again = known.state === 'PROVEN' ? {} : { requestedAt: now(), dueAt: now() }
    return db.customDomain.update({ where: { organizationId }, data: again })
  }
  await dropDomain(db, organizationId)
  return db.customDomain.create({
    data: {
      id: `dom_${randomText(ID_LENGTH)}`,
      organizationId,
      name,
      token: randomText(TOKEN_LENGTH),
      state: 'PENDING',
      requestedAt: now(),
      dueAt: now(),
    },
  })
}

/** Forgets an organization's domain: it is served there no more. */
export async function dropDomain(db: Database, organizationId: string): Promise<void> {
  await db.customDomain.deleteMany({ where: { organizationId } })
  await db.organization.updateMany({
    where: { id: organizationId, customDomain: { not: null } },
    data: { customDomain: null },
  })
}

/** The organization whose page is served under a host name; null: nobody's. */
export async function ownerOfHost(
  { db, site }: { readonly db: Database; readonly site: { readonly baseUrl: string } },
  host: string,
): Promise<string | null> {
  if (!hostName.safeParse(host).success || domainProblem(site.baseUrl, host) !== null) return null
  const found = await db.organization.findUnique({
    where: { customDomain: host, deletedAt: null },
    select: { id: true },
  })
  return found?.id ?? null
}
