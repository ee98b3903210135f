import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** An answer as transmitted. */
export interface RawAnswer extends Pick<IncomingMessage, 'headers'> {
  readonly status: number | undefined
  readonly body: Buffer
}

/** Sends a GET request; `fetch` would decompress the answer, and set the host. */
export function rawGet(url: string, headers: Readonly<Record<string, string>>): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers })
    sent.on('response', async (answer) => {
      const body = await buffer(answer)
      resolve({ status: answer.statusCode, headers: answer.headers, body })
    })
    sent.on('error', reject).end()
  })
}
