import { z } from 'zod'
import { personBehind } from '../account/actor-name.ts'
import {
  countPageTokens,
  deletePageToken,
  insertPageToken,
  listPageTokens,
  readPageAccessRow,
  writePageAccess,
} from '../account/page/access-rows.ts'
import type { Page } from '../account/page/page.ts'
import { countEdit, findPage } from '../account/page/page.ts'
import type { GuardedPage } from '../account/page/page-guard.ts'
import { PAGE_TOKEN_PREFIX } from '../account/page/page-guard.ts'
import { requireConfirmation, requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { Conflict, NotFound, Unauthenticated } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { hostName } from '../core/host-name.ts'
import { isIdOf } from '../core/id.ts'
import { parseRange } from '../core/network-range.ts'
import { hasChanges, requireVersion, versionInput } from '../core/optimistic-lock.ts'
import { MINUTE } from '../core/time.ts'
import { cappedText, invalid, nameText, validate } from '../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { PageAccess, PageToken } from '../generated/prisma/client.ts'
import { PageAccessKind } from '../generated/prisma/enums.ts'
import { limitLinks, limitPageAttempts } from './attempt-limit.ts'
import type { AccountMailer } from './context.ts'
import { afterAnswer, requireMail } from './mail.ts'
import { createToken, newSecret, readToken, takeToken } from './one-time-token.ts'
import { hashPassword, passwordOf, verifyPassword } from './password.ts'
import { emailInput } from './user.ts'

/** The maximum number of email domains, and of networks, with access to a page. */
export const MAX_DOMAINS = 50
export const MAX_RANGES = 100
/** The maximum number of read tokens of a page. */
export const MAX_TOKENS = 50
const LINK_LIFETIME = 15 * MINUTE

/** May be shorter than a person's password, because attempts are limited and many people share it. */
const pagePassword = passwordOf(8)

const range = cappedText(100).transform((text, issues) => {
  const parsed = parseRange(text)
  if (parsed !== null) return parsed
  issues.addIssue({ code: 'custom', message: 'must be an address or a network such as 192.0.2.0/24 or 2001:db8::/32' })
  return z.NEVER
})

/** The input that sets who can read a page: `kind`, and the values that the kind needs. Absent fields stay the same. */
export const pageAccessInput = z.object({
  kind: z.enum(PageAccessKind),
  password: pagePassword.nullish(),
  mailDomains: z.array(hostName).max(MAX_DOMAINS, `must be at most ${MAX_DOMAINS}`).nullish(),
  ranges: z.array(range).max(MAX_RANGES, `must be at most ${MAX_RANGES}`).nullish(),
})

const accessChange = z.object({ pageId: z.string(), access: pageAccessInput, version: versionInput })

/** The access settings of a page, as its organization sees them. */
export type ShownAccess = Pick<PageAccess, 'kind' | 'mailDomains' | 'ranges'>

/** A checked input, with the password hashed. */
export type PreparedAccess = z.infer<typeof pageAccessInput> & { readonly passwordHash: string | undefined }

/** Returns the access settings of a page. */
export async function readPageAccess({ db }: Pick<Context, 'db'>, pageId: string): Promise<ShownAccess> {
  const access = await readPageAccessRow(db, pageId)
  return access ?? { kind: 'PUBLIC', mailDomains: [], ranges: [] }
}

/**
 * Changes who can read a page of the caller's organization. Readers lose access immediately, on every instance, and must prove it
 * again. Requires a key with scope ADMIN, or a person's confirmation.
 * @throws Invalid for an invalid field, or when a value that the kind needs is missing. @throws NotFound for an unknown page.
 * @throws Conflict when the page has changed since the given version.
 */
export async function updatePageAccess(ctx: ChangeContext & AccountMailer, input: unknown): Promise<ShownAccess> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const { pageId, access, version } = validate(accessChange, input)
  await findPage(ctx.db, organizationId, pageId)
  const prepared = await preparePageAccess(ctx, access)
  const changed = await change(ctx, organizationId, async (tx): Promise<ChangeResult<ShownAccess>> => {
    const page = await findPage(tx.db, organizationId, pageId)
    requireVersion(page, version)
    if (await setPageAccess(tx, page, prepared)) await countEdit(tx.db, page)
    return [await readPageAccess(tx, page.id)]
  })
  return changed
}

/** Validates the input and hashes its password, before the transaction: hashing takes long. @throws Invalid. */
export async function preparePageAccess(
  ctx: Context & AccountMailer,
  access: z.infer<typeof pageAccessInput>,
): Promise<PreparedAccess> {
  const { kind, password } = access
  if (kind === 'MAIL_DOMAIN' && ctx.sendMail === undefined) {
    throw invalid([{ path: ['access', 'kind'], message: 'requires email, which is not set up' }])
  }
  return {
    ...access,
    passwordHash: kind === 'PASSWORD' && password ? await hashPassword(password, ctx.clientAddress) : undefined,
  }
}

/**
 * Changes who can read a page, in the caller's transaction. Returns whether anything has changed; the caller counts the edit.
 * @throws Invalid when a value that the kind needs is missing.
 */
export function setPageAccess(
  tx: ChangeContext,
  { id: pageId, organizationId }: Pick<Page, 'id' | 'organizationId'>,
  access: PreparedAccess,
): Promise<boolean> {
  const { kind } = access
  return change(tx, organizationId, async ({ db, now }): Promise<ChangeResult<boolean>> => {
    const before = await readPageAccessRow(db, pageId)
    const fields = {
      kind,
      passwordHash: kind === 'PASSWORD' ? (access.passwordHash ?? before?.passwordHash ?? null) : null,
      mailDomains: unique(access.mailDomains ?? before?.mailDomains ?? []),
      ranges: unique(access.ranges ?? before?.ranges ?? []),
    }
    requireComplete(fields)
    if (before === null ? kind === 'PUBLIC' : !hasChanges(before, fields)) return [false]
    const generation = (before?.generation ?? 0) + 1
    const data = { ...fields, organizationId, generation, changedAt: now() }
    await writePageAccess(db, pageId, data)
    return [true, { kind: 'PAGE_ACCESS_CHANGED', subjectId: pageId, subjectName: kind }]
  })
}

const unique = (list: readonly string[]) => [...new Set(list)]

function requireComplete({
  kind,
  passwordHash,
  mailDomains,
  ranges,
}: Pick<PageAccess, 'kind' | 'passwordHash' | 'mailDomains' | 'ranges'>) {
  const lacks = (field: string, message: string) => invalid([{ path: ['access', field], message }])
  if (kind === 'PASSWORD' && passwordHash === null) throw lacks('password', 'is missing')
  if (kind === 'MAIL_DOMAIN' && mailDomains.length === 0) throw lacks('mailDomains', 'must have at least one')
  if (kind === 'ADDRESSES' && ranges.length === 0) throw lacks('ranges', 'must have at least one')
}

const newToken = z.object({ pageId: z.string(), name: nameText })

/** A new read token. `secret` is the token itself. It is not stored, so it can only be shown now. */
export interface CreatedPageToken {
  readonly secret: string
  readonly token: PageToken
}

/**
 * Creates a read token, which gives access to the documents of a page. Requires a key with scope ADMIN.
 * @throws Invalid for an invalid name. @throws NotFound for an unknown page. @throws Conflict when the page has too many tokens.
 */
export async function createPageToken(ctx: ChangeContext, input: unknown): Promise<CreatedPageToken> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const { pageId: named, name } = validate(newToken, input)
  const { id: pageId } = await findPage(ctx.db, organizationId, named)
  const secret = PAGE_TOKEN_PREFIX + newSecret()
  const created = await change(ctx, organizationId, async (tx): Promise<ChangeResult<CreatedPageToken>> => {
    if ((await countPageTokens(tx, pageId)) >= MAX_TOKENS) {
      throw new Conflict(`A page can have at most ${MAX_TOKENS} read tokens. Revoke one first.`)
    }
    const hash = hashSecret(secret)
    const token = await insertPageToken(tx, { pageId, organizationId, name, hash, createdById: await personBehind(tx) })
    return [
      { secret, token },
      { kind: 'PAGE_TOKEN_CREATED', subjectId: token.id, subjectName: name },
    ]
  })
  return created
}

/**
 * Revokes a read token immediately, on every instance. Requires a key with scope ADMIN. Returns the revoked token.
 * @throws NotFound when the organization has no such token.
 */
export async function revokePageToken(ctx: ChangeContext, id: string): Promise<PageToken> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const revoked = await change(ctx, organizationId, async ({ db }): Promise<ChangeResult<PageToken>> => {
    const token = isIdOf('PageToken', id) ? await deletePageToken(db, organizationId, id) : null
    if (token === null) throw new NotFound('Read token not found.')
    return [token, { kind: 'PAGE_TOKEN_REVOKED', subjectId: id, subjectName: token.name }]
  })
  return revoked
}

/** Returns the read tokens of a page, newest first. Requires a key with scope ADMIN. */
export function pageTokens(ctx: Context, pageId: string): Promise<PageToken[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  return listPageTokens(ctx, organizationId, pageId)
}

/**
 * Returns whether a password gives access to a page.
 * @throws RateLimited after too many wrong ones for the page, from one network or in total. @throws Unavailable under load.
 */
export async function opensPage(ctx: Context, page: GuardedPage, password: string): Promise<boolean> {
  const opened = await limitPageAttempts(ctx, page.pageId, async () =>
    (await verifyPassword(password, page.passwordHash, ctx.clientAddress)) ? true : null,
  )
  return opened === true
}

/**
 * Sends an email with a link that opens a page, if the address is at an allowed domain. The answer does not reveal whether it is.
 * @param url the address before the token. @throws Invalid for an invalid address. @throws RateLimited after too many links.
 */
export async function requestPageLink(
  ctx: Context & AccountMailer,
  page: GuardedPage,
  input: unknown,
  url: string,
): Promise<void> {
  const sendMail = requireMail(ctx)
  const { email } = validate(emailInput, input)
  await limitLinks(ctx, { email, purpose: 'page', browser: null })
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (page.kind !== 'MAIL_DOMAIN' || !page.mailDomains.includes(domain)) return
  afterAnswer(ctx, async () => {
    const { pageId, generation } = page
    const token = await createToken(ctx, 'PAGE_ACCESS', { data: { pageId, generation }, lifetimeMs: LINK_LIFETIME })
    await sendMail({
      to: email,
      subject: 'Open the status page',
      message: 'The link works once, within 15 minutes.',
      action: { label: 'Open the status page', url: `${url}/${token}` },
      reason: 'Someone requested this link with your address. If it was not you, ignore this email.',
    })
  })
}

/** Returns whether a mailed link still opens a page. */
export async function isPageLink(ctx: Context, page: GuardedPage, token: string): Promise<boolean> {
  return isFor(page, (await readToken(ctx, 'PAGE_ACCESS', token))?.data)
}

/** Uses up a mailed link. @throws Unauthenticated `INVALID_TOKEN` when it was used, has expired or no longer opens a page. */
export async function takePageLink(ctx: Context, page: GuardedPage, token: string): Promise<void> {
  if (isFor(page, (await takeToken(ctx, 'PAGE_ACCESS', token))?.data)) return
  throw new Unauthenticated('INVALID_TOKEN', 'This link was already used or has expired. Request a new one.')
}

const linkContent = z.object({ pageId: z.string(), generation: z.number() })

function isFor({ pageId, generation }: GuardedPage, data: unknown): boolean {
  const content = linkContent.safeParse(data).data
  return content?.pageId === pageId && content.generation === generation
}
