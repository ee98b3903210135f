import { createHash } from 'node:crypto'

/** How many characters of an identity are shown before its hash. */
const MAX_SHOWN = 400
/** The longest identity that is kept as it is, in characters. */
export const MAX_IDENTITY = 512

/**
 * Returns the identity of an alert at its sender, on one line and with at most `MAX_IDENTITY` characters. One that is longer, or has
 * characters that are not shown, becomes its beginning and the SHA-256 of the whole, so that two identities are never equal because
 * they begin alike. Empty unless the value is a string, number or boolean with characters that are shown.
 */
export function identityOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return ''
  const whole = String(value)
  const shown = whole.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  if (shown === '' || (shown === whole && shown.length <= MAX_IDENTITY)) return shown
  // UTF-8 has no lone surrogates, which would all be hashed as U+FFFD.
  const hash = createHash('sha256').update(whole.isWellFormed() ? whole : JSON.stringify(whole))
  return `${[...shown.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('').toWellFormed()}… ${hash.digest('hex')}`
}
