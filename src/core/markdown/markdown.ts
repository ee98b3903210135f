import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'
import { ownValue } from '../own-value.ts'

/**
 * Renders a message in CommonMark as safe HTML; raw HTML stays text. micromark drops the address of a link whose scheme
 * is not known to be safe (https://github.com/micromark/micromark#security), so that every tag in the result is its
 * own. Images become links, because pages load nothing from other hosts, and headings are demoted below the page's own.
 * A hostile message takes seconds: only `markdown-rendering.ts` decides where this runs.
 */
export function renderMarkdown(message: string): string {
  return adaptTags(micromark(message, options))
}

const options = {
  extensions: [gfmAutolinkLiteral(), { disable: { null: ['labelStartImage', 'htmlFlow', 'htmlText'] } }],
  htmlExtensions: [gfmAutolinkLiteralHtml()],
}

/** Demotes headings, removes empty links and adds `rel`. Safe on text: micromark escapes every other `<`. */
function adaptTags(html: string): string {
  return html
    .replace(/<(\/?)h[1-6]>/g, '<$1h4>')
    .replace(/<a href="">(.*?)<\/a>/gs, '$1')
    .replaceAll('<a href=', '<a rel="noopener noreferrer nofollow ugc" href=')
}

/** Converts plain text to HTML with its paragraphs and line breaks; Markdown has no effect. */
export function textAsHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${escapeText(paragraph).replaceAll('\n', '<br />\n')}</p>`)
    .join('\n')
}

/** Escapes a text for HTML. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/**
 * Escapes a text for use within a Markdown paragraph, and puts it on one line. Escapes only characters that would
 * format text, create a link or form an entity (CommonMark 0.31, section 2.4), because some programs show the Markdown
 * source.
 */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(marks, '\\$&')
}

const marks = /[\\`*[\]<@]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:(?=\/\/)|(?<=www)\./giu

/** Returns the text of a message's HTML, for search results, link previews and announcements. */
export function plainText(html: string): string {
  return html
    .replace(/<\/?(?:a|code|em|strong)(?:\s[^<>]*)?>/g, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ownValue(characters, name) ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Deeper quotes and lists are not indented further, so that a text cannot grow much. */
const MAX_INDENT = 5

/**
 * Returns a message's HTML as plain text with its paragraphs, lists, quotes and the addresses of its links, for emails.
 * It supports the tags that `renderMarkdown` and `textAsHtml` write.
 */
export function plainLines(html: string): string {
  const lines: string[] = []
  // For each open list, the number of its next item; null: a dash.
  const lists: (number | null)[] = []
  let [line, marker, label, url] = ['', '', '', '']
  let [quotes, isCode, hasGap] = [0, false, true]
  const quote = () => '> '.repeat(Math.min(quotes, MAX_INDENT))
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
  const write = (text: string) => {
    label += text
    const [first = '', ...rest] = text.split('\n')
    line += isCode || line !== '' ? first : first.trimStart()
    for (const next of rest) {
      flush(isCode || line.trim() !== '')
      line = isCode ? next : next.trimStart()
    }
  }
  const tags: Readonly<Record<string, (attributes: string) => void>> = {
    p: begin,
    h4: begin,
    '/p': () => flush(),
    '/h4': () => flush(),
    br: () => flush(),
    hr: () => {
      begin()
      line = '* * *'
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
      isCode = true
    },
    '/pre': () => {
      flush()
      isCode = false
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
      marker = number === null ? '- ' : `${number}. `
      lists.push(number === null ? null : number + 1)
    },
    '/li': () => flush(),
    a: (attributes) => {
      url = unescapeText(/href="([^"]*)"/.exec(attributes)?.[1] ?? '')
      label = ''
    },
    '/a': () => {
      if (url !== '' && url.replace(/^(https?:\/\/|mailto:)/, '') !== label.replace(/^https?:\/\//, ''))
        write(` (${url})`)
    },
  }
  for (const [, tag = '', attributes = '', text = ''] of html.matchAll(
    /<(\/?[a-z0-9]+)((?:[^a-z0-9<>][^<>]*)?)>|([^<]+)/g,
  )) {
    if (tag === '') write(unescapeText(text))
    else ownValue(tags, tag)?.(attributes)
  }
  flush()
  return lines.join('\n').trim()
}

const unescapeText = (text: string) =>
  text.replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ownValue(characters, name) ?? '')

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
