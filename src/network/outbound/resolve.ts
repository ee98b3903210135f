import { lookup } from 'node:dns/promises'
import { addressFamily, parseAddress } from '../../core/ip-address.ts'
import { SECOND } from '../../core/time.ts'
import type { DnsClient, DnsResult, RecordType } from '../dns/client.ts'
import { isPublicName } from '../public-name.ts'
import { type Attempt, awaiting, Stop } from './attempt.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from './destination-policy.ts'
import { type Host, readHost } from './host.ts'
import type { Resolved } from './outbound.ts'

export interface ResolveSettings {
  readonly dns: DnsClient
  readonly allowPrivate: boolean
}

/** How long an answer for one address family waits for that for the other, in milliseconds. */
const FAMILY_GRACE_MS = 300
/** The maximum number of addresses to try. A name may have hundreds. */
const MAX_ADDRESSES = 8
/** A name that every resolver can resolve, usually from its cache. */
const CONTROL = 'a.root-servers.net'
/** The timeout of the control query, in milliseconds. */
const CONTROL_TIMEOUT_MS = SECOND

/**
 * Resolves a host. The addresses alternate between the families, IPv4 first. If one address is forbidden, all are: a
 * legitimate public name has no forbidden address, and DNS rebinding must not be able to choose one.
 * @throws Stop
 */
export async function resolve(
  { dns, allowPrivate }: ResolveSettings,
  text: string,
  family: 4 | 6 | undefined,
  state: Attempt,
): Promise<Resolved> {
  const host = readHost(text)
  if (host === null) throw new Stop('invalid', 'theirs', 'The host is neither a name nor an address')
  const canonical = host.kind === 'address' ? host.address : host.name
  const found =
    host.kind === 'address'
      ? [host.address]
      : host.kind === 'this machine'
        ? ['127.0.0.1', '::1']
        : await addressesOf({ dns, allowPrivate }, host.name, family, state)
  if (!found.every((address) => mayReach(address, allowPrivate))) throw forbidden(host, canonical, allowPrivate)
  const addresses = interleaved(found).filter((address) => family === undefined || addressFamily(address) === family)
  if (addresses.length === 0) throw new Stop('unknown-name', 'theirs', `${canonical} has no IPv${family} address`)
  return { kind: 'resolved', host: canonical, addresses: addresses.slice(0, MAX_ADDRESSES) }
}

/** Returns the failure for a forbidden host. Tenants must not learn which names exist in the operator's network. */
function forbidden({ kind }: Host, canonical: string, allowPrivate: boolean): Stop {
  if (kind === 'name' && !allowPrivate && !isPublicName(canonical)) return nonexistent(canonical)
  const whose = kind === 'address' ? `${canonical} is` : `${canonical} resolves to`
  const what = allowPrivate ? 'is blocked' : `is not public; ${PRIVATE_NETWORKS_HINT}`
  return new Stop('forbidden', 'theirs', `${whose} an address that ${what}`)
}

function nonexistent(name: string): Stop {
  return new Stop('unknown-name', 'theirs', `${name} does not exist`)
}

async function addressesOf(
  { dns, allowPrivate }: ResolveSettings,
  name: string,
  family: 4 | 6 | undefined,
  state: Attempt,
): Promise<readonly string[]> {
  const types = (['A', 'AAAA'] as const).filter((type) => family === undefined || type === typeOf(family))
  const results = await ask(dns, name, types, state)
  const found = results
    .flatMap((result) => (result.kind === 'answer' ? result.values : []))
    .map(parseAddress)
    .filter((address) => address !== null)
  if (found.length > 0) return found
  const absent = results.every(({ kind }) => kind === 'none') || results.some(isNonexistent)
  if (!absent) throw await unresolved(dns, name, results, state)
  const local = allowPrivate ? await systemAddresses(name, state) : []
  if (local.length > 0) return local
  throw results.some(isNonexistent) ? nonexistent(name) : new Stop('unknown-name', 'theirs', `${name} has no address`)
}

/** Queries each type. After a usable answer, waits only briefly for the others. */
function ask(dns: DnsClient, name: string, types: readonly RecordType[], state: Attempt): Promise<DnsResult[]> {
  return awaiting(state, (resolve) => {
    const results: DnsResult[] = []
    let timer: NodeJS.Timeout | undefined
    const take = (result: DnsResult) => {
      results.push(result)
      if (results.length === types.length) {
        clearTimeout(timer)
        resolve(results)
      } else if (result.kind === 'answer') timer = setTimeout(() => resolve([...results]), FAMILY_GRACE_MS)
    }
    for (const type of types) void dns.query(name, type, { signal: state.signal, owner: state.owner }).then(take)
    return () => clearTimeout(timer)
  })
}

/** Returns the failure if no query was answered. A resolver may time out because the name's own servers are silent. */
async function unresolved(dns: DnsClient, name: string, results: readonly DnsResult[], state: Attempt): Promise<Stop> {
  const reasons = new Set(results.map((result) => (result.kind === 'failed' ? result.reason : null)))
  if (reasons.has('unreachable') || reasons.has('aborted'))
    return new Stop('unresolved', 'ours', 'None of our DNS resolvers is reachable')
  if (reasons.has('refused')) return new Stop('unresolved', 'ours', `Our DNS resolvers refused to look up ${name}`)
  if (reasons.has('formerr') || reasons.has('notimp'))
    return new Stop('unresolved', 'ours', 'Our DNS resolvers do not understand our queries, also without EDNS')
  if (reasons.has('malformed')) return new Stop('unresolved', 'ours', 'Our DNS resolvers returned unreadable responses')
  if (!reasons.has('timeout')) return new Stop('unresolved', 'unclear', `The nameservers of ${name} do not work`)
  const control = await dns.query(CONTROL, 'A', { fresh: true, signal: state.signal, timeoutMs: CONTROL_TIMEOUT_MS })
  state.signal.throwIfAborted()
  const silent = control.kind === 'failed' && (control.reason === 'timeout' || control.reason === 'unreachable')
  if (silent) return new Stop('unresolved', 'ours', 'None of our DNS resolvers answered')
  return new Stop('unresolved', 'unclear', `The nameservers of ${name} do not answer`)
}

/** Returns the addresses that the system finds without DNS: in its hosts file or by mDNS. */
function systemAddresses(name: string, state: Attempt): Promise<readonly string[]> {
  return awaiting(state, (resolve) => {
    void lookup(name, { all: true }).then(
      (found) => resolve(found.map(({ address }) => parseAddress(address)).filter((address) => address !== null)),
      () => resolve([]),
    )
    return () => {}
  })
}

function isNonexistent(result: DnsResult): boolean {
  return result.kind === 'none' && result.nxdomain
}

function typeOf(family: 4 | 6): RecordType {
  return family === 4 ? 'A' : 'AAAA'
}

function interleaved(addresses: readonly string[]): string[] {
  const [four, six] = [4, 6].map((family) => addresses.filter((address) => addressFamily(address) === family))
  const longest = Math.max(four?.length ?? 0, six?.length ?? 0)
  return Array.from({ length: longest }, (_, index) => [four?.[index], six?.[index]])
    .flat()
    .filter((address) => address !== undefined)
}
