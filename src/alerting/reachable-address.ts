import { requireReachableUrl } from '../account/private-targets/rule.ts'
import type { ChangeContext } from '../event-log/change.ts'
import type { AlertChannelKind } from '../generated/prisma/enums.ts'
import { addressKeys, kindByKey } from './channel-address.ts'
import type { AlertAddress } from './sender/sender.ts'

/**
 * Checks that an organization may reach the host of an address that it chose.
 * @throws Invalid with the path of the input.
 */
export async function requireReachableAddress(
  ctx: ChangeContext,
  organizationId: string,
  { kind, url }: Pick<AlertAddress, 'url'> & { readonly kind: AlertChannelKind },
): Promise<void> {
  const path = addressKeys.filter((key) => kindByKey[key] === kind)
  if (url !== null) await requireReachableUrl(ctx, url, path, organizationId)
}
