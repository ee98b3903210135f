import type { Context } from '../context.ts'
import { takeDue } from '../database/lease.ts'
import { change } from '../eventlog/change.ts'
import type { CustomDomain } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { DnsClient, DnsResult } from '../network/dns/client.ts'
import type { Outbound } from '../network/outbound.ts'
import { MINUTE, SECOND } from '../time.ts'
import { ofLiving } from './deletion.ts'
import { challengeOf } from './domain.ts'
import { domainProblem } from './domain-name.ts'
import type { Found } from './domain-state.ts'
import { afterCheck, outweighs } from './domain-state.ts'

/** What proofs are looked for with. */
export interface ProofTools {
  readonly dns: Pick<DnsClient, 'query'>
  readonly outbound: Pick<Outbound, 'request'>
}

const LEASE = MINUTE
const AT_ONCE = 10
const FETCH_TIMEOUT = 10 * SECOND
/** More is no challenge of ours. */
const MOST_BYTES = 1024

/**
 * Checks the domains that are due, and serves those that are proven, or serves them no more. Gives when the next one is due;
 * null: none is.
 */
export async function checkDueDomains(ctx: Context, tools: ProofTools): Promise<Date | null> {
  const { taken, until } = await takeDue(ctx, {
    table: 'CustomDomain',
    dueColumn: 'dueAt',
    where: ofLiving,
    limit: AT_ONCE,
    leaseMs: LEASE,
  })
  const failed = (id: string) => (error: unknown) =>
    ctx.log.error({ err: error, domain: id }, 'account: a domain could not be checked; trying again')
  await Promise.all(taken.map(({ id }) => checkDomain(ctx, tools, id, until).catch(failed(id))))
  const next = await ctx.db.customDomain.findFirst({
    where: { dueAt: { not: null }, organization: { deletedAt: null } },
    orderBy: { dueAt: 'asc' },
    select: { dueAt: true },
  })
  return next?.dueAt ?? null
}

async function checkDomain(ctx: Context, tools: ProofTools, id: string, lease: Date): Promise<void> {
  const domain = await ctx.db.customDomain.findFirst({ where: { id, dueAt: lease } })
  if (domain === null) return
  const found = await findProof(ctx, tools, domain)
  if ((found === 'TXT' || found === 'PATH') && !(await isFree(ctx, domain, found))) {
    return settle(ctx, domain, lease, 'NONE')
  }
  try {
    await settle(ctx, domain, lease, found)
  } catch (error) {
    // Another organization was a moment quicker.
    const taken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
    if (!taken) throw error
    await settle(ctx, domain, lease, 'NONE')
  }
}

/** Looks for what proves a domain: the record first, which says most. */
export async function findProof(
  { config }: Pick<Context, 'config'>,
  { dns, outbound }: ProofTools,
  domain: Pick<CustomDomain, 'name' | 'token'>,
): Promise<Found> {
  if (domainProblem(config.BASE_URL ?? 'http://localhost', domain.name) !== null) return 'FORBIDDEN'
  const { record, file } = challengeOf(domain)
  const answer = await dns.query(record.name, 'TXT', { fresh: true })
  if (answer.kind === 'answer' && answer.values.some((value) => isValue(value, record.value))) return 'TXT'
  const fetched = await outbound.request(
    { url: file.url, maxRedirects: 3, maxBodyBytes: MOST_BYTES, verify: false },
    { timeoutMs: FETCH_TIMEOUT },
  )
  if (fetched.kind === 'answer') {
    // A redirect to another host would let whoever is redirected to prove it.
    const isOwn = new URL(fetched.url).hostname === domain.name
    return isOwn && fetched.status === 200 && fetched.body.toString('utf8').trim() === file.content
      ? 'PATH'
      : missing(answer)
  }
  return fetched.fault === 'ours' ? 'UNKNOWN' : missing(answer)
}

/** No proof, when the DNS could say so. A name whose own name servers do not work proves nothing. */
function missing(answer: DnsResult): Found {
  return answer.kind === 'failed' && answer.reason !== 'servfail' ? 'UNKNOWN' : 'NONE'
}

/** Some panels put quotes into what is between the quotes. */
const isValue = (value: string, token: string) => value.trim().replace(/^"(.*)"$/, '$1') === token

/** Whether nobody else has proven the domain; who has it by less is served there no more. */
async function isFree(ctx: Context, { name, organizationId }: CustomDomain, found: 'TXT' | 'PATH'): Promise<boolean> {
  const holder = await ctx.db.customDomain.findFirst({
    where: { name, state: 'PROVEN', organizationId: { not: organizationId } },
  })
  if (holder === null) return true
  if (!outweighs(found, holder.provenBy)) return false
  await change(ctx, holder.organizationId, async (tx) => {
    const { count } = await tx.db.customDomain.updateMany({
      where: { id: holder.id, state: 'PROVEN', provenBy: holder.provenBy },
      data: { state: 'LOST', lostAt: tx.now(), failingSince: null },
    })
    return count === 0 ? [null] : [null, await serve(tx, holder.organizationId, null)]
  })
  return true
}

/** Notes what was found, unless the domain was asked for anew or dropped meanwhile. */
async function settle(ctx: Context, domain: CustomDomain, lease: Date, found: Found): Promise<void> {
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
    return [null, await serve(tx, organizationId, after.state === 'PROVEN' ? name : null)]
  })
}

/** Serves an organization's page under a name, or (null) under none. Gives what has happened. */
async function serve({ db }: Context, id: string, customDomain: string | null) {
  const organization = await db.organization.update({
    where: { id },
    data: { customDomain, version: { increment: 1 } },
  })
  return { kind: 'PAGE_UPDATED', subjectId: id, subjectName: organization.name } as const
}
