import type { Context } from '../../core/context.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { runDue } from '../../database/lease/due-work.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { CustomDomain } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { DnsClient, DnsResult } from '../../network/dns/client.ts'
import type { Outbound } from '../../network/outbound/outbound.ts'
import { notDeleted } from '../not-deleted.ts'
import { countEdit, findPage, pageUpdated } from '../page/page.ts'
import { challengeOf } from './custom-domain.ts'
import type { ProofResult } from './custom-domain-state.ts'
import { afterCheck, outweighs } from './custom-domain-state.ts'
import { domainProblem } from './domain-name.ts'

/** The clients that look for proofs. */
export interface VerificationTools {
  readonly dns: Pick<DnsClient, 'query'>
  readonly outbound: Pick<Outbound, 'request'>
}

const LEASE = MINUTE
const BATCH = 10
const FETCH_TIMEOUT = 10 * SECOND
/** The maximum size of a challenge file. */
const MAX_BYTES = 1024

/**
 * Checks due domains, and starts or stops serving them. Returns when the next check is due; null: none.
 */
export function checkDueDomains(ctx: ChangeContext, tools: VerificationTools): Promise<Date | null> {
  return runDue(ctx, {
    table: 'CustomDomain',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH,
    leaseMs: LEASE,
    each: ({ id, until }) => checkDomain(ctx, tools, id, until),
    isParallel: true,
    subject: 'domain',
    failureMessage: 'account: could not check a domain; trying again',
  })
}

async function checkDomain(ctx: ChangeContext, tools: VerificationTools, id: string, lease: Date): Promise<void> {
  const domain = await ctx.db.customDomain.findFirst({ where: { id, dueAt: lease } })
  if (domain === null) return
  const found = await findProof(ctx, tools, domain)
  if ((found === 'TXT' || found === 'PATH') && !(await claimFromOthers(ctx, domain, found))) {
    return saveResult(ctx, domain, lease, 'NONE')
  }
  try {
    await saveResult(ctx, domain, lease, found)
  } catch (error) {
    // Another page has proven the domain first.
    const taken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
    if (!taken) throw error
    await saveResult(ctx, domain, lease, 'NONE')
  }
}

/** Looks for the proof of a domain, first in DNS, because a DNS record is the stronger proof. */
async function findProof(
  { config }: Pick<Context, 'config'>,
  { dns, outbound }: VerificationTools,
  domain: Pick<CustomDomain, 'name' | 'token' | 'organizationId'>,
): Promise<ProofResult> {
  if (domainProblem(config.BASE_URL ?? 'http://localhost', domain.name) !== null) return 'FORBIDDEN'
  const { record, file } = challengeOf(domain)
  const answer = await dns.query(record.name, 'TXT', { fresh: true })
  if (answer.kind === 'answer' && answer.values.some((value) => matchesToken(value, record.value))) return 'TXT'
  const fetched = await outbound.request(
    { url: file.url, maxRedirects: 3, maxBodyBytes: MAX_BYTES, verify: false },
    { timeoutMs: FETCH_TIMEOUT, owner: domain.organizationId },
  )
  if (fetched.kind === 'answer') {
    // After a redirect to another host, the file would prove that host.
    const isOwn = new URL(fetched.url).hostname === domain.name
    return isOwn && fetched.status === 200 && fetched.body.toString('utf8').trim() === file.content
      ? 'PATH'
      : unproven(answer)
  }
  return fetched.fault === 'ours' ? 'UNKNOWN' : unproven(answer)
}

/** Returns `NONE` when DNS answers, even with SERVFAIL, because broken name servers prove nothing. */
function unproven(answer: DnsResult): ProofResult {
  return answer.kind === 'failed' && answer.reason !== 'servfail' ? 'UNKNOWN' : 'NONE'
}

/** Compares a TXT value with the token. Some DNS panels add quotes. */
const matchesToken = (value: string, token: string) => value.trim().replace(/^"(.*)"$/, '$1') === token

/** Returns whether no other page holds the domain. Takes it from a page of another organization that has a weaker proof. */
async function claimFromOthers(
  ctx: ChangeContext,
  { name, organizationId, pageId }: CustomDomain,
  found: 'TXT' | 'PATH',
): Promise<boolean> {
  const holder = await ctx.db.customDomain.findFirst({
    where: { name, state: 'PROVEN', pageId: { not: pageId } },
  })
  if (holder === null) return true
  // Both pages have the same owner, who must decide.
  if (holder.organizationId === organizationId) return false
  if (!outweighs(found, holder.provenBy)) return false
  await change(ctx, holder.organizationId, async (tx) => {
    const { count } = await tx.db.customDomain.updateMany({
      where: { id: holder.id, state: 'PROVEN', provenBy: holder.provenBy },
      data: { state: 'LOST', lostAt: tx.now(), failingSince: null },
    })
    return count === 0 ? [null] : [null, await setServedDomain(tx, holder, null)]
  })
  return true
}

/** Saves the result of a check, unless the domain was requested again or deleted in the meantime. */
async function saveResult(ctx: ChangeContext, domain: CustomDomain, lease: Date, found: ProofResult): Promise<void> {
  const { id, organizationId, name } = domain
  await change(ctx, organizationId, async (tx) => {
    const before = await tx.db.customDomain.findFirst({ where: { id, dueAt: lease } })
    if (before === null) return [null]
    const after = afterCheck(before, found, before.lostAt ?? before.requestedAt, tx.now())
    const isLost = before.state !== after.state && after.state === 'LOST'
    const checkedAt = found === 'UNKNOWN' ? before.checkedAt : tx.now()
    await tx.db.customDomain.update({
      where: { id },
      data: { ...after, checkedAt, lostAt: isLost ? tx.now() : after.state === 'PROVEN' ? null : before.lostAt },
    })
    if (before.state === after.state) return [null]
    return [null, await setServedDomain(tx, domain, after.state === 'PROVEN' ? name : null)]
  })
}

/** Sets the domain that serves a page; null: none. Returns the event. */
async function setServedDomain(
  { db }: Context,
  { organizationId, pageId }: Pick<CustomDomain, 'organizationId' | 'pageId'>,
  customDomain: string | null,
): Promise<NewEvent> {
  await db.page.update({ where: { id: pageId }, data: { customDomain } })
  const page = await findPage(db, organizationId, pageId)
  await countEdit(db, page)
  return pageUpdated(page)
}
