import { createHmac } from 'node:crypto'
import { SECOND } from '../../core/time.ts'
import type { Channel, Message, SendResult, SendTools } from './channel.ts'
import { webhookAddress } from './channel.ts'
import { post } from './post.ts'

/**
 * Webhooks as defined by Standard Webhooks 1.0 (https://www.standardwebhooks.com). Any response except 2xx is retried;
 * 410 ends the subscription. During the rotation of a secret, a message carries a signature by each secret.
 */
export const webhook: Channel = {
  name: 'webhook',
  // Anyone can own the host, so the limits protect the host.
  address: webhookAddress(
    () => null,
    ({ hostname }) => hostname,
  ),
  async send(message, tools) {
    const { id, address, secrets } = message
    return postSigned({ id, url: address, body: bodyOf(message), secrets }, tools)
  },
}

/** Posts a body signed as defined by Standard Webhooks. @param message its id is the same for all attempts. */
export function postSigned(
  message: {
    readonly id: string
    readonly url: string
    readonly body: string
    readonly secrets: readonly string[]
  },
  tools: SendTools,
): Promise<SendResult> {
  const { id, url, body, secrets } = message
  const timestamp = Math.floor(tools.now().getTime() / SECOND)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => signatureOf(secret, id, timestamp, body)).join(' '),
  }
  return post({ url, body, headers }, tools, ({ status }) => (status === 410 ? 'GONE' : null))
}

function bodyOf({ content: { event }, manageUrl, unsubscribeUrl }: Message): string {
  const data = { ...event.data, manage_url: manageUrl, unsubscribe_url: unsubscribeUrl }
  return JSON.stringify({ type: event.type, timestamp: event.at.toISOString(), data })
}

/** @param secret `whsec_` and base64. @param timestamp in seconds. */
function signatureOf(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
