import { requireScope } from '../../core/access.ts'
import { parseAddress } from '../../core/ip-address.ts'
import { ownValue } from '../../core/own-value.ts'
import { parseUrl } from '../../core/url.ts'
import { invalid } from '../../core/validation.ts'
import { change } from '../../event-log/change.ts'
import type { Monitor, Service } from '../../generated/prisma/client.ts'
import { hostProblem, urlHostProblem } from '../../network/outbound/host.ts'
import { createService } from '../../status/service/service.ts'
import type { MonitoringContext } from '../context.ts'
import { createMonitor } from '../monitor/monitor.ts'

/** What an entered address means: a monitor to create. */
interface WatchTarget {
  /** The host, which becomes the name of the service and the monitor. */
  readonly name: string
  /** The options of the monitor, by kind. */
  readonly options: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The website that it may be instead: a port that has no usual use. Absent: it is clear. */
  readonly orWebsite?: string
}

/** How an address with an open question is to be read. */
export type TargetReading = 'website' | 'connection'

/** The schemes of servers: the input field of their kind, and their usual port. */
const servers: Readonly<Record<string, { readonly key: string; readonly port?: number; readonly tls?: boolean }>> = {
  tcp: { key: 'tcp' },
  tls: { key: 'tcp', tls: true },
  smtp: { key: 'tcp', port: 25 },
  submission: { key: 'tcp', port: 587 },
  smtps: { key: 'tcp', port: 465, tls: true },
  imap: { key: 'tcp', port: 143 },
  imaps: { key: 'tcp', port: 993, tls: true },
  pop3: { key: 'tcp', port: 110 },
  pop3s: { key: 'tcp', port: 995, tls: true },
  redis: { key: 'redis', port: 6379 },
  rediss: { key: 'redis', port: 6379, tls: true },
  postgres: { key: 'postgresql', port: 5432 },
  postgresql: { key: 'postgresql', port: 5432 },
  mysql: { key: 'mysql', port: 3306 },
  mongodb: { key: 'mongodb', port: 27_017 },
  mqtt: { key: 'mqtt', port: 1883 },
  mqtts: { key: 'mqtt', port: 8883, tls: true },
  ssh: { key: 'ssh', port: 22 },
  ws: { key: 'websocket', port: 80, tls: false },
  wss: { key: 'websocket', port: 443, tls: true },
}

/** The ports that are assumed to serve HTTP, and HTTPS. */
const HTTP_PORTS = new Set([80, 8000, 8080])
const HTTPS_PORTS = new Set([443, 8443])
/** Ports of other protocols (IANA's registry), where no one expects a website. */
const OTHER_PORTS = new Set([
  ...[21, 22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 636, 853, 873, 993, 995, 1433, 1521, 1883, 2049, 3306, 3389],
  ...[5060, 5222, 5432, 5671, 5672, 5900, 6379, 6443, 8883, 9042, 9092, 11_211, 27_017],
])

/**
 * Parses an entered address: `example.com` and `https://example.com/path` are websites, `mail.example.com:25` is a port,
 * `redis://cache.example.com` is a server of its scheme, `ping://` and `dns://` are followed by a name. A port without a
 * usual use may be a website, or not: the answer has both readings.
 * @throws Invalid at `path`, with the reason, for anything else: nothing is guessed.
 */
export function parseWatchTarget(text: string, path: string): WatchTarget {
  const typed = text.trim()
  const refuse = (message: string) => invalid([{ path: [path], message }])
  if (typed === '') throw refuse('must be the address of a website, or a host and a port')
  if (/\s/.test(typed)) throw refuse('must be one address, without spaces')
  const [begin = '', scheme] = /^([a-z][a-z0-9+.-]*):\/+/i.exec(typed) ?? []
  const rest = typed.slice(begin.length)
  return scheme === undefined ? bare(typed, refuse) : withScheme(typed, scheme.toLowerCase(), rest, refuse)
}

type Refuse = (message: string) => Error

function withScheme(typed: string, scheme: string, rest: string, refuse: Refuse): WatchTarget {
  if (scheme === 'http' || scheme === 'https') return website(typed, refuse)
  if (scheme === 'ping' || scheme === 'icmp' || scheme === 'dns') return byName(scheme, rest, refuse)
  const server = ownValue(servers, scheme)
  if (server === undefined) {
    throw refuse(
      `begins with ${scheme}://, which cannot be monitored; use http, https, ping, dns, ${Object.keys(servers).join(', ')}`,
    )
  }
  const { host, port: given, after } = authority(rest, refuse)
  const port = given ?? server.port
  if (port === undefined) throw refuse(`must have a port, such as ${scheme}://${rest.split('/', 1)[0]}:443`)
  return serverTarget(server, { host, port, after, name: given === null ? host : inAddress(host, given) }, refuse)
}

function serverTarget(
  { key, tls }: { readonly key: string; readonly tls?: boolean },
  {
    host,
    port,
    after,
    name,
  }: { readonly host: string; readonly port: number; readonly after: string; readonly name: string },
  refuse: Refuse,
): WatchTarget {
  if (key === 'tcp' && after.replace(/^\/$/, '') !== '') throw refuse('must end after the port')
  const path = key === 'websocket' && after !== '' ? { path: after } : {}
  return { name, options: { [key]: { host, port, ...(tls !== undefined && { tls }), ...path } } }
}

/** A ping or a lookup, which have no port. */
function byName(scheme: string, rest: string, refuse: Refuse): WatchTarget {
  const { host, port } = authority(rest, refuse)
  if (port !== null) throw refuse(`must not have a port: ${scheme}:// is followed by a name only`)
  return { name: host, options: scheme === 'dns' ? { dns: { name: host } } : { ping: { host } } }
}

/** Parses an address without a scheme. */
function bare(typed: string, refuse: Refuse): WatchTarget {
  const literal = parseAddress(typed)
  if (literal !== null) return website(`https://${literal.includes(':') ? `[${literal}]` : literal}`, refuse)
  if (/^[^/@]+@[^/@]+$/.test(typed)) {
    throw refuse('is an email address; enter a host, such as mail.example.com:25 for its mail server')
  }
  const [, host, digits] = /^([^\s/:?#]+|\[[^\]\s]+\]):(\d+)$/.exec(typed) ?? []
  if (host === undefined || digits === undefined) return website(`https://${typed}`, refuse)
  const { host: name, port } = authority(typed, refuse)
  if (port === null) return website(`https://${typed}`, refuse)
  if (HTTPS_PORTS.has(port)) return website(`https://${typed}`, refuse)
  if (HTTP_PORTS.has(port)) return website(`http://${typed}`, refuse)
  const connection = { name: typed, options: { tcp: { host: name, port } } }
  return OTHER_PORTS.has(port) ? connection : { ...connection, orWebsite: `http://${typed}` }
}

function website(url: string, refuse: Refuse): WatchTarget {
  const problem = urlHostProblem(url)
  if (problem !== null) throw refuse(problem)
  // WHATWG parsers also read `https:///host`, `https:host` and back slashes.
  const parsed = /^https?:\/\/[^/\\]/i.test(url) ? parseUrl(url) : null
  if (parsed === null) throw refuse('must be the address of a website, or a host and a port')
  if (parsed.username !== '' || parsed.password !== '') throw refuse('must not contain a user or a password')
  return { name: parsed.host, options: { http: { url } } }
}

/** Parses `host`, `host:port` or `[address]:port`, and what follows. */
function authority(text: string, refuse: Refuse) {
  const end = text.search(/[/?#]/)
  const [before, after] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end)]
  if (before.includes('@')) throw refuse('must not contain a user or a password')
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(before) ?? []
  const problem = hostProblem(name)
  if (name === '' || problem !== null) throw refuse(problem ?? 'must name a host')
  const port = digits === undefined ? null : Number(digits)
  if (port !== null && (port < 1 || port > 65_535)) throw refuse('must have a port from 1 to 65535')
  return { host: name.replace(/^\[|\]$/g, ''), port, after }
}

const inAddress = (host: string, port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Creates a service and a monitor for an address, or neither. Requires a key with scope WRITE.
 * @param reading how to read a port without a usual use; absent: as a connection.
 * @throws Invalid for an unsupported address, and the errors of `createService` and `createMonitor`.
 */
export async function watchTarget(
  ctx: MonitoringContext,
  text: string,
  reading: TargetReading = 'connection',
): Promise<{ readonly service: Service; readonly monitor: Monitor }> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { name, options: byDefault, orWebsite } = parseWatchTarget(text, 'target')
  const options = orWebsite !== undefined && reading === 'website' ? { http: { url: orWebsite } } : byDefault
  return change(ctx, organizationId, async (tx) => {
    const service = await createService(tx, { name })
    const monitor = await createMonitor({ ...ctx, ...tx }, { name, serviceId: service.id, ...options })
    return [{ service, monitor }]
  })
}
