import type { Send } from '../network/outbound/send.ts'

/** Sends a request from this machine, without restrictions on private networks. Does not follow redirects. */
export const sendFromHere: Send = async ({ url, ...request }, { timeoutMs, maxBytes }) => {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { ...request, redirect: 'manual', signal }).catch((error: Error) => {
    const { cause } = error
    throw cause instanceof Error ? cause : error
  })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`The response exceeds ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, body: Buffer.concat(chunks).toString('utf8'), retryAfter }
}
