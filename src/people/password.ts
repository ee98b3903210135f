import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { createLimiter } from '../core/concurrency/limiter.ts'
import { Unavailable } from '../core/errors.ts'
import { signInLimits } from '../core/input-limits.ts'
import { clientSubject } from '../core/ip-address.ts'
import { PASSWORD_COST, type PasswordCost } from './password-cost.ts'

/** The minimum length of a password, in characters. */
export const MIN_PASSWORD_LENGTH = 10

/** The maximum length of a password, in characters. */
const MAX_PASSWORD_LENGTH = signInLimits.password.most

/**
 * Returns the schema of a new password of at least `min` characters. NIST SP 800-63B §3.1.1.2 requires length, not kinds of
 * characters.
 */
export const passwordOf = (min: number) =>
  z
    .string()
    .min(min, `must have at least ${min} characters`)
    .max(MAX_PASSWORD_LENGTH, `must have at most ${MAX_PASSWORD_LENGTH} characters`)

/** A person’s new password. */
export const newPassword = passwordOf(MIN_PASSWORD_LENGTH)

const SALT_BYTES = 16
const HASH_BYTES = 32
/**
 * The maximum number of hashes that run at once. Each takes one of four threads, 32 MB and a processor, of which one is
 * left to the main thread: two hashes on two processors kept everybody waiting for 150 ms.
 */
const MAX_RUNNING = Math.min(2, Math.max(1, availableParallelism() - 1))
/**
 * The maximum number of waiting hashes. Further callers are refused, so that sign-ins cannot overload the service. A
 * client's network gets half of these and of the running ones, so that it cannot keep others from signing in.
 */
const MAX_WAITING = 8

const limitHashes = createLimiter({
  atOnce: MAX_RUNNING,
  maxWaiting: MAX_WAITING,
  refusal: () => new Unavailable('Too many people are signing in at the moment. Try again in a few seconds.'),
})

/**
 * Hashes a password with a new salt. Returns `scrypt$N$r$p$salt$hash`, with salt and hash in base64url.
 * @param client the address of the client that causes it. @throws Unavailable when too many hashes are waiting.
 */
export async function hashPassword(
  password: string,
  client: string | null = null,
  cost = PASSWORD_COST,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, client, cost)
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Returns whether a password matches a hash. No password longer than the limit does. Without a hash it takes the same time to
 * return false, so that the time does not reveal whether the account exists.
 * @param client the address of the client that asks. @throws Unavailable when too many hashes are waiting.
 */
export async function verifyPassword(
  password: string,
  stored: string | null,
  client: string | null = null,
  cost = PASSWORD_COST,
): Promise<boolean> {
  const [, , , , salt = '', hash = ''] = (stored ?? '').split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), client, cost)
  const expected = Buffer.from(hash, 'base64url')
  const isRight = expected.length === HASH_BYTES && timingSafeEqual(expected, derived)
  return isRight && password.length <= MAX_PASSWORD_LENGTH
}

function derive(password: string, salt: Buffer, client: string | null, cost: PasswordCost): Promise<Buffer> {
  // The limit is twice the memory that scrypt needs.
  const options = { ...cost, maxmem: 2 * 128 * cost.N * cost.r }
  // Passwords typed on different keyboards must compare equal, so they are normalized to NFKC (NIST SP 800-63B §3.1.1.2). The
  // time that this takes grows with the square of the number of combining marks.
  const text = password.slice(0, MAX_PASSWORD_LENGTH).normalize('NFKC')
  return limitHashes(
    () =>
      new Promise((resolve, reject) => {
        scrypt(text, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
      }),
    clientSubject(client),
  )
}
