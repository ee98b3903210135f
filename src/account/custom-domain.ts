import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context, Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { randomText } from '../core/id.ts'
import { invalid, validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { CustomDomain } from '../generated/prisma/client.ts'
import { domainProblem, hostName } from './domain-name.ts'

/** The path of the challenge file, before the token. */
export const CHALLENGE_PATH = '/.well-known/allclear-challenge'

/** 160 and 120 random bits. */
const TOKEN_LENGTH = 32
const ID_LENGTH = 24

/** The challenge that proves a domain: one of the two. */
export interface DomainChallenge {
  readonly record: { readonly name: string; readonly value: string }
  readonly file: { readonly url: string; readonly content: string }
}

/** Returns the challenge of a domain: a TXT record, or a file on its web server. */
export function challengeOf({ name, token }: Pick<CustomDomain, 'name' | 'token'>): DomainChallenge {
  return {
    record: { name: `_allclear-challenge.${name}`, value: token },
    // More than the path, because some servers echo the path.
    file: { url: `http://${name}${CHALLENGE_PATH}/${token}`, content: challengeContent(token) },
  }
}

const challengeContent = (token: string) => `allclear-challenge ${token}`

/**
 * Returns our answer at a domain's challenge path. Only for a proven domain: otherwise a name that points here, perhaps by a
 * forgotten DNS record, would prove itself for any organization.
 */
export async function challengeResponse(db: Database, host: string, token: string): Promise<string | null> {
  const domain = await db.customDomain.findFirst({
    where: { name: host, state: 'PROVEN', organization: { customDomain: host, deletedAt: null } },
    select: { token: true },
  })
  return domain?.token === token ? challengeContent(token) : null
}

const request = z.object({ pageId: z.string(), domain: hostName })

/**
 * Requests a custom domain for the page, replacing the previous one. It is served once proven. Requesting it again checks it
 * again soon, with the same challenge. Needs a key with scope ADMIN.
 * @throws Invalid for a name that cannot be used. @throws NotFound when the organization has no page with this id.
 */
export async function requestDomain(ctx: Context, input: unknown): Promise<CustomDomain> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { pageId, domain } = validate(request, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    // The organization's id is accepted for its only page.
    if (pageId !== before.pageId && pageId !== organizationId) throw new NotFound('Page not found.')
    const requested = await setRequestedDomain(tx, organizationId, domain, ['domain'])
    if (before.customDomain === null || before.customDomain === domain) return [requested]
    await tx.db.organization.update({ where: { id: organizationId }, data: { version: { increment: 1 } } })
    return [requested, { kind: 'PAGE_UPDATED', subjectId: organizationId, subjectName: before.name }]
  })
}

/**
 * Requests a domain in the caller's transaction.
 * @param path the input field. @throws Invalid.
 */
export async function setRequestedDomain(
  { db, config, now }: Context,
  organizationId: string,
  name: string,
  path: readonly string[],
): Promise<CustomDomain> {
  const problem = domainProblem(config.BASE_URL ?? 'http://localhost', name)
  if (problem !== null) throw invalid([{ path: [...path], message: problem }])
  const known = await db.customDomain.findUnique({ where: { organizationId } })
  if (known?.name === name) {
    // A proven domain stays proven and keeps its schedule.
    const again = known.state === 'PROVEN' ? {} : { requestedAt: now(), dueAt: now() }
    return db.customDomain.update({ where: { organizationId }, data: again })
  }
  await deleteDomain(db, organizationId)
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

/** Deletes an organization's domain and stops serving it. */
export async function deleteDomain(db: Database, organizationId: string): Promise<void> {
  await db.customDomain.deleteMany({ where: { organizationId } })
  await db.organization.updateMany({
    where: { id: organizationId, customDomain: { not: null } },
    data: { customDomain: null },
  })
}

/** Returns the organization whose page is served under a host name; null: none. */
export async function organizationOfHost(
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
