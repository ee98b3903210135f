import { Agent, request } from 'node:http'
import type { Filled } from './organization.ts'

/** A running service, and an organization on it for attacks. */
export interface Target extends Filled {
  readonly url: string
  /** An attacker's server, which answers each path with the handler that `serve` was given for it. */
  serve(body: Buffer | string, headers?: Readonly<Record<string, string>>): Promise<string>
}

/** A request with which one caller tries to harm others. */
export interface HostileCase {
  readonly name: string
  /** The permitted statuses; 0: the connection is closed. */
  readonly statuses: readonly number[]
  /** The missing part of this machine, because of which the case is skipped. */
  readonly awaits?: string
  /** Whether it mostly waits, so that it can be sent together with others that do. */
  readonly waits?: boolean
  /** Prepares and sends it. Returns the status. May be called more than once. */
  send(target: Target): Promise<number>
}

/** A request to a path of the service. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A case of one request. */
export function requesting(
  name: string,
  statuses: readonly number[],
  path: string | ((target: Target) => string),
  sent: Sent = {},
): HostileCase {
  return { name, statuses, send: (target) => ask(target.url, typeof path === 'string' ? path : path(target), sent) }
}

/** A case of one GraphQL document, or of a whole body in its place. */
export function graphql(name: string, statuses: readonly number[], body: string | object, key = false): HostileCase {
  return {
    name,
    statuses,
    send: (target) =>
      ask(target.url, '/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${target.key}` }) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

/** Runs a mutation of the organization's. @throws Error when it is refused. */
export async function mutate<T>(target: Target, field: string, input: object, selection: string): Promise<T> {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`
  const document = `mutation ($input: ${type}!) { ${field}(input: $input) { ... on Error { message } ${selection} } }`
  const data = await query<Record<string, { message?: string }>>(target, document, { input })
  const value = data[field]
  if (value === undefined || value.message !== undefined) throw new Error(JSON.stringify(value))
  return value as T
}

/** Runs an operation with the organization's key. @throws Error when it has no data. */
export async function query<T>(target: Target, document: string, variables: object = {}): Promise<T> {
  const response = await fetch(`${target.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${target.key}` },
    body: JSON.stringify({ query: document, variables }),
  })
  const { data, errors } = (await response.json()) as { data?: T | null; errors?: unknown }
  if (data == null) throw new Error(JSON.stringify(errors))
  return data
}

let visitors = 0

/** Headers of a new visitor, who has not used any quota. */
export function asNewVisitor(): Readonly<Record<string, string>> {
  visitors += 1
  return { 'x-forwarded-for': `2001:db8:${(process.pid % 0xffff).toString(16)}:${visitors.toString(16)}::1` }
}

/** Sends a request unchanged. Returns the status once the whole answer has arrived; 0: none did. */
export function ask(url: string, path: string, { method = 'GET', headers = {}, body }: Sent): Promise<number> {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: false })
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, method, headers, agent, setHost: !('host' in headers) }, (answer) => {
      answer.resume().on('close', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', () => resolve(0))
    sent.end(body)
  })
}
