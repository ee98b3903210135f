/**
 * Returns why a text cannot be stored, as the end of a sentence; null: it can. PostgreSQL's `text` cannot contain NUL,
 * and UTF-8 has no encoding for half of a surrogate pair (RFC 3629 §3).
 */
export function unstorable(text: string): string | null {
  if (text.includes('\0')) return 'contains the character NUL'
  return text.isWellFormed() ? null : 'contains half of a surrogate pair, which is not a character'
}
