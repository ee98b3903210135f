import type { Seal } from '../seal.ts'
import type { Message } from './channel/channel.ts'
import type { DueDelivery } from './delivery.ts'
import type { Letter } from './letter.ts'
import { noticeLetter, subscriptionLetter } from './letter.ts'
import { manageUrl, unsubscribeUrl } from './links.ts'
import { readNotice } from './notice.ts'
import { addressOf, secretsOf, tokenOf } from './token.ts'

/**
 * The message that a delivery is; null when there is none any more, because its subscriber was stopped meanwhile, or what it
 * said is kept no longer.
 * @param baseUrl our public address, without a slash at its end.
 */
export function messageOf(delivery: DueDelivery, seal: Seal, baseUrl: string, now: Date): Message | null {
  const { id, subjectId, subscriber } = delivery
  const token = tokenOf(seal, subscriber)
  const letter = letterOf(delivery, manageUrl(baseUrl, token), baseUrl, now)
  if (letter === null) return null
  return {
    id,
    letter,
    address: addressOf(seal, subscriber),
    secrets: secretsOf(seal, subscriber, now),
    manageUrl: manageUrl(baseUrl, token),
    unsubscribeUrl: unsubscribeUrl(baseUrl, token),
    thread: `${subjectId}.${subscriber.id}`,
    opensThread: /\.(created|scheduled)$/.test(letter.event.type),
  }
}

function letterOf(delivery: DueDelivery, url: string, baseUrl: string, now: Date): Letter | null {
  const { seq, notice, organization, subscriber, createdAt } = delivery
  const { confirmedAt, stoppedAt, stopReason, confirmableUntil } = subscriber
  const isActive = confirmedAt !== null && stoppedAt === null
  if (seq !== null) return isActive && notice !== null ? noticeLetter(readNotice(notice), organization, baseUrl) : null
  if (stopReason === 'COMPLAINED' || (!isActive && now >= confirmableUntil)) return null
  return subscriptionLetter({ confirmed: isActive, at: createdAt, url }, organization, baseUrl)
}
