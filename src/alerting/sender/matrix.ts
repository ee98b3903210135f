import { z } from 'zod'
import type { SendResult } from '../../notification/channel/channel.ts'
import { escapeHtml } from '../../notification/channel/mail-template.ts'
import { jsonOf, post } from '../../notification/channel/post.ts'
import type { AlertMessage } from './sender.ts'
import { bodyOf, defineSender, secretText, serverUrl } from './sender.ts'

/** An event has at most 65,536 bytes, including its HTML. */
const MAX_LENGTH = 5000

/**
 * Matrix (https://spec.matrix.org/v1.11/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid). The transaction id
 * makes retries idempotent. 401 and 403: the token or the room refuses us; 429 carries `retry_after_ms`.
 */
export const matrix = defineSender({
  name: 'Matrix',
  kind: 'PEOPLE',
  fields: z.object({
    server: serverUrl,
    roomId: z
      .string()
      .trim()
      .max(255)
      .regex(/^![^\s:]+(:\S+)?$/, 'must be the id of a room, such as !abc:example.org'),
    accessToken: secretText(/^[-._~+/=A-Za-z0-9]+$/, 'must be the access token of a user in the room'),
  }),
  describe: ({ server, roomId }) => ({ label: roomId, destination: new URL(server).host, url: server }),
  async send({ server, roomId, accessToken }, message, tools) {
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/send/m.room.message/${message.id}`
    let waitMs: unknown
    const sent = await post(
      {
        url: server + path,
        method: 'PUT',
        body: JSON.stringify(contentOf(message)),
        headers: { authorization: `Bearer ${accessToken}` },
      },
      tools,
      (answer) => {
        const { retry_after_ms: wait } = jsonOf(answer)
        waitMs = wait
        return [400, 401, 403, 404].includes(answer.status) ? 'REFUSED' : null
      },
    )
    return withWait(sent, waitMs)
  },
})

function withWait(sent: SendResult, waitMs: unknown): SendResult {
  return sent.kind === 'failed' && typeof waitMs === 'number' && waitMs > 0 ? { ...sent, retryAfterMs: waitMs } : sent
}

/** Text and HTML (https://spec.matrix.org/v1.11/client-server-api/#mroommessage-msgtypes). */
function contentOf(message: AlertMessage) {
  const { title, url, acknowledgeUrl } = message
  const text = bodyOf(message, MAX_LENGTH)
  const links = [
    ...(acknowledgeUrl === null ? [] : ([['Acknowledge', acknowledgeUrl]] as const)),
    ['Open in Allclear', url] as const,
  ]
  return {
    msgtype: 'm.text',
    body: [title, text, ...links.map(([label, href]) => `${label}: ${href}`)].filter(Boolean).join('\n'),
    format: 'org.matrix.custom.html',
    formatted_body: [
      `<strong>${escapeHtml(title)}</strong>`,
      ...(text === '' ? [] : [escapeHtml(text).replaceAll('\n', '<br>')]),
      links.map(([label, href]) => `<a href="${escapeHtml(href)}">${label}</a>`).join(' · '),
    ].join('<br>'),
    // Keeps clients from matching our text against user names.
    'm.mentions': {},
  }
}
