import { createHmac, timingSafeEqual } from 'node:crypto'
import type { User } from '../generated/prisma/client.ts'
import type { PeopleContext } from './context.ts'
import { newSecret } from './one-time-token.ts'
import { requireUser } from './session.ts'

/** A nonce and its signature, each 256 bits in base64url. */
const DEVICE = /^([\w-]{43})\.([\w-]{43})$/

/** The account of a browser. A new generation of an account knows none of the earlier browsers. */
type Owner = Pick<User, 'id' | 'generation'>

/**
 * Returns a value to store in a browser in which a person has signed in, so that strangers who guess the person's password cannot
 * lock this browser out (the device cookie of OWASP's "Slow Down Online Guessing Attacks with Device Cookies"). It proves nothing
 * else.
 */
export function newDevice({ seal }: Pick<PeopleContext, 'seal'>, user: Owner): string {
  const nonce = newSecret()
  return `${nonce}.${signatureOf(seal, nonce, user)}`
}

/** Returns the id of the caller's browser; null: the person has never signed in there. @param user null: no such person. */
export function knownDevice(
  { seal, device }: Pick<PeopleContext, 'seal' | 'device'>,
  user: Owner | null,
): string | null {
  const [, nonce = '', signature = ''] = DEVICE.exec(device ?? '') ?? []
  if (nonce === '' || user === null) return null
  const isRight = timingSafeEqual(Buffer.from(signatureOf(seal, nonce, user)), Buffer.from(signature))
  return isRight ? `device ${nonce}` : null
}

/** Returns the id of the signed-in caller's browser. @throws Unauthenticated when the caller is not signed in. */
export const ownSession = (ctx: PeopleContext): string => `session ${requireUser(ctx).sessionId}`

const signatureOf = (seal: PeopleContext['seal'], nonce: string, { id, generation }: Owner) =>
  createHmac('sha256', seal.keyFor('known devices')).update(`${nonce} ${id} ${generation}`).digest('base64url')
