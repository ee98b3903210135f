import { ownValue } from '../own-value.ts'
import { cutAtWord } from '../truncate.ts'

/** How a channel writes text. */
export interface TextStyle {
  /** Escapes a text, so that it is shown as it is. @param isLineStart whether it begins a line. */
  readonly text: (text: string, isLineStart: boolean) => string
  /** Writes a link. @param label already escaped. @param isAddress whether the label is the address itself. */
  readonly link: (label: string, url: string, isAddress: boolean) => string
  /** Begins an item of a list without numbers. */
  readonly bullet: string
  /** Begins a line of a quote. */
  readonly quote: string
  /** Writes a block of code; absent: its lines are texts. */
  readonly code?: (code: string) => string
}

/** Plain text, with the addresses of links in parentheses. */
export const plainStyle: TextStyle = {
  text: (text) => text,
  link: (label, url, isAddress) => (isAddress ? label : `${label} (${url})`),
  bullet: '- ',
  quote: '> ',
}

/** Deeper quotes and lists are not indented further, so that a text cannot grow much. */
const MAX_INDENT = 5

/**
 * Writes a message's HTML as text with its paragraphs, lists, quotes, code and the addresses of its links. It supports the tags that
 * `renderMarkdown` and `textAsHtml` write; emphasis is left out.
 */
export function writeText(html: string, style: TextStyle): string {
  const lines: string[] = []
  // For each open list, the number of its next item; null: a bullet.
  const lists: (number | null)[] = []
  let [line, marker, url, plainLabel] = ['', '', '', '']
  // The line before an open link, whose label is the line until the link ends.
  let beforeLink: string | null = null
  let [quotes, code, hasGap] = [0, null as string | null, true]
  const quote = () => style.quote.repeat(Math.min(quotes, MAX_INDENT))
  const flush = (isKept = line.trim() !== '') => {
    if (isKept) {
      const depth = Math.min(lists.length, MAX_INDENT) - (marker === '' ? 0 : 1)
      lines.push(`${quote()}${'  '.repeat(Math.max(depth, 0))}${marker}${line}`.trimEnd())
      marker = ''
      hasGap = false
    }
    line = ''
  }
  const begin = () => {
    flush()
    if (lists.length > 0 || hasGap) return
    lines.push(quote().trimEnd())
    hasGap = true
  }
  const writeLines = (text: string) => {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) flush()
      const visible = line === '' ? part.trimStart() : part
      if (visible !== '') line += style.text(visible, line === '')
    }
  }
  const writeLabel = (text: string) => {
    plainLabel += text
    line += style.text(text.replace(/\s+/g, ' '), beforeLink === '' && line === '')
  }
  const write = (text: string) => {
    if (code !== null) code += text
    else if (beforeLink !== null) writeLabel(text)
    else writeLines(text)
  }
  const writeCode = (whole: string) => {
    const text = style.code === undefined ? whole : style.code(whole)
    for (const each of text.split('\n')) {
      line = style.code === undefined ? style.text(each, true) : each
      flush(true)
    }
  }
  const tags: Readonly<Record<string, (attributes: string) => void>> = {
    p: begin,
    h4: begin,
    '/p': () => flush(),
    '/h4': () => flush(),
    br: () => (beforeLink === null ? flush() : write(' ')),
    hr: () => {
      begin()
      line = style.text('* * *', true)
      flush()
    },
    blockquote: () => {
      begin()
      quotes += 1
    },
    '/blockquote': () => {
      flush()
      quotes -= 1
    },
    pre: () => {
      begin()
      code = ''
    },
    '/pre': () => {
      const whole = (code ?? '').replace(/\n$/, '')
      code = null
      writeCode(whole)
    },
    ul: () => {
      begin()
      lists.push(null)
    },
    ol: (attributes) => {
      begin()
      lists.push(Number(/start="(\d+)"/.exec(attributes)?.[1] ?? 1))
    },
    '/ul': () => void lists.pop(),
    '/ol': () => void lists.pop(),
    li: () => {
      flush()
      const number = lists.pop() ?? null
      marker = number === null ? style.bullet : `${number}. `
      lists.push(number === null ? null : number + 1)
    },
    '/li': () => flush(),
    a: (attributes) => {
      url = unescapeHtml(/href="([^"]*)"/.exec(attributes)?.[1] ?? '')
      plainLabel = ''
      beforeLink = line
      line = ''
    },
    '/a': () => {
      if (beforeLink === null) return
      const isAddress = url.replace(/^(https?:\/\/|mailto:)/, '') === plainLabel.replace(/^https?:\/\//, '')
      line = beforeLink + (url === '' ? line : style.link(line, url, isAddress))
      beforeLink = null
    },
  }
  for (const [, tag = '', attributes = '', text = ''] of html.matchAll(TOKEN)) {
    if (tag === '') write(unescapeHtml(text))
    else ownValue(tags, tag)?.(attributes)
  }
  flush()
  return lines.join('\n').trim()
}

/** A tag with its attributes, or a text. */
const TOKEN = /<(\/?[a-z0-9]+)(|[^a-z0-9>][^>]*)>|([^<]+)/g

/** Returns the number of UTF-16 units of the text in a message's HTML. */
function textLength(html: string): number {
  let length = 0
  for (const [, , , text = ''] of html.matchAll(TOKEN)) length += unescapeHtml(text).length
  return length
}

/** Cuts a message's HTML at a word, so that its text has at most some UTF-16 units, and closes what is open. */
export function cutHtml(html: string, most: number): string {
  const open: string[] = []
  let [cut, room] = ['', most]
  for (const [token, tag = '', , text = ''] of html.matchAll(TOKEN)) {
    if (tag === '') {
      const plain = unescapeHtml(text)
      if (plain.length > room) {
        cut += escapeHtml(room < 1 ? '…' : cutAtWord(plain, room))
        return (
          cut +
          open
            .toReversed()
            .map((name) => `</${name}>`)
            .join('')
        )
      }
      room -= plain.length
    } else if (tag.startsWith('/')) open.pop()
    else if (tag !== 'br' && tag !== 'hr') open.push(tag)
    cut += token
  }
  return cut
}

/** Returns the longest beginning of a text, cut at a word, that fits when it is written. */
export function fitText(text: string, write: (text: string) => string, fits: (written: string) => boolean): string {
  return longest(text.length, (most) => write(cutAtWord(text, most)), fits)
}

/** Returns the longest beginning of a message's HTML, cut at a word of its text, that fits when it is written. */
export function fitHtml(html: string, write: (html: string) => string, fits: (written: string) => boolean): string {
  return longest(textLength(html), (most) => write(cutHtml(html, most)), fits)
}

/** Finds the longest text that fits by halving, because markup and escapes make texts longer. Empty if none fits. */
function longest(length: number, writeCut: (most: number) => string, fits: (written: string) => boolean): string {
  const whole = writeCut(length)
  if (fits(whole)) return whole
  let [good, found, bad] = [0, '', length]
  while (bad - good > 1) {
    const most = (good + bad) >> 1
    const written = writeCut(most)
    if (fits(written)) [good, found] = [most, written]
    else bad = most
  }
  return found
}

/** Replaces the entities that `renderMarkdown` and `textAsHtml` write. */
export const unescapeHtml = (text: string) =>
  text.replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ownValue(characters, name) ?? '')

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
