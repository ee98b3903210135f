import { z } from 'zod'
import { requireConfirmation, requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { hostName } from '../../core/host-name.ts'
import { randomText } from '../../core/id.ts'
import { requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { CustomDomain } from '../../generated/prisma/client.ts'
import type { Page } from '../page/page.ts'
import { countEdit, findPage, pageUpdated } from '../page/page.ts'
import { domainProblem } from './domain-name.ts'
import type { ProvenDomains } from './proven-domains.ts'

/** The path of the challenge file, before the token. */
export const CHALLENGE_PATH = '/.well-known/allclear-challenge'

/** 160 and 120 random bits. */
const TOKEN_LENGTH = 32
const ID_LENGTH = 24

/** The challenge that proves a domain. Either the record or the file is enough. */
export interface DomainChallenge {
  readonly record: { readonly name: string; readonly value: string }
  readonly file: { readonly url: string; readonly content: string }
}

/** Returns the challenge of a domain: a TXT record, or a file on its web server. */
export function challengeOf({ name, token }: Pick<CustomDomain, 'name' | 'token'>): DomainChallenge {
  return {
    record: { name: `_allclear-challenge.${name}`, value: token },
    // The file contains more than its path, because some servers echo the path.
    file: { url: `http://${name}${CHALLENGE_PATH}/${token}`, content: challengeContent(token) },
  }
}

/** The path at which a reverse proxy asks whether it may fetch a certificate for a host name. */
export const CERTIFICATE_PATH = '/.well-known/allclear-certificate'

const challengeContent = (token: string) => `allclear-challenge ${token}`

/**
 * Returns our answer at the challenge path of a domain. We answer only for a proven domain; otherwise a name that points here,
 * perhaps by a forgotten DNS record, would prove itself for any organization.
 */
export async function challengeResponse(db: Database, host: string, token: string): Promise<string | null> {
  const domain = await db.customDomain.findFirst({
    where: { name: host, state: 'PROVEN', page: { customDomain: host, organization: { deletedAt: null } } },
    select: { token: true },
  })
  return domain?.token === token ? challengeContent(token) : null
}

const request = z.object({ pageId: z.string(), domain: hostName, version: versionInput })
const removal = request.omit({ domain: true })

/**
 * Requests a custom domain for a page, in place of its previous one. The page is served there once the domain is proven. Another
 * request for the same domain makes its next check due immediately, with the same challenge. Requires a key with scope ADMIN; a
 * person must confirm it.
 * @throws Invalid for a name that cannot be used. @throws NotFound when the organization has no page with this id.
 * @throws Conflict when the page has changed since the given version.
 */
export async function requestDomain(ctx: ChangeContext, input: unknown): Promise<CustomDomain> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const { pageId, domain, version } = validate(request, input)
  return change(ctx, organizationId, async (tx) => {
    const page = await findPage(tx.db, organizationId, pageId)
    requireVersion(page, version)
    const known = await tx.db.customDomain.findUnique({ where: { pageId: page.id }, select: { name: true } })
    const requested = await setRequestedDomain(tx, page, domain)
    if (known?.name === domain) return [requested]
    await countEdit(tx.db, page)
    return [requested, pageUpdated(page)]
  })
}

/**
 * Removes the domain of a page and stops serving it. Requires a key with scope ADMIN; a person must confirm it.
 * @throws NotFound when the organization has no such page. @throws Conflict when it has changed since the given version.
 */
export async function removeDomain(ctx: ChangeContext, input: unknown): Promise<Page> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const { pageId, version } = validate(removal, input)
  return change(ctx, organizationId, async ({ db }) => {
    const page = await findPage(db, organizationId, pageId)
    requireVersion(page, version)
    if ((await deleteDomain(db, page.id)) === 0) return [page]
    await countEdit(db, page)
    return [await findPage(db, organizationId, page.id), pageUpdated(page)]
  })
}

/** Requests a domain in the caller's transaction. @throws Invalid. */
async function setRequestedDomain(
  { db, config, now }: Context,
  { id: pageId, organizationId }: Pick<Page, 'id' | 'organizationId'>,
  name: string,
): Promise<CustomDomain> {
  const problem = domainProblem(config.BASE_URL ?? 'http://localhost', name)
  if (problem !== null) throw invalid([{ path: ['domain'], message: problem }])
  const known = await db.customDomain.findUnique({ where: { pageId } })
  if (known?.name === name) {
    // A proven domain stays proven and keeps its schedule.
    const again = known.state === 'PROVEN' ? {} : { requestedAt: now(), dueAt: now() }
    return db.customDomain.update({ where: { pageId }, data: again })
  }
  await deleteDomain(db, pageId)
  return db.customDomain.create({
    data: {
      id: `dom_${randomText(ID_LENGTH)}`,
      organizationId,
      pageId,
      name,
      token: randomText(TOKEN_LENGTH),
      state: 'PENDING',
      requestedAt: now(),
      dueAt: now(),
    },
  })
}

/** Returns the domain requested for a page, whether or not it is served; null: none. */
export function domainOfPage({ db }: Pick<Context, 'db'>, pageId: string): Promise<CustomDomain | null> {
  return db.customDomain.findUnique({ where: { pageId } })
}

/** Returns the domains requested for an organization's pages, whether or not they are served. */
export function listDomains({ db }: Pick<Context, 'db'>, organizationId: string): Promise<CustomDomain[]> {
  return db.customDomain.findMany({ where: { organizationId } })
}

/** Deletes the domain of a page and stops serving it. Returns the number of deleted domains. */
async function deleteDomain(db: Database, pageId: string): Promise<number> {
  const { count } = await db.customDomain.deleteMany({ where: { pageId } })
  await db.page.updateMany({ where: { id: pageId, customDomain: { not: null } }, data: { customDomain: null } })
  return count
}

/** Returns whether a certificate may be fetched for a host name: it is that of this service, or a proven domain. */
export async function isServedHost(
  domains: Pick<ProvenDomains, 'isProven'>,
  site: { readonly baseUrl: string },
  host: string,
): Promise<boolean> {
  return host === new URL(site.baseUrl).hostname || (await domains.isProven(host))
}
