import { createHash } from 'node:crypto'

/** What every API key begins with. */
export const KEY_PREFIX = 'ac_'

/** The SHA-256 of a secret in hex: all that is kept of it. Secrets are random and long, so no slow hash is needed. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
