import type { SecretBox } from '../../core/secret-box.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'

/**
 * Returns an address as stored: sealed unless it is an email address, because anyone who knows another address can post
 * there.
 */
export function sealAddress(
  seal: SecretBox,
  { id, channel }: Pick<Subscriber, 'id' | 'channel'>,
  address: string,
): string {
  return channel === 'EMAIL' ? address : seal.seal(address, `${id} address`)
}

/** Returns the address of a subscriber. */
export function addressOf(
  seal: SecretBox,
  { id, channel, address }: Pick<Subscriber, 'id' | 'channel' | 'address'>,
): string {
  return channel === 'EMAIL' ? address : seal.open(address, `${id} address`)
}
