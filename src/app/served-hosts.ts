import type { IncomingMessage } from 'node:http'
import { CERTIFICATE_PATH } from '../account/custom-domain/custom-domain.ts'
import type { ProvenDomains } from '../account/custom-domain/proven-domains.ts'
import type { Config } from '../core/config.ts'
import { hostNameOf } from '../http/request/host-header.ts'
import type { HostConfig } from '../http/request/own-host.ts'
import { isOwnHost } from '../http/request/own-host.ts'

/** Returns whether the service answers to the host of a request. */
export type HostCheck = (request: Pick<IncomingMessage, 'headers' | 'url'>) => boolean | Promise<boolean>

/**
 * Creates the check of host names. While `BASE_URL` is set, the service answers to its own names and to proven domains alone, so
 * that nobody can lead a browser here by a name of theirs (DNS rebinding). While it is unset, any name may be the operator's.
 * @param domains null: a process that serves no pages.
 */
export function createHostCheck(
  config: HostConfig & Pick<Config, 'METRICS_TOKEN'>,
  domains: Pick<ProvenDomains, 'known' | 'isProven'> | null,
): HostCheck {
  return ({ headers: { host }, url = '' }) => {
    if (isOwnHost(host, config) || isForEveryone(url, config)) return true
    if (config.BASE_URL === undefined) return !isPath(url, '/metrics')
    const name = hostNameOf(host)
    return domains !== null && (domains.known(name) ?? domains.isProven(name))
  }
}

/**
 * Returns whether a path is served under every name: load balancers check health, and proxies ask about certificates, by any name.
 * Metrics are, if they need a token, which a page of a stranger does not have.
 */
function isForEveryone(url: string, { METRICS_TOKEN }: Pick<Config, 'METRICS_TOKEN'>): boolean {
  if (isPath(url, '/metrics')) return METRICS_TOKEN !== undefined
  return ['/healthz', '/readyz', CERTIFICATE_PATH].some((path) => isPath(url, path))
}

const isPath = (url: string, path: string) => url === path || url.startsWith(`${path}?`)
