import { z } from 'zod'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import type { Configuration } from './options.ts'
import type { KindOptions } from './probe-kinds.ts'

/** The secrets in the options of each kind that has any, sealed or not. */
const http = z.looseObject({
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().optional(),
})
const tcp = z.looseObject({ send: z.string().optional() })

/**
 * Returns the options of a kind with each secret replaced by the result of `change`.
 * @param change gets the secret and its name, such as `http body`.
 * @throws ZodError when the options do not belong to the kind.
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

/** An input whose omitted secrets are filled in. */
export interface Completed {
  readonly input: unknown
  /** The paths of the secrets that the monitor keeps. */
  readonly kept: readonly (readonly string[])[]
}

/** Fills in the stored secret for each secret given as null. */
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
    // Each of several headers with the same name keeps its own value.
    const [own] = index < 0 ? [] : left.splice(index, 1)
    if (own === undefined || !isRecord(header) || header['value'] !== null) return header
    kept.push(['headers', String(position), 'value'])
    return { ...header, value: own.value }
  })
  return { input: { headers: completed }, kept }
}

/**
 * Returns who receives the secrets in these options: scheme, host and port. Null for kinds without secrets. The path
 * does not matter, and redirects to other hosts carry no secrets.
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

/** Returns whether a value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
