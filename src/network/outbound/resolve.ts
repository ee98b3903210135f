import { lookup } from 'node:dns/promises'
import { addressFamily, parseAddress } from '../../core/ip-address.ts'
import { SECOND } from '../../core/time.ts'
import type { DnsClient, DnsResult, RecordType } from '../dns/client.ts'
import { isPublicName } from '../public-name.ts'
import { type Attempt, awaiting, Stop } from './attempt.ts'
import { PRIVATE_NETWORKS_HINT, reachOf } from './destination-policy.ts'
import { type Host, readHost } from './host.ts'
import type { Resolved } from './outbound.ts'

export interface ResolveSettings {
  readonly dns: DnsClient
  /** Returns whether the attempt may reach private networks. Asked only when that matters. */
  readonly mayReachPrivate: (state: Attempt) => Promise<boolean>
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
  settings: ResolveSettings,
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
        : await addressesOf(settings, host.name, family, state)
  await requireReachable(settings, host, found, state)
  const addresses = interleaved(found).filter((address) => family === undefined || addressFamily(address) === family)
  if (addresses.length === 0) throw new Stop('unknown-name', 'theirs', `${canonical} has no IPv${family} address`)
  return { kind: 'resolved', host: canonical, addresses: addresses.slice(0, MAX_ADDRESSES) }
}

/** Checks the addresses of a host. @throws Stop `private` or `forbidden` unless the attempt may reach all of them. */
export async function requireReachable(
  { mayReachPrivate }: Pick<ResolveSettings, 'mayReachPrivate'>,
  host: Host,
  addresses: readonly string[],
  state: Attempt,
): Promise<void> {
  const reaches = new Set(addresses.map(reachOf))
  if (!reaches.has('private') && !reaches.has('never')) return
  const isAllowed = await mayReachPrivate(state)
  if (host.kind === 'name' && !isAllowed && !isPublicName(host.name)) throw hidden(host.name)
  const whose = host.kind === 'address' ? `${host.address} is` : `${host.name} resolves to`
  if (reaches.has('never')) throw new Stop('forbidden', 'theirs', `${whose} an address that is blocked`)
  if (!isAllowed)
    throw new Stop('private', 'theirs', `${whose} an address that is not public; ${PRIVATE_NETWORKS_HINT}`)
}

/**
 * Returns the failure for a name that only the operator's network can know, whatever its resolvers answered: tenants must
 * not learn which names exist there.
 */
function hidden(name: string): Stop {
  return new Stop('private', 'theirs', `${name} is not a public name; ${PRIVATE_NETWORKS_HINT}`)
}

function nonexistent(name: string): Stop {
  return new Stop('unknown-name', 'theirs', `${name} does not exist`)
}

async function addressesOf(
  { dns, mayReachPrivate }: ResolveSettings,
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
  const isAllowed = await mayReachPrivate(state)
  if (!isAllowed && !isPublicName(name)) throw hidden(name)
  const absent = results.every(({ kind }) => kind === 'none') || results.some(isNonexistent)
  if (!absent) throw await unresolved(dns, name, results, state)
  const local = isAllowed ? await systemAddresses(name, state) : []
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
