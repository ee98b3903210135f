import { createClient as createWebsocketClient } from 'graphql-ws'
import WebSocket from 'ws'
import { createClient } from '../../src/client/index.ts'
import type { FollowingClient } from './conformance.ts'
import { testConformance } from './conformance.ts'
import { SLUG } from './scripted-service.ts'

/** The client library, over server-sent events. */
const library: FollowingClient = {
  follow(url, onEvent) {
    const ending = new AbortController()
    const givenUp = (async () => {
      for await (const { cursor, kind } of createClient({ url }).statusPageEvents(SLUG, { signal: ending.signal })) {
        if (kind === 'RELOAD') await readPage(url)
        onEvent(cursor)
      }
    })().catch((error: unknown) => error)
    return {
      givenUp,
      async stop() {
        ending.abort()
        await givenUp
      },
    }
  },
}

async function readPage(url: string): Promise<string> {
  const body = JSON.stringify({ query: `{ statusPage(slug: "${SLUG}") { cursor } }` })
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { data } = (await answer.json()) as { data: { statusPage: { cursor: string } } }
  return data.statusPage.cursor
}

/** The library graphql-ws, as the guide uses it, with a loop that resumes. */
const websocketLibrary: FollowingClient = {
  follow(url, onEvent) {
    let isStopped = false
    const client = createWebsocketClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: true,
    })
    const query = `subscription ($after: String) { statusPageEvents(slug: "${SLUG}", after: $after) { cursor kind } }`
    /** Follows the page over one connection. Returns the cursor of the last event. */
    async function followOnce(after: string): Promise<string> {
      let cursor = after
      try {
        for await (const { data } of client.iterate<Events>({ query, variables: { after } })) {
          if (!data) continue
          const { statusPageEvents: event } = data
          cursor = event.kind === 'RELOAD' ? await readPage(url) : event.cursor
          onEvent(event.cursor)
        }
      } catch (error) {
        if ((error as { readonly code?: number }).code === 4403) isStopped = true
      }
      return cursor
    }
    const givenUp = (async () => {
      for (let cursor = await readPage(url); !isStopped; ) cursor = await followOnce(cursor)
    })()
    return {
      givenUp,
      async stop() {
        isStopped = true
        await client.dispose()
        await givenUp
      },
    }
  },
}

interface Events {
  readonly statusPageEvents: { readonly cursor: string; readonly kind: string }
  readonly [field: string]: unknown
}

testConformance('the client library', library)
testConformance('graphql-ws', websocketLibrary)
