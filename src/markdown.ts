import { LRUCache } from 'lru-cache'
import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'

/** Rendering costs milliseconds and messages rarely change: the newest stay, up to this many characters of HTML. */
const REMEMBERED = 8 * 1024 * 1024

const rendered = new LRUCache<string, string>({
  maxSize: REMEMBERED,
  sizeCalculation: (html) => html.length + 1,
  memoMethod: render,
})

/**
 * HTML that can do no harm, of a message in CommonMark without raw HTML, which stays text. micromark drops the address of a link whose
 * scheme it does not know to be safe (https://github.com/micromark/micromark#security), so that every tag in the result is
 * its own. Images become links, since the page asks nothing of strangers, and headings come below the page's own.
 */
export function renderMarkdown(message: string): string {
  return rendered.memo(message)
}

function render(message: string): string {
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

/** The message's words, without marks or tags, for search results, link previews and announcements. */
export function plainText(message: string): string {
  return renderMarkdown(message)
    .replace(/<\/?(a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => characters[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
