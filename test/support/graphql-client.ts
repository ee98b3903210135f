import type { ExecutionResult } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { operatorToken } from './service-data.ts'

/** An operation and its credential. */
export interface Operation {
  readonly query: string
  readonly variables?: Record<string, unknown>
  /** The API key or token. */
  readonly key?: string | undefined
}

/** A result as transmitted. */
export type Result = ExecutionResult<Record<string, never>, { code?: string; [more: string]: unknown }>

/** A way to run operations against a service. */
interface Transport {
  readonly name: string
  /** Every result, in order: one for a query or mutation, any number for a subscription. */
  run(url: string, operation: Operation): Promise<Result[]>
}

/** GraphQL over HTTP, with the status of the response. */
export async function post(
  url: string,
  { query, variables, key }: Operation,
  headers: Record<string, string> = {},
): Promise<Result & { readonly status: number }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(key), ...headers },
    body: JSON.stringify({ query, variables }),
  })
  return { status: response.status, ...((await response.json()) as Result) }
}

/**
 * A client of graphql-ws with its credentials in `connectionParams`; dispose of it. It connects on first use, unless
 * `lazy` is false.
 */
export function websocketClient(url: string, connectionParams?: Record<string, unknown>, lazy = true): Client {
  return createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy,
    onNonLazyError: () => undefined,
    ...(connectionParams && { connectionParams }),
  })
}

/** Starts an operation whose results arrive as server-sent events. */
export function openEventStream(
  url: string,
  { query, variables, key }: Operation,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(key) },
    body: JSON.stringify({ query, variables }),
    ...(signal && { signal }),
  })
}

const overHttp: Transport = {
  name: 'HTTP',
  run: async (url, operation) => {
    const { status: _, ...result } = await post(url, operation)
    return [result]
  },
}

const overWebsocket: Transport = {
  name: 'websocket',
  async run(url, { query, variables, key }) {
    const client = websocketClient(url, key === undefined ? undefined : { apiKey: key })
    const results: Result[] = []
    try {
      for await (const result of client.iterate({ query, variables })) results.push(result as Result)
      return results
    } catch (errors) {
      // The protocol's message for a refused operation: its errors, without a result around them.
      if (!Array.isArray(errors)) throw errors
      return [...results, { errors }]
    } finally {
      await client.dispose()
    }
  },
}

const overEvents: Transport = {
  name: 'server-sent events',
  async run(url, operation) {
    const text = await (await openEventStream(url, operation)).text()
    return [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Result)
  },
}

/** The transports for queries and mutations. */
export const transports = [overHttp, overWebsocket, overEvents] as const
/** The transports for subscriptions. */
export const liveTransports = [overWebsocket, overEvents] as const

const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` }

let organizations = 0

/** Creates an organization with its first key, by the operator's API. */
export async function newOrganization(
  url: string,
  { pro = false }: { readonly pro?: boolean } = {},
): Promise<{ id: string; slug: string; key: string; keyId: string }> {
  const slug = `org-${process.pid}-${++organizations}`
  const { data } = await post(url, {
    key: operatorToken,
    query: `mutation ($input: CreateOrganizationInput!) {
      createOrganization(input: $input) {
        ... on CreateOrganizationPayload { organization { id } apiKey { id secret } }
        ... on Error { message }
      }
    }`,
    variables: { input: { slug, name: 'Acme', contactEmail: 'ops@acme.example' } },
  })
  const { organization, apiKey } = (data as unknown as { createOrganization: Created }).createOrganization
  if (pro) {
    await post(url, {
      key: operatorToken,
      query: `mutation ($id: ID!) { setCheckPlan(input: { organizationId: $id, plan: PRO }) { ... on Error { message } } }`,
      variables: { id: organization.id },
    })
  }
  return { id: organization.id, slug, key: apiKey.secret, keyId: apiKey.id }
}

interface Created {
  readonly organization: { readonly id: string }
  readonly apiKey: { readonly id: string; readonly secret: string }
}
