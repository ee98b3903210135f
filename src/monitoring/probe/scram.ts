import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ConversationError } from './conversation.ts'

/** The allowed numbers of iterations. RFC 7677 §4 sets the minimum; the maximum limits our work. */
const MIN_ITERATIONS = 4096
const MAX_ITERATIONS = 100_000

/** A client that signs in with SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding. */
export interface Scram {
  readonly first: string
  /** Returns the answer to the server's challenge. @throws ConversationError when the challenge is invalid. */
  answer(challenge: string): Promise<string>
  /**
   * Checks the server's last message.
   * @throws ConversationError unless it proves that the server knows the password.
   */
  verify(final: string): void
}

/** Starts a sign-in. @param nonce the nonce of the client; absent: a random one. */
export function startScram(user: string, password: string, nonce = randomBytes(18).toString('base64')): Scram {
  const bare = `n=${prepared(user).replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  let signature: Buffer | null = null
  return {
    first: `n,,${bare}`,
    async answer(challenge) {
      const { r: both = '', s: salt = '', i: count = '' } = attributesOf(challenge)
      const iterations = /^\d{1,9}$/.test(count) ? Number(count) : 0
      const isValid = both.startsWith(nonce) && both.length > nonce.length && salt !== ''
      if (!isValid || iterations < MIN_ITERATIONS) throw invalid()
      if (iterations > MAX_ITERATIONS)
        throw new ConversationError('The server requires too many iterations of the password hash')
      const salted = await derive(prepared(password), Buffer.from(salt, 'base64'), iterations, 32, 'sha256')
      const withoutProof = `c=biws,r=${both}`
      const signed = `${bare},${challenge},${withoutProof}`
      const key = hmac(salted, 'Client Key')
      const mask = hmac(createHash('sha256').update(key).digest(), signed)
      signature = hmac(hmac(salted, 'Server Key'), signed)
      const proof = Buffer.from(key.map((byte, index) => byte ^ (mask[index] ?? 0)))
      return `${withoutProof},p=${proof.toString('base64')}`
    },
    verify(final) {
      const given = Buffer.from(attributesOf(final)['v'] ?? '', 'base64')
      const isRight = signature !== null && given.length === signature.length && timingSafeEqual(given, signature)
      if (!isRight) throw new ConversationError('The server does not prove that it knows the password')
    },
  }
}

const derive = promisify(pbkdf2)
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const invalid = () => new ConversationError('The server sent an invalid challenge for signing in')

/** Returns the attributes of a message, such as `r=…,s=…`. */
function attributesOf(message: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]))
}

/**
 * Prepares a name or a password (SASLprep, RFC 4013 §2.1 and §2.2): maps spaces, removes format characters, and
 * normalizes.
 */
function prepared(text: string): string {
  return text
    .replace(/[\p{Zs}\u200b]/gu, ' ')
    .replace(/\p{Cf}|\p{Variation_Selector}/gu, '')
    .normalize('NFKC')
}
