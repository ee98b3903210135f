import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PeopleContext } from '../context.ts'
import { newSecret } from './one-time-token.ts'
import { requireUser } from './session.ts'

/** A nonce and its signature, each 256 bits in base64url. */
const DEVICE = /^([\w-]{43})\.([\w-]{43})$/

/**
 * Returns what a browser keeps in which a person has signed in, so that strangers who guess the person's password cannot lock this
 * browser out as well (the device cookie of OWASP's "Slow Down Online Guessing Attacks with Device Cookies"). It proves nothing else.
 */
export function newDevice({ seal }: Pick<PeopleContext, 'seal'>, userId: string): string {
  const nonce = newSecret()
  return `${nonce}.${signatureOf(seal, nonce, userId)}`
}

/** Returns what names the caller's browser; null: the person has never signed in there. @param userId null: there is no such person. */
export function knownDevice(
  { seal, device }: Pick<PeopleContext, 'seal' | 'device'>,
  userId: string | null,
): string | null {
  const [, nonce = '', signature = ''] = DEVICE.exec(device ?? '') ?? []
  if (nonce === '' || userId === null) return null
  const isRight = timingSafeEqual(Buffer.from(signatureOf(seal, nonce, userId)), Buffer.from(signature))
  return isRight ? `device ${nonce}` : null
}

/** Returns what names the browser of the caller, who is signed in. @throws Unauthenticated for anybody else. */
export const ownSession = (ctx: PeopleContext): string => `session ${requireUser(ctx).sessionId}`

const signatureOf = (seal: PeopleContext['seal'], nonce: string, userId: string) =>
  createHmac('sha256', seal.keyFor('known devices')).update(`${nonce} ${userId}`).digest('base64url')
