import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'

/**
 * The total length of the documents whose syntax trees are kept, in characters. A tree takes up to 250 bytes for a
 * character (measured with fields of one letter), so that strangers can fill 50 MB at most.
 */
const MAX_LENGTH = 200_000
/** A longer document is parsed each time, so that no few of them displace all others. */
const MAX_ENTRY_LENGTH = 20_000

/** A store of the engine's cache of parsed documents and of syntax errors, by document. */
interface ParseCache {
  readonly documentCache: LRUCache<string, DocumentNode>
  readonly errorCache: LRUCache<string, Error>
}

/** Creates the caches of parsed documents, and of syntax errors, which also contain their documents. */
export function createParseCache(): ParseCache {
  return { documentCache: createCache<DocumentNode>(), errorCache: createCache<Error>() }
}

function createCache<V extends {}>(): LRUCache<string, V> {
  return new LRUCache<string, V>({
    maxSize: MAX_LENGTH,
    maxEntrySize: MAX_ENTRY_LENGTH,
    sizeCalculation: (_value, document) => document.length + 1,
  })
}
