import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../time.ts'

/**
 * What a token lets its bearer do: begin the checkout of an organization, see how it came out, or pay for the organization's
 * check plan.
 */
export type Purpose = 'checkout' | 'payer' | 'renewal'

/** Signed texts that stand for something until a moment, and need not be kept. */
export interface Tokens {
  /** A token for a subject of letters, digits, `_` and `-`, fit for addresses and cookies. */
  sign(purpose: Purpose, subject: string, expiresAt: Date): string
  /** The subject of a token; null when it is none of ours, for another purpose, or no longer good. */
  read(purpose: Purpose, token: string, now: Date): string | null
}

/** Tokens signed with a key of the server: HMAC-SHA256 over purpose, subject and end. */
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
