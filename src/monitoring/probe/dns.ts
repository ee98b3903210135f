import { z } from 'zod'
import { blacklists } from '../../blacklist/list.ts'
import { parseDnsServer } from '../../core/config.ts'
import { described, named } from '../../core/described.ts'
import type { Issue } from '../../core/errors.ts'
import { addressFamily, isDocumentation, isPublic, parseAddress, reversedLabels } from '../../core/ip-address.ts'
import { SECOND } from '../../core/time.ts'
import { trimmedText } from '../../core/validation.ts'
import { createDnsClient } from '../../network/dns/client.ts'
import { createEdnsMemory } from '../../network/dns/edns-memory.ts'
import type { DnsFailure, DnsResult, RecordType } from '../../network/dns/message.ts'
import { queryTypes } from '../../network/dns/message.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { allowsPrivate, noPrivateTargets, targetIssue } from '../../network/outbound/destination-policy.ts'
import { isPublicName } from '../../network/public-name.ts'
import { specialUseOf } from '../../network/special-use-name.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { oneLine, probeResult } from '../result/probe-result.ts'
import { certificateDays, certificateDaysWords, expirySoon } from './certificate-expiry.ts'
import { responseOptions } from './common.ts'
import { parseEncryptedResolver, queryEncrypted } from './encrypted-resolver.ts'
import { hostRefusals, hostText } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

const resolver = trimmedText(2048).transform((text, ctx) => {
  const encrypted = parseEncryptedResolver(text)
  if (encrypted !== null) return encrypted.url
  const server = parseDnsServer(text)
  const address = parseAddress(server?.address ?? '')
  if (server !== null && address !== null) return server.port === 53 ? address : `${bracketed(address)}:${server.port}`
  ctx.addIssue({ code: 'custom', message: RESOLVER_FORMS })
  return z.NEVER
})

const RESOLVER_FORMS =
  'must be the address of a resolver: ip, ip:port, [ip]:port, tls://host, tls://host:port or https://host/path'

const recordTypeName = {
  name: 'DnsRecordType',
  about: 'A DNS record type.',
  values: {
    A: 'IPv4 addresses.',
    AAAA: 'IPv6 addresses.',
    CAA: 'Certificate authorities that may issue certificates.',
    CNAME: 'The canonical name of an alias.',
    MX: 'Mail servers.',
    NS: 'Name servers.',
    PTR: 'The name of an address.',
    SOA: 'The start of authority of a zone.',
    SRV: 'The location of a service.',
    TXT: 'Text.',
  },
}

const matchName = {
  name: 'DnsMatch',
  about: 'EXACT: the expected records and no others, in any order. CONTAINS: at least these.',
  values: {
    CONTAINS: 'At least the expected records.',
    EXACT: 'The expected records and no others, in any order.',
  },
  texts: { CONTAINS: 'At least these', EXACT: 'These and no others' },
}

const expected = z.array(z.string().trim().min(1, 'must not be blank').max(1000))

const options = z
  .strictObject({
    name: described(hostText, {
      label: 'Name',
      description: 'The name to query, or an address for its reverse name.',
      hint: 'Or an address, for PTR.',
    }),
    recordType: described(named(z.enum(queryTypes), recordTypeName).default('A'), {
      label: 'Record type',
      description: 'The record type to query.',
    }),
    /** MX may omit the preference. */
    expected: described(expected.max(20).default([]), {
      label: 'Expected records',
      description: 'The expected records, as in a zone file. Default: any.',
      hint: 'One per line. Empty: any.',
    }),
    match: described(named(z.enum(['EXACT', 'CONTAINS']), matchName).default('EXACT'), {
      label: 'Compare',
      description: 'How the records are compared.',
    }),
    resolver: described(resolver.optional(), {
      label: 'Resolver',
      description:
        'ip, ip:port or [ip]:port; tls://host or tls://host:port for DNS over TLS, https://host/path for DNS over HTTPS. Default: our own resolvers.',
      hint: 'An address, such as 192.0.2.53 or [2001:db8::53]:5353; tls://dns.example or https://dns.example/dns-query. Empty: our own resolvers.',
      isRare: true,
    }),
    certificateDays: described(certificateDays, {
      ...certificateDaysWords,
      description: `For DNS over TLS and HTTPS. ${certificateDaysWords.description}`,
      hint: `For tls:// and https://. ${certificateDaysWords.hint}`,
    }),
    ...responseOptions,
  })
  .superRefine((given, ctx) => {
    if (given.recordType !== 'PTR' && parseAddress(given.name) !== null) {
      ctx.addIssue({ code: 'custom', path: ['name'], message: 'must be a domain name for this record type' })
    }
    const family = families[given.recordType]
    if (family === undefined) return
    for (const [index, value] of given.expected.entries()) {
      const address = parseAddress(value)
      if (address !== null && addressFamily(address) === family) continue
      ctx.addIssue({ code: 'custom', path: ['expected', index], message: `must be an IPv${family} address` })
    }
  })

const families: Partial<Record<RecordType, 4 | 6>> = { A: 4, AAAA: 6 }

export type DnsOptions = z.output<typeof options>

/** Queries records, bypassing the cache, and compares them with the expected ones. */
export const dns: Probe<typeof options> = {
  kind: 'DNS',
  options,
  words: { name: 'DNS', about: 'Queries the records of a name.' },
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { name: 'example.com' },
  subject: 'name',
  target: ({ name, resolver = '' }) => {
    const encrypted = parseEncryptedResolver(resolver)
    if (encrypted) return { host: encrypted.host, port: encrypted.port }
    return { host: parseDnsServer(resolver)?.address ?? name, port: null }
  },
  refusals: dnsRefusals,
  run: async (given, run) => {
    const refused = await refusalNow(given, run)
    if (refused) {
      const isPrivate = refused.kind === 'PRIVATE_TARGET'
      const detail = isPrivate ? { isPrivateTarget: true as const } : null
      return probeResult('UNKNOWN', `Not queried: ${refused.path.join('.')} ${refused.message}`, { detail })
    }
    if (given.resolver !== undefined && !(await awaitResolverSlot(given.resolver, run))) {
      return probeResult('UNKNOWN', `Not queried: too many probes of the resolver ${given.resolver} at once`)
    }
    const started = performance.now()
    const asked = await (given.resolver === undefined
      ? queryOwnResolvers(given, run)
      : queryNamedResolver(given, given.resolver, run))
    const latencyMs = performance.now() - started
    if ('outcome' in asked) return asked
    const judged =
      asked.kind === 'none'
        ? noRecord(given, asked.nxdomain, latencyMs)
        : ((await withheld(given, asked.values, run)) ?? judgeRecords(given, asked.values, latencyMs))
    if (judged.outcome === 'UP' && asked.expiry) return { ...judged, outcome: 'DEGRADED', message: asked.expiry }
    return lacksEdns(given, run) ? { ...judged, message: `${judged.message}${WITHOUT_EDNS}` } : judged
  },
}

/** Returns why the organization may not make this query now; undefined: it may. Asks for its permission only if needed. */
async function refusalNow(given: DnsOptions, { tools, owner }: ProbeRun): Promise<Issue | undefined> {
  const [refused] = dnsRefusals(given, noPrivateTargets)
  if (refused?.kind !== 'PRIVATE_TARGET' || !(await allowsPrivate(tools.allowPrivate, owner))) return refused
  return dnsRefusals(given, { ...noPrivateTargets, isAllowed: true })[0]
}

/**
 * Returns why valid options are not allowed: tenants may only query public DNS, and blacklists have a separate kind.
 */
function dnsRefusals(given: DnsOptions, rule: PrivateTargetRule): Issue[] {
  const asked = questionOf(given)
  const { resolver = '' } = given
  const encrypted = parseEncryptedResolver(resolver)
  if (encrypted) return hostRefusals('resolver', encrypted.host, rule)
  const server = parseDnsServer(resolver)
  if (server !== null) return hostRefusals('resolver', server.address, rule)
  const special = specialUseOf(asked)
  if (special?.isLocal === false)
    return [{ path: ['name'], message: `must be a public name, unless you name a resolver: ${special.reason}` }]
  if (!rule.isAllowed && !isPublicName(asked)) {
    const reason = special === null ? '' : `: ${special.reason}`
    const message = `must be a public name, unless you name a resolver${reason}`
    return [targetIssue(['name'], message, { isPrivate: true, rule })]
  }
  // Blacklists limit our queries per day. Only blacklist checks count them.
  const list = lists.find(({ publicZone }) => `.${asked}`.endsWith(`.${publicZone}`))
  return list
    ? [{ path: ['name'], message: `must not be a blacklist: use a monitor of kind BLACKLIST (${list.name})` }]
    : []
}

const lists = blacklists(undefined)

function questionOf({ name: given }: DnsOptions): string {
  const address = parseAddress(given)
  if (address === null) return given
  return `${reversedLabels(address)}.${addressFamily(address) === 4 ? 'in-addr' : 'ip6'}.arpa`
}

/** An answer. `expiry` says when the certificate of an encrypted resolver expires; null or absent: not soon. */
type Answered = Exclude<DnsResult, DnsFailure> & { readonly expiry?: string | null }

/** A name that every resolver answers itself (RFC 6761 §6.3). */
const CONTROL = 'localhost'

/** Queries our own resolvers. If they do not answer, the target is DOWN only if they answer a control query. */
async function queryOwnResolvers(
  given: DnsOptions,
  { tools, owner, timeoutMs, signal }: ProbeRun,
): Promise<Answered | ProbeResult> {
  const asked = questionOf(given)
  const ask = (subject: string, type: RecordType, limitMs: number) =>
    tools.dns.query(subject, type, { fresh: true, owner, timeoutMs: limitMs, signal })
  const control = startAfter(timeoutMs / 2, () => ask(CONTROL, 'A', timeoutMs * 0.4))
  const result = await ask(asked, given.recordType, timeoutMs)
  control.cancel()
  if (result.kind !== 'failed') return result
  switch (result.reason) {
    case 'servfail':
      return probeResult('DOWN', `The DNS servers of ${asked} gave no usable answer (SERVFAIL)`, { suspect: asked })
    case 'timeout':
      return responded(await control.outcome)
        ? probeResult('DOWN', `No answer for ${asked} within ${seconds(timeoutMs)}`, { suspect: asked })
        : probeResult('UNKNOWN', 'Our own DNS resolvers did not answer')
    case 'formerr':
    case 'notimp':
      return probeResult('UNKNOWN', `Our own DNS resolvers ${failures(timeoutMs)[result.reason]}`)
    case 'invalid-name':
      return probeResult('UNKNOWN', `Not queried: ${asked} does not fit into a DNS query`)
    case 'malformed':
      return probeResult('UNKNOWN', `Our own DNS resolvers returned an unreadable response for ${asked}`)
    case 'refused':
      return probeResult('UNKNOWN', 'Our own DNS resolvers refused to answer (REFUSED)')
    default:
      return probeResult('UNKNOWN', 'Our own DNS resolvers are unreachable')
  }
}

function responded(result: DnsResult | null): boolean {
  return result !== null && (result.kind !== 'failed' || responses.has(result.reason))
}

/** The failures that a resolver reports itself. */
const responses: ReadonlySet<DnsFailure['reason']> = new Set(['servfail', 'refused', 'formerr', 'notimp'])

/** Starts `work` after `ms` milliseconds. If it is cancelled before that, its outcome is null. */
function startAfter<T>(ms: number, work: () => Promise<T>): { readonly outcome: Promise<T | null>; cancel(): void } {
  let cancel = () => {}
  const outcome = new Promise<T | null>((resolve) => {
    const timer = setTimeout(() => resolve(work()), ms)
    cancel = () => {
      clearTimeout(timer)
      resolve(null)
    }
  })
  return { outcome, cancel: () => cancel() }
}

/**
 * Waits for the rate limit of a resolver, which many names and organizations may share. Returns whether the limit
 * admits the probe.
 */
async function awaitResolverSlot(resolver: string, { tools, owner, waitMs = 0, signal }: ProbeRun): Promise<boolean> {
  const address = parseDnsServer(resolver)?.address
  return address === undefined || tools.outbound.awaitConnectionSlot(address, { waitMs, signal, owner })
}

/** Queries the resolver that the owner configured. It is the target of the monitor. */
async function queryNamedResolver(given: DnsOptions, resolver: string, run: ProbeRun): Promise<Answered | ProbeResult> {
  const { tools, timeoutMs, signal } = run
  const encrypted = parseEncryptedResolver(resolver)
  if (encrypted) {
    const asked = await queryEncrypted(
      encrypted,
      { name: questionOf(given).toLowerCase(), type: given.recordType },
      run,
    )
    if ('outcome' in asked) return asked
    const { result, certificate } = asked
    const { certificateDays: days } = given
    if (result.kind !== 'failed')
      return { ...result, expiry: expirySoon({ certificateDays: days, host: '' }, certificate, tools.now()) }
    return probeResult('DOWN', `The resolver ${resolver} ${failures(timeoutMs)[result.reason] ?? 'gave no answer'}`)
  }
  const servers = [parseDnsServer(resolver)].filter((server) => server !== null)
  const client = createDnsClient({ servers, timeoutMs, now: tools.now, cacheSize: 1, noEdns: resolversWithoutEdns })
  try {
    const result = await client.query(questionOf(given), given.recordType, { signal })
    if (result.kind !== 'failed') return result
    // There is no socket or no route, such as to an IPv6 address from a machine that only has IPv4.
    if (result.reason === 'unreachable' && client.statistics.sent === 0) {
      return probeResult('UNKNOWN', `Our machine has no route to the resolver ${resolver}`)
    }
    const usedTcp = client.statistics.tcp > 0 && !responses.has(result.reason)
    const failure = failures(timeoutMs)[result.reason] ?? 'did not complete its response'
    const problem = usedTcp ? 'truncated its response over UDP and did not answer over TCP' : failure
    const hasResponded = client.statistics.received > 0
    return probeResult('DOWN', `The resolver ${resolver} ${problem}`, { suspect: hasResponded ? null : resolver })
  } finally {
    await client.close()
  }
}

/** The resolvers of monitors that do not understand EDNS. A client of a named resolver lives for one probe. */
const resolversWithoutEdns = createEdnsMemory()
const WITHOUT_EDNS = ' (asked without EDNS, which the resolver does not understand)'

function lacksEdns({ resolver = '' }: DnsOptions, { tools }: ProbeRun): boolean {
  const server = parseDnsServer(resolver)
  return server !== null && resolversWithoutEdns.has(server, tools.now())
}

function failures(timeoutMs: number): Partial<Record<DnsFailure['reason'], string>> {
  return {
    timeout: `did not answer within ${seconds(timeoutMs)}`,
    refused: 'refused to answer (REFUSED)',
    servfail: 'gave no usable answer (SERVFAIL)',
    formerr: 'did not understand the query (FORMERR), also without EDNS',
    notimp: 'does not implement the query (NOTIMP), also without EDNS',
    malformed: 'returned an unreadable response',
    unreachable: 'is unreachable',
  }
}

function noRecord({ name: given, recordType }: DnsOptions, nxdomain: boolean, latencyMs: number): ProbeResult {
  const message = nxdomain ? `${given} does not exist (NXDOMAIN)` : `${given} has no ${recordType} record`
  return probeResult('DOWN', message, { latencyMs, detail: { answers: [] } })
}

/** Returns the result for addresses of our resolvers' network that the organization may not see; null: it may. */
async function withheld(given: DnsOptions, values: readonly string[], { tools, owner }: ProbeRun) {
  const { name: subject, recordType, resolver } = given
  if (resolver !== undefined || !families[recordType] || !values.some(isPrivate)) return null
  if (await allowsPrivate(tools.allowPrivate, owner)) return null
  const message = `${subject} resolves to private addresses, which are only compared if you name a resolver`
  return probeResult('UNKNOWN', `${message}; ${noPrivateTargets.hint}`, { detail: { isPrivateTarget: true } })
}

function judgeRecords(given: DnsOptions, values: readonly string[], latencyMs: number): ProbeResult {
  const { name: subject, recordType, expected, match, degradedAboveMs } = given
  const has = new Map(values.map((value) => [comparable(recordType, value), shorten(value)]))
  const wanted = new Map(expected.map((value) => [comparable(recordType, value), shorten(value)]))
  const found = new Set([...has.keys()].flatMap((key) => [key, withoutPreference(recordType, key)]))
  const missing = [...wanted].flatMap(([key, value]) => (found.has(key) ? [] : [value]))
  const exact = match === 'EXACT' && wanted.size > 0
  const isWanted = (key: string) => wanted.has(key) || wanted.has(withoutPreference(recordType, key))
  const surplus = [...has].flatMap(([key, value]) => (exact && !isWanted(key) ? [value] : []))
  const measured = { latencyMs, detail: { answers: [...has.values()].slice(0, MAX_RECORDS) } }
  if (missing.length + surplus.length > 0) {
    const wrong = [
      ...(missing.length > 0 ? [`lack ${missing.join(', ')}`] : []),
      ...(surplus.length > 0 ? [`have the unexpected ${surplus.join(', ')}`] : []),
    ]
    return probeResult('DOWN', `The ${recordType} records of ${subject} ${wrong.join(' and ')}`, measured)
  }
  if (degradedAboveMs !== undefined && latencyMs > degradedAboveMs) {
    return probeResult('DEGRADED', `Answered in ${Math.round(latencyMs)} ms, more than ${degradedAboveMs} ms`, measured)
  }
  return probeResult('UP', `${recordType} ${[...has.values()].join(', ')}`, measured)
}

/** Returns whether an address may reveal details of the network of our own resolvers. */
function isPrivate(address: string): boolean {
  return !isPublic(address) && !isDocumentation(address)
}

/** The maximum number of stored records. */
const MAX_RECORDS = 20
const shorten = (value: string) => oneLine(value, 300)

/** Normalizes a record's value for comparison. Only TXT records are case-sensitive. */
function comparable(type: RecordType, value: string): string {
  if (type === 'TXT') return joinedStrings(value)
  if (families[type] !== undefined) return parseAddress(value) ?? value
  return value
    .toLowerCase()
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .replace(/\.(?= |$)/g, '')
    .trim()
}

/** Returns the host of a normalized MX record. Returns other records unchanged. */
const withoutPreference = (type: RecordType, value: string) => (type === 'MX' ? value.replace(/^\d+( |$)/, '') : value)

/** Joins the quoted strings of a TXT record in a zone file (RFC 1035 §5.1). */
function joinedStrings(value: string): string {
  if (!/^\s*"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*\s*$/s.test(value)) return value
  const strings = value.match(/"(?:[^"\\]|\\.)*"/gs) ?? []
  return strings
    .map((string) => string.slice(1, -1).replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code))))
    .map((string) => string.replace(/\\(\D)/g, '$1'))
    .join('')
}

function bracketed(address: string): string {
  return addressFamily(address) === 6 ? `[${address}]` : address
}

function seconds(ms: number): string {
  return `${ms / SECOND} s`
}
