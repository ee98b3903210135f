import { type HostileCase, requesting } from './case.ts'

const search = (name: string, text: string): HostileCase =>
  requesting(`a search of the guides: ${name}`, [200, 414, 431], `/docs/search?q=${encodeURIComponent(text)}`)

/** Search terms for the guides. */
export const guides: readonly HostileCase[] = [
  search('12 kB', 'x'.repeat(12_000)),
  search('2,000 words', 'api key '.repeat(1000)),
  search('words that begin many others', 'con pro int sta mon'),
  search('long words that are spelt wrongly', 'organisazions maintanence subcriptions notifcations monitring'),
  search('a pattern', '(a*)*$|[^x]{1,1000}\\1'.repeat(20)),
  search('marks on letters', 'a\u0301\u0302'.repeat(1000)),
  search('markup', '<script>&amp;'.repeat(300)),
]
