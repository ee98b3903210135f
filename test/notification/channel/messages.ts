import type { Language } from '../../../src/language/catalogue.ts'
import type { Message } from '../../../src/notification/channel/channel.ts'
import type { NotificationContent } from '../../../src/notification/content/content.ts'
import { notificationContent } from '../../../src/notification/content/content.ts'
import type { NotificationPayload } from '../../../src/notification/content/payload.ts'
import { noon } from '../../support/context.ts'

const organization = {
  name: 'Acme <&> Co',
  slug: 'acme',
  timeZone: 'Europe/Berlin',
  customDomain: null,
  accentColor: '#ffdd00',
  logoUrl: null,
}
export const baseUrl = 'https://allclear.example'

/** An incident with characters that are special in some channel. */
export const incident = {
  about: 'INCIDENT',
  step: 'CREATED',
  id: 'inc_0123456789abcdefghijklmn',
  title: 'API <b>down</b> & [slow](https://evil.example) *now*',
  status: 'INVESTIGATING',
  impact: 'MAJOR',
  message: 'We **look** into <script>it</script>. @everyone <!channel>',
  html: '<p>We <strong>look</strong> into &lt;script&gt;it&lt;/script&gt;. @everyone &lt;!channel&gt;</p>',
  startedAt: noon,
  services: [{ id: 'svc_0123456789abcdefghijklmn', name: 'Mail_in_*', status: 'MAJOR_OUTAGE' }],
  at: noon,
} as const satisfies NotificationPayload

/** A message with a notification. */
export const contentOf = (payload: NotificationPayload = incident, language: Language = 'EN'): NotificationContent =>
  notificationContent(payload, organization, baseUrl, language, 'EN')

/** A message to an address. */
export function messageTo(address: string, given: Partial<Message> = {}): Message {
  return {
    id: 'dlv_0123456789abcdef01234567',
    content: contentOf(),
    address,
    secrets: [],
    manageUrl: `${baseUrl}/subscriptions/token`,
    unsubscribeUrl: `${baseUrl}/subscriptions/token/unsubscribe`,
    thread: 'inc_1.sub_1',
    opensThread: true,
    ...given,
  }
}
