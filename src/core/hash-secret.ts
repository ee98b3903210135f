import { createHash } from 'node:crypto'

/** Returns the SHA-256 of a secret in hex, which is all that we store. Secrets are long and random, so they need no slow hash. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
