import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../core/time.ts'

/**
 * The permission that a token gives: to start a checkout for an organization, see its outcome, or pay for the
 * organization's check plan.
 */
type Purpose = 'checkout' | 'payer' | 'renewal'

/** Signs and verifies stateless tokens that expire. */
export interface Tokens {
  /** Returns a token for a subject of letters, digits, `_` and `-`, safe in URLs and cookies. */
  sign(purpose: Purpose, subject: string, expiresAt: Date): string
  /** Returns the subject of a token; null when the token is invalid, expired or for another purpose. */
  read(purpose: Purpose, token: string, now: Date): string | null
}

/** Creates tokens signed with the server's key: HMAC-SHA256 over purpose, subject and expiry. */
export function createTokens(key: Buffer): Tokens {
  const signature = (purpose: Purpose, claim: string) =>
    createHmac('sha256', key).update(`${purpose}.${claim}`).digest('base64url')
  return {
    sign(purpose, subject, expiresAt) {
      const claim = `${subject}.${Math.floor(expiresAt.getTime() / SECOND).toString(36)}`
      return `${claim}.${signature(purpose, claim)}`
    },
    read(purpose, token, now) {
      const [, claim = '', subject = '', end = '', given = ''] =
        /^(([\w-]+)\.([0-9a-z]+))\.([\w-]{43})$/.exec(token) ?? []
      const expected = Buffer.from(signature(purpose, claim))
      if (given.length !== expected.length || !timingSafeEqual(Buffer.from(given), expected)) return null
      return now.getTime() < Number.parseInt(end, 36) * SECOND ? subject : null
    },
  }
}
