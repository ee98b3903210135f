import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PeopleContext } from './context.ts'
import { newSecret } from './one-time-token.ts'
import { requireUser } from './session.ts'

/** A nonce and its signature, each 256 bits in base64url. */
const DEVICE = /^([\w-]{43})\.([\w-]{43})$/

/**
 * Returns a value to store in a browser in which a person has signed in, so that strangers who guess the person's password cannot
 * lock this browser out (the device cookie of OWASP's "Slow Down Online Guessing Attacks with Device Cookies"). It proves nothing
 * else.
 */
export function newDevice({ seal }: Pick<PeopleContext, 'seal'>, userId: string): string {
  const nonce = newSecret()
  return `${nonce}.${signatureOf(seal, nonce, userId)}`
}

/** Returns the id of the caller's browser; null: the person has never signed in there. @param userId null: no such person. */
export function knownDevice(
  { seal, device }: Pick<PeopleContext, 'seal' | 'device'>,
  userId: string | null,
): string | null {
  const [, nonce = '', signature = ''] = DEVICE.exec(device ?? '') ?? []
  if (nonce === '' || userId === null) return null
  const isRight = timingSafeEqual(Buffer.from(signatureOf(seal, nonce, userId)), Buffer.from(signature))
  return isRight ? `device ${nonce}` : null
}

/** Returns the id of the signed-in caller's browser. @throws Unauthenticated when the caller is not signed in. */
export const ownSession = (ctx: PeopleContext): string => `session ${requireUser(ctx).sessionId}`

const signatureOf = (seal: PeopleContext['seal'], nonce: string, userId: string) =>
  createHmac('sha256', seal.keyFor('known devices')).update(`${nonce} ${userId}`).digest('base64url')
