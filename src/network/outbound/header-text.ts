/**
 * Returns the text of a header's value. Node reads headers as ISO 8859-1 (RFC 9110 §5.5), but servers write UTF-8, and
 * browsers show that. A value that is no UTF-8 stays as it is.
 */
export function headerText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/**
 * Returns the value of the header Location as a reference to a URL. As in browsers, bytes beyond ASCII keep their
 * values, so `/caf\xC3\xA9` becomes `/caf%C3%A9`.
 */
export function locationText(value: string): string {
  return value.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}
