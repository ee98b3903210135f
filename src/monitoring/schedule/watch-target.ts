import { requireScope } from '../../core/access.ts'
import { parseUrl } from '../../core/url.ts'
import { invalid } from '../../core/validation.ts'
import { change } from '../../event-log/change.ts'
import type { Monitor, Service } from '../../generated/prisma/client.ts'
import { urlHostProblem } from '../../network/outbound/host.ts'
import { createService } from '../../status/service/service.ts'
import type { MonitoringContext } from '../context.ts'
import { createMonitor } from '../monitor/monitor.ts'

/** A target parsed from an entered address: a website or a port. */
interface WatchTarget {
  /** The host, which becomes the name of the service and the monitor. */
  readonly name: string
  /** The options of the monitor, by kind. */
  readonly options:
    | { readonly http: { readonly url: string } }
    | { readonly tcp: { readonly host: string; readonly port: number } }
}

/**
 * Parses an entered address: `example.com` and `https://example.com/path` are websites, `mail.example.com:25` is a
 * port.
 * @throws Invalid at `path` for any other text.
 */
export function parseWatchTarget(text: string, path: string): WatchTarget {
  const typed = text.trim()
  const port = /^(?:tcp:\/\/)?([^\s/:]+|\[[^\]\s]+\]):(\d{1,5})$/i.exec(typed)
  if (port?.[1] && !WEB_PORTS.has(Number(port[2]))) {
    const host = port[1].replace(/^\[|\]$/g, '')
    return { name: typed.replace(/^tcp:\/\//i, ''), options: { tcp: { host, port: Number(port[2]) } } }
  }
  const url = /^https?:\/\//i.test(typed) ? typed : `https://${typed}`
  const parsed = parseUrl(url)
  const problem = typed === '' ? null : urlHostProblem(url)
  if (problem !== null) throw invalid([{ path: [path], message: problem }])
  if (typed === '' || /\s/.test(typed) || parsed === null) {
    throw invalid([{ path: [path], message: 'must be the address of a website, or a host and a port' }])
  }
  return { name: parsed.host, options: { http: { url } } }
}

/** The ports that are assumed to serve HTTP. */
const WEB_PORTS = new Set([80, 443, 8080, 8443])

/**
 * Creates a service and a monitor for an address, or neither. Requires a key with scope WRITE.
 * @throws Invalid for an unsupported address, and the errors of `createService` and `createMonitor`.
 */
export async function watchTarget(
  ctx: MonitoringContext,
  text: string,
): Promise<{ readonly service: Service; readonly monitor: Monitor }> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { name, options } = parseWatchTarget(text, 'target')
  return change(ctx, organizationId, async (tx) => {
    const service = await createService(tx, { name })
    const monitor = await createMonitor({ ...ctx, ...tx }, { name, serviceId: service.id, ...options })
    return [{ service, monitor }]
  })
}
