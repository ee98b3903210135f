/** The names of invisible characters that texts contain by accident (Unicode Character Database, `UnicodeData.txt`). */
const names: Readonly<Record<number, string>> = {
  0: 'NULL',
  9: 'TAB',
  10: 'LINE FEED',
  13: 'CARRIAGE RETURN',
  127: 'DELETE',
  160: 'NO-BREAK SPACE',
  173: 'SOFT HYPHEN',
  847: 'COMBINING GRAPHEME JOINER',
  1564: 'ARABIC LETTER MARK',
  4447: 'HANGUL CHOSEONG FILLER',
  4448: 'HANGUL JUNGSEONG FILLER',
  6158: 'MONGOLIAN VOWEL SEPARATOR',
  8194: 'EN SPACE',
  8195: 'EM SPACE',
  8199: 'FIGURE SPACE',
  8201: 'THIN SPACE',
  8203: 'ZERO WIDTH SPACE',
  8204: 'ZERO WIDTH NON-JOINER',
  8205: 'ZERO WIDTH JOINER',
  8206: 'LEFT-TO-RIGHT MARK',
  8207: 'RIGHT-TO-LEFT MARK',
  8232: 'LINE SEPARATOR',
  8233: 'PARAGRAPH SEPARATOR',
  8234: 'LEFT-TO-RIGHT EMBEDDING',
  8235: 'RIGHT-TO-LEFT EMBEDDING',
  8236: 'POP DIRECTIONAL FORMATTING',
  8237: 'LEFT-TO-RIGHT OVERRIDE',
  8238: 'RIGHT-TO-LEFT OVERRIDE',
  8239: 'NARROW NO-BREAK SPACE',
  8288: 'WORD JOINER',
  8294: 'LEFT-TO-RIGHT ISOLATE',
  8295: 'RIGHT-TO-LEFT ISOLATE',
  8296: 'FIRST STRONG ISOLATE',
  8297: 'POP DIRECTIONAL ISOLATE',
  10240: 'BRAILLE PATTERN BLANK',
  12288: 'IDEOGRAPHIC SPACE',
  12644: 'HANGUL FILLER',
  65038: 'VARIATION SELECTOR-15',
  65039: 'VARIATION SELECTOR-16',
  65279: 'ZERO WIDTH NO-BREAK SPACE',
  65440: 'HALFWIDTH HANGUL FILLER',
}

/** Controls, format characters, whatever fonts ignore (Default_Ignorable_Code_Point), and blanks other than a space. */
const invisible = /[\p{Cc}\p{Cf}\p{DI}\p{Z}\u2800]/gu
/** The joiners, which some scripts need inside of words (RFC 5892, appendix A.1 and A.2). */
const joiners = new Set(['\u200c', '\u200d'])

/**
 * Returns the first invisible character of a text as `U+200B ZERO WIDTH SPACE`; null: there is none. A space is visible.
 * @param options.joiners whether to count the zero width joiner and non-joiner, which may be right in a name.
 */
export function invisibleCharacterIn(text: string, options: { readonly joiners: boolean }): string | null {
  const found = text.match(invisible)?.find((each) => each !== ' ' && (options.joiners || !joiners.has(each)))
  if (found === undefined) return null
  const code = found.codePointAt(0) ?? 0
  const name = names[code]
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${name === undefined ? '' : ` ${name}`}`
}
