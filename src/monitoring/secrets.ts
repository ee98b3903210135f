import { z } from 'zod'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import type { Configuration } from './options.ts'
import type { KindOptions } from './probes.ts'

/** Where secrets are in the options of the kinds that have any, sealed or not. */
const http = z.looseObject({
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().optional(),
})
const tcp = z.looseObject({ send: z.string().optional() })

/**
 * The options of a kind with what `change` makes of each secret in its place.
 * @param change is told which secret it is, such as `http body`.
 * @throws ZodError when the options are not the kind's.
 */
export function changeSecrets(
  kind: MonitorKind,
  options: unknown,
  change: (secret: string, what: string) => string,
): unknown {
  switch (kind) {
    case 'HTTP': {
      const { headers, body, ...rest } = http.parse(options)
      return {
        ...rest,
        headers: headers.map(({ name, value }) => ({
          name,
          value: change(value, `http header ${name.toLowerCase()}`),
        })),
        ...(body !== undefined && { body: change(body, 'http body') }),
      }
    }
    case 'TCP': {
      const { send, ...rest } = tcp.parse(options)
      return { ...rest, ...(send !== undefined && { send: change(send, 'tcp send') }) }
    }
    default:
      return options
  }
}

/** What an input says once the secrets that it leaves out are put in. */
export interface Completed {
  readonly input: unknown
  /** The paths of those that the monitor had, and keeps. */
  readonly kept: readonly (readonly string[])[]
}

/** What is given for the kind of a monitor, with the secret that it has in place of each that is null. */
export function withKeptSecrets(input: unknown, { kind, options }: Configuration): Completed {
  if (!isRecord(input)) return { input, kept: [] }
  switch (kind) {
    case 'HTTP': {
      const headers = withKeptValues(input['headers'], options)
      const body = withKept(input, 'body', options.body)
      return { input: { ...input, ...headers.input, ...body.input }, kept: [...headers.kept, ...body.kept] }
    }
    case 'TCP': {
      const send = withKept(input, 'send', options.send)
      return { input: { ...input, ...send.input }, kept: send.kept }
    }
    default:
      return { input, kept: [] }
  }
}

function withKept(input: Readonly<Record<string, unknown>>, member: string, own: string | undefined) {
  const isKept = input[member] === null && own !== undefined
  return { input: isKept ? { [member]: own } : {}, kept: isKept ? [[member]] : [] }
}

function withKeptValues(headers: unknown, before: KindOptions['HTTP']) {
  if (!Array.isArray(headers)) return { input: {}, kept: [] }
  const left = [...before.headers]
  const kept: string[][] = []
  const completed = headers.map((header: unknown, position) => {
    const name = isRecord(header) && typeof header['name'] === 'string' ? header['name'].trim().toLowerCase() : null
    const index = left.findIndex((each) => each.name.toLowerCase() === name)
    // Of several headers of one name each keeps its own.
    const [own] = index < 0 ? [] : left.splice(index, 1)
    if (own === undefined || !isRecord(header) || header['value'] !== null) return header
    kept.push(['headers', String(position), 'value'])
    return { ...header, value: own.value }
  })
  return { input: { headers: completed }, kept }
}

/**
 * Whom secrets in these options are told to: scheme, host and port. Null for kinds that have none. A path says nothing of
 * who reads them, and redirects elsewhere take none along.
 */
export function recipientOf({ kind, options }: Configuration): string | null {
  switch (kind) {
    case 'HTTP':
      return new URL(options.url).origin
    case 'TCP':
      return `${options.tls ? 'tls' : 'tcp'}://${options.host} ${options.port}`
    default:
      return null
  }
}

/** Whether a value has members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
