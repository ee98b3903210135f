import type { Allowance, Quota } from '../account/quota.ts'
import { consumeCheck, quotaSubject } from '../account/quota.ts'
import { proOrganizationOf } from '../core/access.ts'
import { createAsyncQueue } from '../core/concurrency/async-queue.ts'
import type { Context } from '../core/context.ts'
import type { ErrorCode } from '../core/errors.ts'
import { Forbidden, Invalid, Unauthenticated } from '../core/errors.ts'
import type { DomainReport, IpReport, Report } from './check-report.ts'
import type { Checker, CheckProgress } from './checker.ts'
import type { Target } from './target.ts'
import { parseTarget } from './target.ts'

/** The context of a check. */
export interface CheckContext extends Context {
  readonly checker: Checker
  readonly usage: Quota
}

/** A report, and the caller's remaining allowance. */
export interface CheckResult<R extends Report = Report> {
  readonly report: R
  readonly allowance: Allowance
}

// Each check parses its target before it consumes the allowance, so a rejected target costs nothing.

/**
 * Checks one IP address, and counts it against the caller's plan.
 * @throws Invalid when the target is not a valid IP address. @throws LimitExceeded when today's checks are used up.
 */
export async function checkIp(ctx: CheckContext, text: unknown): Promise<CheckResult<IpReport>> {
  const target = parseTarget(text, 'ip')
  const allowance = await consumeCheck(ctx)
  return { report: await ctx.checker.checkIp(target, optionsOf(ctx)), allowance }
}

/**
 * Checks one domain and the addresses it resolves to, and counts it as one check of the caller's plan.
 * @throws Invalid when the target is not a valid domain. @throws LimitExceeded when today's checks are used up.
 */
export async function checkDomain(ctx: CheckContext, text: unknown): Promise<CheckResult<DomainReport>> {
  const target = parseTarget(text, 'domain')
  const allowance = await consumeCheck(ctx)
  return { report: await ctx.checker.checkDomain(target, optionsOf(ctx)), allowance }
}

/** Checks take from the share of whoever's quota they count against. */
const optionsOf = (ctx: CheckContext) => ({ owner: quotaSubject(ctx).subject, ...ctx.cancellation })

/** A running check. `progress` yields its answers, then the report. */
export interface StartedCheck {
  readonly target: Target
  readonly allowance: Allowance
  /** Breaking out of this iteration ends the check. */
  readonly progress: AsyncIterable<CheckProgress>
}

/**
 * Starts a check of an address or a domain, and counts it against the caller's plan.
 * @throws Invalid when the target cannot be checked. @throws LimitExceeded when today's checks are used up.
 */
export async function startCheck(ctx: CheckContext, text: unknown): Promise<StartedCheck> {
  const target = parseTarget(text)
  const allowance = await consumeCheck(ctx)
  return { target, allowance, progress: streamProgress(ctx, target) }
}

function streamProgress(ctx: CheckContext, target: Target): AsyncIterableIterator<CheckProgress> {
  const { checker } = ctx
  const signal = { aborted: false }
  const progress = createAsyncQueue<CheckProgress>(() => {
    signal.aborted = true
    checker.releaseAborted()
  })
  checker
    .check(target, { ...optionsOf(ctx), signal, onProgress: progress.push })
    .then((report) => progress.push({ kind: 'report', report }))
    .then(progress.end, progress.fail)
  return progress
}

/** The result for one target of a bulk check: its report, or the reason why it cannot be checked. */
export type BulkItem =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'error'; readonly target: string; readonly code: ErrorCode; readonly message: string }

/** The maximum number of characters of a rejected target to send back: the length of the longest domain name. */
const MAX_ECHO_LENGTH = 253

/** The maximum number of targets in a bulk request (specification §4.1). */
export const MAX_TARGETS = 20

/**
 * Checks several targets, and counts them as one check of the pro plan. An invalid target does not affect the others.
 * @throws Unauthenticated without a key. @throws Forbidden when the key's organization has no pro plan.
 * @throws Invalid when there are no targets or too many. @throws LimitExceeded when today's checks are used up.
 */
export async function bulkCheck(
  ctx: CheckContext,
  targets: readonly string[],
): Promise<{ items: BulkItem[]; allowance: Allowance }> {
  requireProPlan(ctx)
  if (targets.length === 0) throw new Invalid('NO_TARGETS', 'Send at least one target.')
  if (targets.length > MAX_TARGETS) {
    throw new Invalid(
      'TOO_MANY_TARGETS',
      `Send at most ${MAX_TARGETS} targets at once; this request has ${targets.length}.`,
    )
  }
  const allowance = await consumeCheck(ctx)
  const items = await Promise.all(targets.map((target) => checkBulkTarget(ctx, target)))
  return { items, allowance }
}

/** @throws Unauthenticated or Forbidden unless the caller has an API key of an organization with the pro check plan. */
function requireProPlan({ actor }: Context): void {
  if (actor.kind === 'visitor') {
    throw new Unauthenticated(
      'API_KEY_REQUIRED',
      'Bulk checks require the API key of an organization with the pro check plan.',
    )
  }
  if (proOrganizationOf(actor) !== null) return
  throw new Forbidden('PRO_PLAN_REQUIRED', 'Bulk checks require the pro check plan.')
}

async function checkBulkTarget(ctx: CheckContext, text: string): Promise<BulkItem> {
  try {
    return { kind: 'report', report: await ctx.checker.check(parseTarget(text), optionsOf(ctx)) }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { kind: 'error', target: text.slice(0, MAX_ECHO_LENGTH), code: error.code, message: error.message }
  }
}
