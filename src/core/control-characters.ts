/** Control and invisible characters that `JSON.stringify` leaves as they are: DEL, C1 and those of text direction. */
const LEFT_BY_JSON = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu

/**
 * Escapes control and invisible characters in JSON (RFC 8259 §7), which then has the same value. A terminal would
 * execute them: U+009B begins a sequence as ESC does (ECMA-48 §5.3).
 */
export function escapeControls(json: string): string {
  return json.replace(LEFT_BY_JSON, escapeOf)
}

/** Returns the escape of a character, in two parts beyond U+FFFF. */
function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/**
 * Shows escaped control characters in JSON as text: a reader of the value gets `\\u001b` instead of the character.
 * Line ends and tabs stay.
 */
export function showControls(json: string): string {
  // An escaped backslash is passed over, so that what follows it is not taken for an escape.
  return escapeControls(json).replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (whole, code?: string, short?: string) => {
    if (short !== undefined) return /[bfr]/.test(short) ? `\\\\${short}` : whole
    const character = String.fromCharCode(Number.parseInt(code ?? '', 16))
    return /[\p{Cc}\p{Cf}\u2028\u2029]|[\ud800-\udfff]/u.test(character) ? `\\\\u${code}` : whole
  })
}
