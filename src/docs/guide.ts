import { posix } from 'node:path'
import { micromark } from 'micromark'
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from 'micromark-extension-gfm-autolink-literal'
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table'
import { plainText } from '../core/markdown/markdown.ts'
import { fileOf, pathOfFile } from './contents.ts'

/** A heading within a guide. */
interface Heading {
  /** Unique in its guide, and equal to GitHub's. */
  readonly id: string
  readonly text: string
  readonly level: 2 | 3
}

/** A searchable part of a guide, from one heading to the next. */
interface Part {
  /** The id of its heading; empty: before the first heading. */
  readonly id: string
  readonly heading: string
  readonly text: string
}

/** A rendered guide. */
export interface Guide {
  readonly slug: string
  readonly title: string
  /** The text of its first paragraph. */
  readonly description: string
  /** Everything after the title. */
  readonly html: string
  readonly headings: readonly Heading[]
  readonly parts: readonly Part[]
}

/**
 * Renders a guide from this repository. Raw HTML stays text. The first line is the title.
 * @throws Error without a title or a first paragraph, for a link to a file that is not served, or a column of a table
 * without a name.
 */
export function renderGuide(slug: string, markdown: string): Guide {
  const html = micromark(markdown.replace(/<!--.*?-->/gs, ''), {
    extensions: [gfmAutolinkLiteral(), gfmTable()],
    htmlExtensions: [gfmAutolinkLiteralHtml(), gfmTableHtml()],
  })
  const [, title, rest = ''] = /^<h1>(.*?)<\/h1>([\s\S]*)$/.exec(html) ?? []
  const [, description] = /<p>([\s\S]*?)<\/p>/.exec(rest) ?? []
  if (title === undefined || description === undefined)
    throw new Error(`${fileOf(slug)} has no title or first paragraph.`)
  // WCAG 1.3.1: a screen reader announces each cell by its column.
  if (/<th[^>]*><\/th>/.test(html)) throw new Error(`${fileOf(slug)} has a table with a column without a name.`)
  const headings: Heading[] = []
  let tables = 0
  const body = rest
    .replace(/<h([23])>(.*?)<\/h\1>/g, (_, digit: string, inner: string) => {
      const level = digit === '2' ? 2 : 3
      const text = plainText(inner)
      const id = uniqueId(text, headings)
      headings.push({ id, text, level })
      return `<h${level} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${level}>`
    })
    .replace(
      / (href|src)="([^"]+)"/g,
      (_, attribute: string, address: string) => ` ${attribute}="${servedAddress(slug, address)}"`,
    )
    .replace(/<a href="(https?:[^"]+)"/g, '<a href="$1" rel="noopener noreferrer"')
    // Both may be wider than the page; scrollable areas must be reachable by keyboard.
    .replace(/<table>/g, () => `<div class="table" role="region" aria-label="Table ${++tables}" tabindex="0"><table>`)
    .replace(/<\/table>/g, '</table></div>')
    .replace(/<pre>/g, '<pre tabindex="0">')
  return {
    slug,
    title: plainText(title),
    description: plainText(description),
    html: body,
    headings,
    parts: partsOf(body, headings),
  }
}

/** Follows GitHub's rule for heading ids, so that links work in both places. */
function uniqueId(text: string, before: readonly Heading[]): string {
  const id = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const same = before.filter((each) => each.id === id || each.id.replace(/-\d+$/, '') === id).length
  return same === 0 ? id : `${id}-${same}`
}

/** Returns the address of a link target: the served path of a file in the repository, or the target itself. */
function servedAddress(slug: string, address: string): string {
  if (/^(https?:|mailto:|[#/])/.test(address)) return address
  const [path = '', fragment] = address.split('#')
  const file = posix.join(posix.dirname(fileOf(slug)), path)
  const served = file.startsWith('docs/images/') ? `/${file}` : pathOfFile(file)
  if (served === null) throw new Error(`${fileOf(slug)} links to ${address}, which is not served.`)
  return fragment === undefined ? served : `${served}#${fragment}`
}

function partsOf(html: string, headings: readonly Heading[]): Part[] {
  const [before = '', ...sections] = html.split(/<h[23] id="[^"]*">.*?<\/h[23]>/)
  const first = { id: '', heading: '', text: plainText(before) }
  return [
    first,
    ...headings.map(({ id, text }, index) => ({ id, heading: text, text: plainText(sections[index] ?? '') })),
  ]
}
