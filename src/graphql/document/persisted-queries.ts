import { createHash } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import { requestError } from './request-error.ts'

/**
 * Automatic persisted queries: a client sends the SHA-256 of a document instead of the document, so that a query fits
 * into a short URL, and sends both once if the service answers that the hash is unknown. Protocol:
 * https://www.apollographql.com/docs/apollo-server/performance/apq
 */
export interface PersistedQueries {
  readonly plugin: Plugin
  /** Returns the document for the hash in `extensions`; undefined: none, or unknown. */
  find(extensions: unknown): string | undefined
}

/** The maximum total length of the known documents, in characters. */
const MAX_LENGTH = 4 * 1024 * 1024

/** Creates an empty store, which forgets the least recently used documents first. */
export function createPersistedQueries(): PersistedQueries {
  const documents = new LRUCache<string, string>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (document, hash) => document.length + hash.length,
  })

  function find(extensions: unknown): string | undefined {
    const hash = hashIn(extensions)
    return hash === null ? undefined : documents.get(hash)
  }

  const plugin: Plugin = {
    onParams({ params, setParams }) {
      const hash = hashIn(params.extensions)
      if (hash === null) return
      if (params.query == null) {
        const query = documents.get(hash)
        // Clients check the code or this message.
        if (query === undefined) throw requestError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
        setParams({ ...params, query })
      } else if (typeof params.query === 'string') {
        if (createHash('sha256').update(params.query).digest('hex') !== hash) {
          throw requestError('BAD_REQUEST', 'sha256Hash is not the SHA-256 of the query.')
        }
        documents.set(hash, params.query)
      }
    },
  }
  return { plugin, find }
}

/** Returns the hash in `extensions.persistedQuery`; null: none, or another version of the protocol. */
function hashIn(extensions: unknown): string | null {
  const { persistedQuery } = objectOf(extensions)
  const { version, sha256Hash } = objectOf(persistedQuery)
  return version === 1 && typeof sha256Hash === 'string' ? sha256Hash : null
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
