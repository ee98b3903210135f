import { isOperator } from '../../core/access.ts'
import { Invalid } from '../../core/errors.ts'
import { invalid } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { readOnce } from '../../event-log/change.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import {
  noPrivateTargets,
  PRIVATE_NETWORKS_HINT,
  reachOf,
  targetIssue,
} from '../../network/outbound/destination-policy.ts'
import { readHost } from '../../network/outbound/host.ts'
import { isAllowed, readPrivateTargets } from './permission.ts'

/** Appended to refusals that the operator reads. */
export const OPERATORS_HINT =
  'as the operator you can allow private addresses, with setPrivateTargets or on the organization’s page under Operator'

type RuleContext = Pick<ChangeContext, 'db' | 'config' | 'actor' | 'open'>

/**
 * Returns the rule for the targets that a caller chooses for an organization. Its hint is for the caller: only the
 * operator learns how to allow them.
 * @param organizationId null: what no organization chooses, which only the permission for all allows.
 */
export async function privateTargetRule(ctx: RuleContext, organizationId: string | null): Promise<PrivateTargetRule> {
  const read = () => readPrivateTargets(ctx, organizationId)
  const permission =
    ctx.config.ALLOW_PRIVATE_NETWORKS || isAllowed(await readOnce(ctx, `private targets ${organizationId}`, read))
  return { isAllowed: permission, hint: isOperator(ctx.actor) ? OPERATORS_HINT : PRIVATE_NETWORKS_HINT }
}

/**
 * Reads an input whose targets must obey the rule, which is only asked for if one of them is private.
 * @param organizationId as for `privateTargetRule`.
 * @throws what `read` throws.
 */
export async function readByPrivateTargetRule<T>(
  ctx: RuleContext,
  organizationId: string | null,
  read: (rule: PrivateTargetRule) => T,
): Promise<T> {
  try {
    return read(noPrivateTargets)
  } catch (error) {
    const isPrivate = error instanceof Invalid && error.issues.some(({ kind }) => kind === 'PRIVATE_TARGET')
    if (!isPrivate) throw error
  }
  return read(await privateTargetRule(ctx, organizationId))
}

/**
 * Checks the host of a URL that a caller gives. Does not resolve names; their addresses are checked at each connection.
 * @param path the field that has the URL.
 * @param organizationId as for `privateTargetRule`.
 * @throws Invalid for an address that the organization may not reach.
 */
export async function requireReachableUrl(
  ctx: RuleContext,
  url: string,
  path: readonly string[],
  organizationId: string | null,
): Promise<void> {
  const host = readHost(new URL(url).hostname)
  const reach = host?.kind === 'name' ? 'public' : host?.kind === 'address' ? reachOf(host.address) : 'private'
  if (reach === 'public') return
  const isPrivate = reach === 'private'
  const rule = await privateTargetRule(ctx, organizationId)
  if (!isPrivate || !rule.isAllowed) throw invalid([targetIssue(path, 'must be at a public host', { isPrivate, rule })])
}
