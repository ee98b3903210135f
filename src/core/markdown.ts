import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'

/**
 * Renders a message in CommonMark as safe HTML; raw HTML stays text. micromark drops the address of a link whose
 * scheme is not known to be safe (https://github.com/micromark/micromark#security), so that every tag in the result is
 * its own. Images become links, because pages load nothing from other hosts, and headings are demoted below the page's own.
 *
 * A hostile message takes seconds: only `markdown-rendering.ts` decides where this runs.
 */
export function renderMarkdown(message: string): string {
  return adaptTags(
    micromark(message, {
      extensions: [gfmAutolinkLiteral(), { disable: { null: ['labelStartImage', 'htmlFlow', 'htmlText'] } }],
      htmlExtensions: [gfmAutolinkLiteralHtml()],
    }),
  )
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

/** Returns the text of a message's HTML, for search results, link previews and announcements. */
export function plainText(html: string): string {
  return html
    .replace(/<\/?(a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => characters[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
