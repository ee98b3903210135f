import type { Allowance, UsageCounters } from '../account/usage.ts'
import { spendCheck } from '../account/usage.ts'
import type { Context } from '../context.ts'
import type { ErrorCode } from '../errors.ts'
import { Forbidden, Invalid, Unauthenticated } from '../errors.ts'
import { createQueue } from '../queue.ts'
import type { Checker, CheckProgress } from './checker.ts'
import type { DomainReport, IpReport, Report } from './report.ts'
import type { Target } from './target.ts'
import { parseTarget } from './target.ts'

/** What checking takes beside the context. */
export interface CheckContext extends Context {
  readonly checker: Checker
  readonly usage: UsageCounters
}

/** A report with what its check left of the caller's plan. */
export interface Checked<R extends Report = Report> {
  readonly report: R
  readonly allowance: Allowance
}

// Each check reads its target before it counts, so that a refused target costs nothing.

/**
 * Checks one IP address and counts it against the caller's plan.
 * @throws Invalid when the target is no address to check. @throws LimitExceeded when today's checks are used up.
 */
export async function checkIp(ctx: CheckContext, text: unknown): Promise<Checked<IpReport>> {
  const target = parseTarget(text, 'ip')
  const allowance = await spendCheck(ctx)
  return { report: await ctx.checker.checkIp(target, ctx.leaving), allowance }
}

/**
 * Checks one domain and the addresses it resolves to, for one check of the caller's plan.
 * @throws Invalid when the target is no domain to check. @throws LimitExceeded when today's checks are used up.
 */
export async function checkDomain(ctx: CheckContext, text: unknown): Promise<Checked<DomainReport>> {
  const target = parseTarget(text, 'domain')
  const allowance = await spendCheck(ctx)
  return { report: await ctx.checker.checkDomain(target, ctx.leaving), allowance }
}

/** A check that is under way: what comes of it arrives in `progress`, the report last. */
export interface StartedCheck {
  readonly target: Target
  readonly allowance: Allowance
  /** Leaving this iteration ends the check. */
  readonly progress: AsyncIterable<CheckProgress>
}

/**
 * Begins to check an address or a domain and counts it against the caller's plan.
 * @throws Invalid when the target cannot be checked. @throws LimitExceeded when today's checks are used up.
 */
export async function startCheck(ctx: CheckContext, text: unknown): Promise<StartedCheck> {
  const target = parseTarget(text)
  const allowance = await spendCheck(ctx)
  return { target, allowance, progress: progressOf(ctx, target) }
}

function progressOf({ checker }: CheckContext, target: Target): AsyncIterableIterator<CheckProgress> {
  const signal = { aborted: false }
  const progress = createQueue<CheckProgress>(() => {
    signal.aborted = true
    checker.dismiss()
  })
  checker
    .check(target, { signal, onProgress: progress.push })
    .then((report) => progress.push({ kind: 'report', report }))
    .then(progress.end, progress.fail)
  return progress
}

/** One target of a bulk check: its report, or why it cannot be checked. */
export type BulkItem =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'error'; readonly target: string; readonly code: ErrorCode; readonly message: string }

/** The most of a refused target that is sent back, in characters: the length of the longest domain name. */
const LONGEST_ECHO = 253

/** Specification §4.1: the most targets of one bulk request. */
export const MOST_TARGETS = 20

/**
 * Checks several targets for one check of the pro plan. A target that is no address and no domain fails alone.
 * @throws Unauthenticated without a key. @throws Forbidden when the key's organization has no pro plan.
 * @throws Invalid when there are no targets or too many. @throws LimitExceeded when today's checks are used up.
 */
export async function bulkCheck(
  ctx: CheckContext,
  targets: readonly string[],
): Promise<{ items: BulkItem[]; allowance: Allowance }> {
  requireProPlan(ctx)
  if (targets.length === 0) throw new Invalid('NO_TARGETS', 'Send at least one target.')
  if (targets.length > MOST_TARGETS) {
    throw new Invalid('TOO_MANY_TARGETS', `Send at most ${MOST_TARGETS} targets at once; these are ${targets.length}.`)
  }
  const allowance = await spendCheck(ctx)
  const items = await Promise.all(targets.map((target) => checkOne(ctx, target)))
  return { items, allowance }
}

/** @throws Unauthenticated or Forbidden unless the caller holds a key of an organization with the pro check plan. */
export function requireProPlan({ actor }: Context): void {
  if (actor.kind === 'visitor') {
    throw new Unauthenticated('API_KEY_REQUIRED', 'Bulk checks need the API key of an organization with the pro plan.')
  }
  if (actor.kind === 'apiKey' && actor.checkPlan === 'PRO') return
  throw new Forbidden('PRO_PLAN_REQUIRED', 'Bulk checks are part of the pro check plan.')
}

async function checkOne(ctx: CheckContext, text: string): Promise<BulkItem> {
  try {
    return { kind: 'report', report: await ctx.checker.check(parseTarget(text), ctx.leaving) }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { kind: 'error', target: text.slice(0, LONGEST_ECHO), code: error.code, message: error.message }
  }
}
