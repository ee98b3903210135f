import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { Unavailable } from '../core/errors.ts'

/** Shorter passwords are refused. */
export const MIN_PASSWORD_LENGTH = 10

/** A new password. NIST SP 800-63B §3.1.1.2: length counts, not kinds of characters; at least 64 characters are accepted. */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  .max(200, 'must have at most 200 characters')

/** The cost of a hash: 32 MB and about 0.3 s (OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3). */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Twice what scrypt needs: 128 * N * r bytes. */
const MAX_MEMORY = 2 * 128 * COST.N * COST.r

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
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt)
  const { N, r, p } = COST
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Returns whether a password matches a hash. Without a hash, takes as long and returns false, so that the time does not tell
 * who exists. @throws Unavailable when too many hashes are waiting.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, , , , salt = '', hash = ''] = (stored ?? '').split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'))
  const expected = Buffer.from(hash, 'base64url')
  return expected.length === HASH_BYTES && timingSafeEqual(expected, derived)
}

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  await enter()
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...COST, maxmem: MAX_MEMORY }
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
