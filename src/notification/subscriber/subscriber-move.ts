import type { Address } from '../channel/channel.ts'
import { sealAddress } from '../channel/sealed-address.ts'
import type { SuppressionContext } from '../mail/suppression.ts'
import { addressHash } from './address.ts'
import { hashOnPage } from './subscribe.ts'
import { stopSubscribers } from './subscriber.ts'

/**
 * Stores the address to which a subscriber has moved. If another subscriber of the page has that address, the one that moved is
 * stopped, so that nobody is notified twice. Call it in a transaction.
 */
export async function moveSubscriber(tx: SuppressionContext, id: string, { text, label, destination }: Address) {
  const subscriber = await tx.db.subscriber.findUnique({ where: { id } })
  if (subscriber === null) return
  const { organizationId, pageId, channel } = subscriber
  const hash = hashOnPage(addressHash(channel, text), pageId)
  const other = await tx.db.subscriber.findUnique({
    where: { organizationId_addressHash: { organizationId, addressHash: hash } },
  })
  if (other !== null && other.id !== id) {
    await stopSubscribers(tx, [id], 'GONE')
    return
  }
  const address = sealAddress(tx.seal, subscriber, text)
  await tx.db.subscriber.update({ where: { id }, data: { address, addressHash: hash, label, destination } })
}
