import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'
import { plainStyle, unescapeHtml, writeText } from './html-text.ts'

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
    .replace(/&(lt|gt|amp|quot);/g, (entity) => unescapeHtml(entity))
    .replace(/\s+/g, ' ')
    .trim()
}

/**
 * Returns a message's HTML as plain text with its paragraphs, lists, quotes and the addresses of its links, for emails and
 * calendars.
 */
export const plainLines = (html: string): string => writeText(html, plainStyle)
