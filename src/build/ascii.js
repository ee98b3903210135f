const BACKSLASH = '\\'

/**
 * Writes every character beyond ASCII as escapes, `\uXXXX` for each UTF-16 code unit. Their meaning stays the same in
 * all places where esbuild leaves such characters: templates with a tag, regular expressions and comments.
 * @param {string} code JavaScript in which esbuild has escaped strings, names and templates without a tag.
 * @returns {string} the same program in ASCII.
 * @throws {Error} when a template or comment contains a line separator, which has no escape of the same meaning.
 */
export function inAscii(code) {
  return code.replace(/(?<!\\)(\\*)(\P{ASCII})/gu, (_, backslashes, character) => {
    if (/[\u2028\u2029]/.test(character)) throw new Error('The code has a line separator outside strings.')
    // An escaped character means itself, and a backslash more would escape the escape.
    const isEscaped = backslashes.length % 2 === 1
    return `${isEscaped ? backslashes.slice(1) : backslashes}${escapesOf(character)}`
  })
}

/** @param {string} character */
function escapesOf(character) {
  return Array.from({ length: character.length }, (_, index) => {
    return `${BACKSLASH}u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}
