import { createHash } from 'node:crypto'

/** Returns the ETag of a body that is identical byte for byte (RFC 9110 §8.8.1). */
export function strongEtag(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
}

/**
 * Returns the ETag of a body that is sent in several encodings under one ETag, which is therefore weak (RFC 9110
 * §8.8.1).
 */
export function weakEtag(body: string | Buffer): string {
  return `W/${strongEtag(body)}`
}

/**
 * Returns whether an `If-None-Match` header contains the current ETag. The comparison is weak (RFC 9110 §13.1.2),
 * because a proxy that compresses an answer makes its ETag weak.
 */
export function hasCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return ifNoneMatch?.split(',').some((tag) => opaque(tag) === opaque(etag)) ?? false
}
