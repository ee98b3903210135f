import type { Operation, Result } from './graphql-client.ts'
import { openEventStream, websocketClient } from './graphql-client.ts'

/** An open subscription. */
export interface Subscription {
  /**
   * The next result; null after the end.
   * @throws when the connection was lost.
   */
  next(): Promise<Result | null>
  /** Closes the connection, as a client does. */
  leave(): Promise<void>
}

/** A way to subscribe that does not end. */
export interface LiveTransport {
  readonly name: string
  subscribe(url: string, operation: Operation): Promise<Subscription>
}

const overWebsocket: LiveTransport = {
  name: 'websocket',
  async subscribe(url, { query, variables, key }) {
    const client = websocketClient(url, key === undefined ? undefined : { apiKey: key })
    const results = client.iterate({ query, variables })
    // The client only subscribes when the first result is requested.
    let first: ReturnType<typeof results.next> | null = results.next()
    first.catch(() => {})
    return {
      async next() {
        const coming = first ?? results.next()
        first = null
        try {
          const { value, done } = await coming
          return done ? null : (value as Result)
        } catch (errors) {
          if (!Array.isArray(errors)) throw errors
          return { errors }
        }
      },
      async leave() {
        await results.return?.()
        await client.dispose()
      },
    }
  },
}

const overEvents: LiveTransport = {
  name: 'server-sent events',
  async subscribe(url, operation) {
    const connection = new AbortController()
    const { body } = await openEventStream(url, operation, connection.signal)
    if (!body) throw new Error('There is no stream.')
    const messages = messagesOf(body)
    return {
      async next() {
        for await (const message of messages) {
          if (message.startsWith('event: complete')) return null
          const data = /^event: next\ndata: (.*)$/s.exec(message)?.[1]
          if (data !== undefined) return JSON.parse(data) as Result
        }
        throw new Error('The stream has ended without saying so.')
      },
      async leave() {
        connection.abort()
      },
    }
  },
}

/** The messages of a stream of server-sent events, for a reader that takes a few at a time. */
function messagesOf(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let messages: string[] = []
  let begun = ''
  const next = async (): Promise<IteratorResult<string, undefined>> => {
    while (messages.length === 0) {
      const { value, done } = await reader.read()
      if (done) return { done: true, value: undefined }
      const parts = (begun + decoder.decode(value, { stream: true })).split('\n\n')
      begun = parts.pop() ?? ''
      messages = parts
    }
    return { done: false, value: messages.shift() ?? '' }
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

export const lastingTransports = [overWebsocket, overEvents] as const
