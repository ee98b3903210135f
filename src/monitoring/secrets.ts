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

/** What is given for the kind of a monitor, with the secret that it has in place of each that is null. */
export function withKeptSecrets(input: unknown, { kind, options }: Configuration): unknown {
  if (!isRecord(input)) return input
  switch (kind) {
    case 'HTTP': {
      const { headers, body } = input
      return { ...input, headers: withKeptValues(headers, options), body: body === null ? options.body : body }
    }
    case 'TCP': {
      const { send } = input
      return { ...input, send: send === null ? options.send : send }
    }
    default:
      return input
  }
}

function withKeptValues(headers: unknown, before: KindOptions['HTTP']): unknown {
  if (!Array.isArray(headers)) return headers
  const kept = [...before.headers]
  return headers.map((header: unknown) => {
    const name = isRecord(header) && typeof header['name'] === 'string' ? header['name'].trim().toLowerCase() : null
    const index = kept.findIndex((each) => each.name.toLowerCase() === name)
    // Of several headers of one name each keeps its own.
    const [own] = index < 0 ? [] : kept.splice(index, 1)
    return isRecord(header) && header['value'] === null ? { ...header, value: own?.value ?? null } : header
  })
}

/** Whether a value has members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
