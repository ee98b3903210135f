import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { Unavailable } from '../core/errors.ts'
import { PASSWORD_COST, type PasswordCost } from './password-cost.ts'

/** Shorter passwords are refused. */
export const MIN_PASSWORD_LENGTH = 10

/** A new password. NIST SP 800-63B §3.1.1.2: length counts, not kinds of characters; at least 64 characters are accepted. */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  .max(200, 'must have at most 200 characters')

const SALT_BYTES = 16
const HASH_BYTES = 32
/** Hashes run at once; each takes a thread of four and 32 MB. */
const MAX_RUNNING = 2
/** Hashes that wait. More callers are refused, so that signing in cannot take the service down. */
const MAX_WAITING = 8

let running = 0
const waiting: (() => void)[] = []

/**
 * Hashes a password with a new salt. Returns `scrypt$N$r$p$salt$hash`, salt and hash in base64url.
 * @throws Unavailable when too many hashes are waiting.
 */
export async function hashPassword(password: string, cost = PASSWORD_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, cost)
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Returns whether a password matches a hash. Without a hash, takes as long and returns false, so that the time does not tell
 * who exists. @throws Unavailable when too many hashes are waiting.
 */
export async function verifyPassword(password: string, stored: string | null, cost = PASSWORD_COST): Promise<boolean> {
  const [, , , , salt = '', hash = ''] = (stored ?? '').split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost)
  const expected = Buffer.from(hash, 'base64url')
  return expected.length === HASH_BYTES && timingSafeEqual(expected, derived)
}

async function derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  await enter()
  try {
    return await new Promise((resolve, reject) => {
      // Twice what scrypt needs.
      const options = { ...cost, maxmem: 2 * 128 * cost.N * cost.r }
      // Equal passwords typed on different keyboards are equal: NIST SP 800-63B §3.1.1.2 names NFKC.
      scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

async function enter(): Promise<void> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING) {
      throw new Unavailable('Too many people are signing in at the moment. Try again in a few seconds.')
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  running += 1
}
