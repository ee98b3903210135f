import { ownValue } from '../core/own-value.ts'

/**
 * Characters that XML 1.0 forbids even when escaped (§2.2): most control characters, lone surrogates, U+FFFE and
 * U+FFFF.
 */
const invalidCharacters = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes a text for XML, between tags or in an attribute. Removes characters that XML forbids. */
export function escapeXml(text: string): string {
  return text.replace(invalidCharacters, '').replace(/[&<>"']/g, (character) => ownValue(escapes, character) ?? '')
}
