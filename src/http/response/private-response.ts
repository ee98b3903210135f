import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'
import { ServerResponse } from 'node:http'

/**
 * The headers of every answer that does not set them itself. No cache keeps it (RFC 9111 §5.2.2.5, §5.2.2.7), and
 * browsers do not guess its type (https://fetch.spec.whatwg.org/#x-content-type-options-header).
 */
export const privateHeaders = { 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' } as const

/** Headers as `writeHead` takes them: an object, or a list of names and values in turn. */
type Headers = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

/**
 * An answer that is private unless its headers say otherwise. Every answer of the server is one, also errors and
 * refusals, so this is the only place that decides it. A route makes its answers cacheable by a `Cache-Control` of its
 * own, which says `public`.
 */
export class PrivateResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** The value of `Strict-Transport-Security`; null: the answer has none. */
  strictTransport: string | null = null

  /** Node calls this for answers without a call of it, too. */
  override writeHead(status: number, ...rest: unknown[]): this {
    const [reason, headers] = typeof rest[0] === 'string' ? rest : [undefined, rest[0]]
    const complete = this.completed(headers as Headers | undefined)
    return typeof reason === 'string'
      ? super.writeHead(status, reason, complete as OutgoingHttpHeaders)
      : super.writeHead(status, complete as OutgoingHttpHeaders)
  }

  /** Returns the headers with those that are missing in them, and among those set before. */
  private completed(headers: Headers | undefined): Headers | undefined {
    const isTyped = this.find(headers, 'x-content-type-options') !== undefined
    const isDeclared = declaresReaders(this.find(headers, 'cache-control'))
    if (isTyped && isDeclared && this.strictTransport === null) return headers
    const more = {
      ...(!isTyped && { 'x-content-type-options': privateHeaders['x-content-type-options'] }),
      ...(!isDeclared && { 'cache-control': privateHeaders['cache-control'] }),
      ...(this.strictTransport !== null && { 'strict-transport-security': this.strictTransport }),
    }
    const kept = isDeclared ? headers : without(headers, 'cache-control')
    return Array.isArray(kept) ? [...kept, ...Object.entries(more).flat()] : { ...kept, ...more }
  }

  private find(headers: Headers | undefined, name: string): unknown {
    if (Array.isArray(headers)) {
      for (let index = 0; index < headers.length; index += 2)
        if (isNamed(headers[index], name)) return headers[index + 1]
    } else {
      for (const key in headers) if (isNamed(key, name)) return (headers as OutgoingHttpHeaders)[key]
    }
    return this.getHeader(name)
  }
}

/** Compares the lengths first, because most names differ in it. */
const isNamed = (key: unknown, name: string) =>
  typeof key === 'string' && key.length === name.length && key.toLowerCase() === name

function without(headers: Headers | undefined, name: string): Headers | undefined {
  if (Array.isArray(headers)) return headers.filter((_, index) => !isNamed(headers[index - (index % 2)], name))
  return headers && Object.fromEntries(Object.entries(headers).filter(([key]) => !isNamed(key, name)))
}

/** Returns whether a policy says who may keep the answer. Without that, shared caches may (RFC 9111 §3). */
function declaresReaders(policy: unknown): boolean {
  return policy !== undefined && /\b(?:public|private|no-store)\b/.test(String(policy))
}
