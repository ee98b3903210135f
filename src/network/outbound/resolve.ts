import { lookup } from 'node:dns/promises'
import { SECOND } from '../../time.ts'
import { addressFamily, parseAddress } from '../address.ts'
import type { DnsClient, DnsResult, RecordType } from '../dns/client.ts'
import type { Resolved } from '../outbound.ts'
import { isPublicName } from '../public-name.ts'
import { type Attempt, awaiting, Stop } from './attempt.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from './guard.ts'
import { type Host, readHost } from './host.ts'

export interface Resolving {
  readonly dns: DnsClient
  readonly allowPrivate: boolean
}

/** How long the addresses of one family wait for those of the other, in milliseconds. */
const GRACE = 300
/** Names may have hundreds of addresses; so many are tried. */
const MOST_ADDRESSES = 8
/** A name that every resolver knows, mostly without asking others. */
const CONTROL = 'a.root-servers.net'
/** How long a resolver that was silent about a name may take to show that it is there. */
const SIGN_OF_LIFE = SECOND

/**
 * The addresses of a host, IPv4 first, the families in turn. When one of them may not be reached, none is: an honest name
 * has no such address on the public internet, and one that has it now and then (DNS rebinding) is not given a choice.
 * @throws Stop
 */
export async function resolve(
  { dns, allowPrivate }: Resolving,
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
  const addresses = inTurn(found).filter((address) => family === undefined || addressFamily(address) === family)
  if (addresses.length === 0) throw new Stop('unknown-name', 'theirs', `${canonical} has no IPv${family} address`)
  return { kind: 'resolved', host: canonical, addresses: addresses.slice(0, MOST_ADDRESSES) }
}

/** Names of the operator's own network are to tenants as if they did not exist. */
function forbidden({ kind }: Host, canonical: string, allowPrivate: boolean): Stop {
  if (kind === 'name' && !allowPrivate && !isPublicName(canonical)) return noName(canonical)
  const whose = kind === 'address' ? `${canonical} is` : `${canonical} leads to`
  const what = allowPrivate ? 'is not reached' : `is not public; ${PRIVATE_NETWORKS_HINT}`
  return new Stop('forbidden', 'theirs', `${whose} an address that ${what}`)
}

function noName(name: string): Stop {
  return new Stop('unknown-name', 'theirs', `${name} does not exist`)
}

async function addressesOf(
  { dns, allowPrivate }: Resolving,
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
  const absent = results.every(({ kind }) => kind === 'none') || results.some(isNoName)
  if (!absent) throw await unresolved(dns, name, results, state)
  const local = allowPrivate ? await systemAddresses(name, state) : []
  if (local.length > 0) return local
  throw results.some(isNoName) ? noName(name) : new Stop('unknown-name', 'theirs', `${name} has no address`)
}

/** What DNS says of each type; without those that come much later than an answer that could do. */
function ask(dns: DnsClient, name: string, types: readonly RecordType[], state: Attempt): Promise<DnsResult[]> {
  return awaiting(state, (resolve) => {
    const results: DnsResult[] = []
    let timer: NodeJS.Timeout | undefined
    const take = (result: DnsResult) => {
      results.push(result)
      if (results.length === types.length) {
        clearTimeout(timer)
        resolve(results)
      } else if (result.kind === 'answer') timer = setTimeout(() => resolve([...results]), GRACE)
    }
    for (const type of types) void dns.query(name, type, { signal: state.signal }).then(take)
    return () => clearTimeout(timer)
  })
}

/** What to throw when nothing is known. A resolver can be silent of a name because those who serve the name are. */
async function unresolved(dns: DnsClient, name: string, results: readonly DnsResult[], state: Attempt): Promise<Stop> {
  const reasons = new Set(results.map((result) => (result.kind === 'failed' ? result.reason : null)))
  if (reasons.has('unreachable') || reasons.has('aborted'))
    return new Stop('unresolved', 'ours', 'None of our DNS resolvers can be reached')
  if (reasons.has('refused')) return new Stop('unresolved', 'ours', `Our DNS resolvers refuse to look up ${name}`)
  if (reasons.has('malformed'))
    return new Stop('unresolved', 'ours', 'Our DNS resolvers give answers that cannot be read')
  if (!reasons.has('timeout')) return new Stop('unresolved', 'unclear', `The nameservers of ${name} do not work`)
  const sign = await dns.query(CONTROL, 'A', { fresh: true, signal: state.signal, timeoutMs: SIGN_OF_LIFE })
  state.signal.throwIfAborted()
  const silent = sign.kind === 'failed' && (sign.reason === 'timeout' || sign.reason === 'unreachable')
  if (silent) return new Stop('unresolved', 'ours', 'None of our DNS resolvers answers')
  return new Stop('unresolved', 'unclear', `The nameservers of ${name} do not answer`)
}

/** What the system knows beside DNS: its hosts file, mDNS. */
function systemAddresses(name: string, state: Attempt): Promise<readonly string[]> {
  return awaiting(state, (resolve) => {
    void lookup(name, { all: true }).then(
      (found) => resolve(found.map(({ address }) => parseAddress(address)).filter((address) => address !== null)),
      () => resolve([]),
    )
    return () => {}
  })
}

function isNoName(result: DnsResult): boolean {
  return result.kind === 'none' && result.nxdomain
}

function typeOf(family: 4 | 6): RecordType {
  return family === 4 ? 'A' : 'AAAA'
}

function inTurn(addresses: readonly string[]): string[] {
  const [four, six] = [4, 6].map((family) => addresses.filter((address) => addressFamily(address) === family))
  const longest = Math.max(four?.length ?? 0, six?.length ?? 0)
  return Array.from({ length: longest }, (_, index) => [four?.[index], six?.[index]])
    .flat()
    .filter((address) => address !== undefined)
}
