import { z } from 'zod'
import { blacklists } from '../../blacklist/list.ts'
import { parseDnsServer } from '../../config.ts'
import type { Issue } from '../../errors.ts'
import { addressFamily, isDocumentation, isPublic, parseAddress, reversedLabels } from '../../network/address.ts'
import { createDnsClient } from '../../network/dns/client.ts'
import type { DnsFailure, DnsResult, RecordType } from '../../network/dns/message.ts'
import { queryTypes } from '../../network/dns/message.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from '../../network/outbound/guard.ts'
import { isPublicName } from '../../network/public-name.ts'
import { SECOND } from '../../time.ts'
import type { Finding } from '../finding.ts'
import { found, oneLine } from '../finding.ts'
import { hostText } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

const resolver = z
  .string()
  .trim()
  .transform((text, ctx) => {
    const server = parseDnsServer(text)
    const address = parseAddress(server?.address ?? '')
    if (server !== null && address !== null)
      return server.port === 53 ? address : `${bracketed(address)}:${server.port}`
    ctx.addIssue({ code: 'custom', message: 'must be the address of a resolver: ip, ip:port or [ip]:port' })
    return z.NEVER
  })

const options = z
  .strictObject({
    /** A name to ask for; or an address, whose reverse name is asked for. */
    name: hostText,
    recordType: z.enum(queryTypes).default('A'),
    /** Records as a zone file has them; empty: any will do. */
    expected: z.array(z.string().trim().min(1, 'must not be blank').max(1000)).max(20).default([]),
    /** EXACT: these and no others, in any order. CONTAINS: at least these. */
    match: z.enum(['EXACT', 'CONTAINS']).default('EXACT'),
    /** Absent: our own resolvers. */
    resolver: resolver.optional(),
    degradedAboveMs: z.int().min(1).max(30_000).optional(),
  })
  .superRefine((given, ctx) => {
    if (given.recordType !== 'PTR' && parseAddress(given.name) !== null) {
      ctx.addIssue({ code: 'custom', path: ['name'], message: 'must be a domain name, for this type of record' })
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

/** Asks for records anew each time, and compares them. */
export const dns: Probe<typeof options> = {
  kind: 'DNS',
  options,
  anywhere: false,
  minIntervalSeconds: 10,
  run: async (given, run) => {
    const [refused] = dnsRefusals(given, run.tools.allowPrivate)
    if (refused) return found('UNKNOWN', `Not asked: ${refused.path.join('.')} ${refused.message}`)
    const started = performance.now()
    const asked = await (given.resolver === undefined ? askOurs(given, run) : askTheirs(given, given.resolver, run))
    const latencyMs = performance.now() - started
    if ('outcome' in asked) return asked
    return asked.kind === 'none'
      ? absent(given, asked.nxdomain, latencyMs)
      : judgeRecords(given, asked.values, latencyMs, run.tools.allowPrivate)
  },
}

/** Why options that are valid cannot be used here: tenants see the public DNS alone, and lists have a kind of their own. */
export function dnsRefusals(given: DnsOptions, allowPrivate: boolean): Issue[] {
  const asked = questionOf(given)
  const server = given.resolver === undefined ? null : parseDnsServer(given.resolver)
  if (server !== null) {
    return mayReach(server.address, allowPrivate)
      ? []
      : [{ path: ['resolver'], message: `must be a public address; ${PRIVATE_NETWORKS_HINT}` }]
  }
  if (!allowPrivate && !isPublicName(asked)) {
    return [
      {
        path: ['name'],
        message: `must belong to the public DNS, or be asked of a resolver that you name; ${PRIVATE_NETWORKS_HINT}`,
      },
    ]
  }
  // Lists allow us so many queries a day, which the blacklist checks keep count of.
  const list = lists.find(({ publicZone }) => `.${asked}`.endsWith(`.${publicZone}`))
  return list ? [{ path: ['name'], message: `is watched with a monitor of kind BLACKLIST (${list.name})` }] : []
}

const lists = blacklists(undefined)

function questionOf({ name: given }: DnsOptions): string {
  const address = parseAddress(given)
  if (address === null) return given
  return `${reversedLabels(address)}.${addressFamily(address) === 4 ? 'in-addr' : 'ip6'}.arpa`
}

type Answered = Exclude<DnsResult, DnsFailure>

/** A name that resolvers answer for by themselves (RFC 6761 §6.3). */
const CONTROL = 'localhost'

/** Asks our own resolvers, which may fail by our own fault: what they do not answer is theirs only if they do answer. */
async function askOurs(given: DnsOptions, { tools, timeoutMs, signal }: ProbeRun): Promise<Answered | Finding> {
  const asked = questionOf(given)
  const ask = (subject: string, type: RecordType, limitMs: number) =>
    tools.dns.query(subject, type, { fresh: true, timeoutMs: limitMs, signal })
  const control = afterwards(timeoutMs / 2, () => ask(CONTROL, 'A', timeoutMs * 0.4))
  const result = await ask(asked, given.recordType, timeoutMs)
  control.cancel()
  if (result.kind !== 'failed') return result
  switch (result.reason) {
    case 'servfail':
      return found('DOWN', `The DNS servers of ${asked} gave no usable answer (SERVFAIL)`, { suspect: asked })
    case 'timeout':
      return saidAnything(await control.outcome)
        ? found('DOWN', `No answer for ${asked} within ${seconds(timeoutMs)}`, { suspect: asked })
        : found('UNKNOWN', 'Our own DNS resolvers do not answer')
    case 'malformed':
      return found('UNKNOWN', `Our own DNS resolvers gave an answer for ${asked} that cannot be read`)
    case 'refused':
      return found('UNKNOWN', 'Our own DNS resolvers refuse to answer (REFUSED)')
    default:
      return found('UNKNOWN', 'Our own DNS resolvers cannot be reached')
  }
}

function saidAnything(result: DnsResult | null): boolean {
  return result !== null && (result.kind !== 'failed' || result.reason === 'servfail' || result.reason === 'refused')
}

/** Begins `work` after so many milliseconds, unless it is cancelled before; then its outcome is null. */
function afterwards<T>(ms: number, work: () => Promise<T>): { readonly outcome: Promise<T | null>; cancel(): void } {
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

/** Asks the resolver that the owner named: whatever it does is what is watched. */
async function askTheirs(given: DnsOptions, resolver: string, run: ProbeRun): Promise<Answered | Finding> {
  const { tools, timeoutMs, signal } = run
  const servers = [parseDnsServer(resolver)].filter((server) => server !== null)
  const client = createDnsClient({ servers, timeoutMs, now: tools.now, cacheSize: 1 })
  try {
    const result = await client.query(questionOf(given), given.recordType, { signal })
    if (result.kind !== 'failed') return result
    // No socket was to be had, or none from which there is a way: of IPv6, say, on a machine that has IPv4 only.
    if (result.reason === 'unreachable' && client.statistics.sent === 0) {
      return found('UNKNOWN', `The machine that watches has no way to the resolver ${resolver}`)
    }
    const cut = client.statistics.tcp > 0
    const failure = failures(timeoutMs)[result.reason] ?? 'was not heard to the end'
    const said = cut ? 'gave an answer too long for UDP, and none over TCP' : failure
    const heard = client.statistics.received > 0
    return found('DOWN', `The resolver ${resolver} ${said}`, { suspect: heard ? null : resolver })
  } finally {
    await client.close()
  }
}

function failures(timeoutMs: number): Partial<Record<DnsFailure['reason'], string>> {
  return {
    timeout: `did not answer within ${seconds(timeoutMs)}`,
    refused: 'refused to answer (REFUSED)',
    servfail: 'gave no usable answer (SERVFAIL)',
    malformed: 'gave an answer that cannot be read',
    unreachable: 'cannot be reached',
  }
}

function absent({ name: given, recordType }: DnsOptions, nxdomain: boolean, latencyMs: number): Finding {
  const message = nxdomain ? `${given} does not exist (NXDOMAIN)` : `${given} has no ${recordType} record`
  return found('DOWN', message, { latencyMs, detail: { answers: [] } })
}

function judgeRecords(given: DnsOptions, values: readonly string[], latencyMs: number, allowPrivate: boolean): Finding {
  const { name: subject, recordType, expected, match, degradedAboveMs } = given
  if (given.resolver === undefined && !allowPrivate && families[recordType] && values.some(isOurs)) {
    return found(
      'UNKNOWN',
      `${subject} has private addresses here, which are compared only for a resolver that you name`,
    )
  }
  const has = new Map(values.map((value) => [comparable(recordType, value), shown(value)]))
  const wanted = new Map(expected.map((value) => [comparable(recordType, value), shown(value)]))
  const missing = [...wanted].flatMap(([key, value]) => (has.has(key) ? [] : [value]))
  const exact = match === 'EXACT' && wanted.size > 0
  const surplus = [...has].flatMap(([key, value]) => (exact && !wanted.has(key) ? [value] : []))
  const measured = { latencyMs, detail: { answers: [...has.values()].slice(0, MOST_SHOWN) } }
  if (missing.length + surplus.length > 0) {
    const wrong = [
      ...(missing.length > 0 ? [`lack ${missing.join(', ')}`] : []),
      ...(surplus.length > 0 ? [`have the unexpected ${surplus.join(', ')}`] : []),
    ]
    return found('DOWN', `The ${recordType} records of ${subject} ${wrong.join(' and ')}`, measured)
  }
  if (degradedAboveMs !== undefined && latencyMs > degradedAboveMs) {
    return found('DEGRADED', `Answered in ${Math.round(latencyMs)} ms, more than ${degradedAboveMs} ms`, measured)
  }
  return found('UP', `${recordType} ${[...has.values()].join(', ')}`, measured)
}

/** Whether an address may tell of the network that our own resolvers know. */
function isOurs(address: string): boolean {
  return !isPublic(address) && !isDocumentation(address)
}

/** More records, and longer ones, are not kept. */
const MOST_SHOWN = 20
const shown = (value: string) => oneLine(value, 300)

/** One spelling of a record's value: only texts are told apart by the case of their letters. */
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

/** The text of a TXT record, which a zone file may write as several quoted strings (RFC 1035 §5.1): they are one text. */
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
