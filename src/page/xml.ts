/** What XML 1.0 has no place for, escaped or not (§2.2): most control characters, lone surrogates, U+FFFE and U+FFFF. */
const impossible = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** A text as it stands in XML, between tags or in an attribute; characters that XML cannot hold are left out. */
export function escapeXml(text: string): string {
  return text.replace(impossible, '').replace(/[&<>"']/g, (character) => escapes[character] ?? '')
}
