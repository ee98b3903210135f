import type { Options } from 'minisearch'
import MiniSearch from 'minisearch'
import type { Guide } from './guide.ts'

/** A part of a guide that matches a query. */
export interface Hit {
  readonly path: string
  readonly title: string
  /** The heading of the part; empty: the beginning of the guide. */
  readonly heading: string
  /** An excerpt around the first match. */
  readonly excerpt: string
}

/** The maximum number and length of words in a query, and the maximum number of hits. */
const MAX_WORDS = 5
const MAX_WORD_LENGTH = 30
const MAX_HITS = 20
const EXCERPT_LENGTH = 180

const options: Options = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'text'],
  searchOptions: {
    boost: { title: 2, heading: 4 },
    combineWith: 'AND',
    // Shorter prefixes match too much and take long.
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
}

/** Builds the serialized search index of the guides. */
export function buildIndex(guides: readonly Guide[]): string {
  const index = new MiniSearch(options)
  for (const { slug, title, parts } of guides) {
    for (const { id, heading, text } of parts) {
      index.add({ id: `/docs/${slug}${id === '' ? '' : `#${id}`}`, title, heading, text })
    }
  }
  return JSON.stringify(index)
}

/**
 * Opens a search index. Every word of a query must occur, as a prefix or with small misspellings. Best matches come
 * first.
 */
export function openSearch(index: string): (query: string) => Hit[] {
  const search = MiniSearch.loadJSON(index, options)
  return (query) => {
    const found = search.search(wordsOf(query).join(' ')).slice(0, MAX_HITS)
    return found.map(({ id, title, heading, text, terms }) => ({
      path: String(id),
      title: String(title),
      heading: String(heading),
      excerpt: excerptOf(String(text), terms),
    }))
  }
}

function wordsOf(query: string): string[] {
  const words =
    query
      .slice(0, MAX_WORDS * MAX_WORD_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words)].slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD_LENGTH))
}

function excerptOf(text: string, terms: readonly string[]): string {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place >= 0)
  const first = Math.min(text.length, ...places)
  const start =
    first === text.length || first < EXCERPT_LENGTH / 2 ? 0 : text.lastIndexOf(' ', first - EXCERPT_LENGTH / 3) + 1
  const cut = text.slice(start, start + EXCERPT_LENGTH)
  const whole = start + EXCERPT_LENGTH >= text.length ? cut : `${cut.slice(0, cut.lastIndexOf(' '))} …`
  return start === 0 ? whole : `… ${whole}`
}
