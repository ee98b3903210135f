import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'

/**
 * HTML that can do no harm, of a message in CommonMark without raw HTML, which stays text. micromark drops the address of a link whose
 * scheme it does not know to be safe (https://github.com/micromark/micromark#security), so that every tag in the result is
 * its own. Images become links, since the page asks nothing of strangers, and headings come below the page's own.
 *
 * A hostile message takes seconds: only `rendering.ts` decides where this runs.
 */
export function renderMarkdown(message: string): string {
  return dress(
    micromark(message, {
      extensions: [gfmAutolinkLiteral(), { disable: { null: ['labelStartImage', 'htmlFlow', 'htmlText'] } }],
      htmlExtensions: [gfmAutolinkLiteralHtml()],
    }),
  )
}

/** Tags may be rewritten as text: a `<` that is no tag of micromark's own is escaped, in texts and in attributes. */
function dress(html: string): string {
  return html
    .replace(/<(\/?)h[1-6]>/g, '<$1h4>')
    .replace(/<a href="">(.*?)<\/a>/gs, '$1')
    .replaceAll('<a href=', '<a rel="noopener noreferrer nofollow ugc" href=')
}

/** Text as HTML that shows it as it is written: its paragraphs and its line breaks, and no mark of it means anything. */
export function textAsHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${escapeText(paragraph).replaceAll('\n', '<br />\n')}</p>`)
    .join('\n')
}

/** Text as it stands between the tags of HTML. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The words of a message's HTML, without marks or tags, for search results, link previews and announcements. */
export function plainText(html: string): string {
  return html
    .replace(/<\/?(a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => characters[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
