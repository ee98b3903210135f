import type { SecretBox } from '../../core/secret-box.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { languageNamed, offeredLanguages } from '../../language/choice.ts'
import type { Message } from '../channel/channel.ts'
import { addressOf } from '../channel/sealed-address.ts'
import type { NotificationContent } from '../content/content.ts'
import { notificationContent, subscriptionContent, withheldContent } from '../content/content.ts'
import { manageUrl, unsubscribeUrl } from '../content/links.ts'
import { parsePayload } from '../content/payload.ts'
import { isActive } from '../subscriber/subscriber-conditions.ts'
import { secretsOf, tokenOf } from '../subscriber/token.ts'
import type { DueDelivery } from './delivery.ts'

/**
 * Renders the message of a delivery; null if its subscriber was stopped or its payload is deleted.
 * @param baseUrl the public URL of this service, without a trailing slash.
 */
export function buildMessage(delivery: DueDelivery, seal: SecretBox, baseUrl: string, now: Date): Message | null {
  const { id, subjectId, subscriber } = delivery
  const token = tokenOf(seal, subscriber)
  const content = contentOf(delivery, manageUrl(baseUrl, token), baseUrl, now)
  if (content === null) return null
  return {
    id,
    content,
    address: addressOf(seal, subscriber),
    secrets: secretsOf(seal, subscriber, now),
    manageUrl: manageUrl(baseUrl, token),
    unsubscribeUrl: unsubscribeUrl(baseUrl, token),
    thread: `${subjectId}.${subscriber.id}`,
    opensThread: /\.(created|scheduled)$/.test(content.event.type),
  }
}

function contentOf(delivery: DueDelivery, url: string, baseUrl: string, now: Date): NotificationContent | null {
  const { seq, payload, subscriber, createdAt } = delivery
  const { languages, defaultLanguage, ...organization } = delivery.organization
  const { stopReason, confirmableUntil } = subscriber
  const offered = offeredLanguages(languages, defaultLanguage)
  const language = languageNamed(subscriber.language, offered)
  const [words, written] = [wordsOf(language), wordsOf(offered.byDefault)]
  const confirmed = isActive(subscriber)
  if (seq !== null && confirmed && delivery.isWithheld)
    return withheldContent(createdAt, organization, baseUrl, words, written)
  if (seq !== null)
    return confirmed && payload !== null
      ? notificationContent(parsePayload(payload), organization, baseUrl, language, offered.byDefault)
      : null
  if (stopReason === 'COMPLAINED' || (!confirmed && now >= confirmableUntil)) return null
  return subscriptionContent({ confirmed, at: createdAt, url }, organization, baseUrl, words, written)
}
