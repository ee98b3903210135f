import type { TextStyle } from '../../core/markdown/html-text.ts'
import { cutHtml, fitHtml, fitText, writeText } from '../../core/markdown/html-text.ts'
import { closingDirections } from '../../core/truncate.ts'

/** What a channel writes into a message, each text escaped and within its limit. */
export interface TextWriter {
  /** Writes a text of one line; a URL becomes a link. @param most the maximum length of the result. */
  readonly line: (text: string, most: number) => string
  /**
   * Writes a message's HTML with its paragraphs, lists and links.
   * @param most the maximum length of the result. @param lengthOf its length; default: as the channel counts texts.
   */
  readonly message: (html: string, most: number, lengthOf?: (written: string) => number) => string
  /** Writes a link of ours. */
  readonly link: (label: string, url: string) => string
}

/**
 * Returns what writes all texts of a channel. Texts are cut before they are escaped, so that no escape is split, and end with "…".
 * @param lengthOf the length of a result as the channel counts it.
 */
export function createTextWriter(style: TextStyle, lengthOf = (written: string) => written.length): TextWriter {
  const text: TextStyle['text'] = (plain, isLineStart) => style.text(plain + closingDirections(plain), isLineStart)
  const link: TextStyle['link'] = (label, url, isAddress) => style.link(label, url, isAddress)
  return {
    line: (plain, most) =>
      /^https?:\/\/\S+$/.test(plain)
        ? link(text(plain, true), plain, true)
        : fitText(
            plain.replace(/\s+/g, ' ').trim(),
            (cut) => text(cut, true),
            (written) => lengthOf(written) <= most,
          ),
    message: (html, most, length = lengthOf) =>
      fitHtml(
        // Writing hardly shortens a text, so what is beyond is not tried.
        cutHtml(html, most),
        (cut) => writeText(cut, { ...style, text }),
        (written) => length(written) <= most,
      ),
    link: (label, url) => link(text(label, false), url, false),
  }
}

/** A fact as a channel shows it. */
export type WrittenFact = readonly [name: string, value: string]

/** The maximum lengths of the name and the value of a fact. */
const [MAX_NAME, MAX_VALUE] = [250, 1000]

/** Writes the first facts, of a bounded length together; "…" stands for the others. */
export function writeFacts({ line }: TextWriter, facts: readonly WrittenFact[], most: number): WrittenFact[] {
  const written: WrittenFact[] = []
  let room = most
  for (const [name, value] of facts) {
    const fact = [line(name, MAX_NAME), line(value, MAX_VALUE)] as const
    room -= fact[0].length + fact[1].length + 3
    if (room < 0) return [...written, ['…', '…']]
    written.push(fact)
  }
  return written
}

/**
 * Escapes the Markdown that chat programs share, with backslashes: emphasis, links, code, tags and, where a line begins, headings,
 * lists and quotes (CommonMark 0.31, section 2.4).
 */
export function escapeMarks(text: string, marks: RegExp, isLineStart: boolean): string {
  const escaped = text.replace(marks, '\\$&')
  return isLineStart
    ? escaped.replace(/^(\s*)([-+>#])/, '$1\\$2').replace(/^(\s*\d+)([.)])(?=\s|$)/, '$1\\$2')
    : escaped
}

/** Encodes what would end the address of a link in Markdown. */
export const markdownAddress = (url: string) =>
  url.replace(/[()<>\s\\]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
