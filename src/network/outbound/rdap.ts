import { createLruMap } from '../../core/lru-map.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import { parseUrl } from '../../core/url.ts'
import { createDestinationLimiter } from '../destination-limiter.ts'
import { readRetryAfter } from '../retry-after.ts'
import type { Answer, Limits, Outbound } from './outbound.ts'
import { chosenByOthers } from './outbound.ts'

/** A registry's answer about a domain. */
export type Registration =
  | { readonly kind: 'registered'; readonly expiresAt: Date | null; readonly statuses: readonly string[] }
  /** The registry has no data about the domain. */
  | { readonly kind: 'missing' }
  /** There is no usable answer, for the reason `why`. */
  | { readonly kind: 'unknown'; readonly why: string }

/** Queries registries for registrations of domains (RDAP, RFC 9082 and 9083). */
export interface RdapClient {
  /**
   * Returns the registry's answer about a domain, cached for six hours.
   * @param domain a registrable domain, in ASCII.
   */
  registrationOf(domain: string, limits: Limits & { readonly signal: AbortSignal }): Promise<Registration>
}

/** How long an answer and a failure are cached. */
const REMEMBERED_MS = 6 * HOUR
const FAILED_MS = HOUR

/** How long the list of registries is cached, and the delay before it is requested again after a failure. */
const LIST_MS = 24 * HOUR
const LIST_FAILED_MS = 10 * MINUTE

/** How long to pause queries to a registry that limits our rate: the default if it gives no time, and the maximum. */
const PAUSE_MS = HOUR
const MAX_PAUSE_MS = 24 * HOUR

/** The maximum sizes of the list and of an answer. IANA's list has about 0.1 MB, an answer about 10 kB. */
const MAX_LIST_BYTES = 2 * 1024 * 1024
const MAX_ANSWER_BYTES = 256 * 1024

/** The limits for queries to one registry, for all organizations together. */
const LIMITS = { atOnce: 2, perMinute: 30 } as const

const STATUSES_KEPT = 30

/** The addresses of registries by domain suffix, usually a top-level domain (RFC 9224 §4). */
type Registries = ReadonlyMap<string, readonly URL[]>

/** Creates a client. @param settings.bootstrapUrl the URL of the list of registries (RFC 9224). */
export function createRdapClient(settings: {
  readonly outbound: Pick<Outbound, 'request'>
  readonly bootstrapUrl: string
  readonly now: () => Date
}): RdapClient {
  const { bootstrapUrl } = settings
  // No organization chose the registries, and their answers are cached for all of them.
  const outbound = chosenByOthers(settings.outbound)
  const now = () => settings.now().getTime()
  const known = createLruMap<{ readonly registration: Registration; readonly until: number }>(20_000)
  const asking = new Map<string, Promise<Registration>>()
  const paused = createLruMap<number>(2000)
  const limiter = createDestinationLimiter(LIMITS)
  let list: { readonly registries: Registries | null; readonly until: number } = { registries: null, until: 0 }

  async function registriesWithin(limits: Limits): Promise<Registries | null> {
    if (list.until > now()) return list.registries
    const answer = await outbound.request(requestOf(bootstrapUrl, MAX_LIST_BYTES), limits)
    const read =
      answer.kind === 'answer' && answer.status === 200 && answer.complete ? readRegistries(answer.body) : null
    if (limits.signal?.aborted) return list.registries
    // If the list cannot be fetched, the previous one stays in use.
    list = { registries: read ?? list.registries, until: now() + (read === null ? LIST_FAILED_MS : LIST_MS) }
    return list.registries
  }

  async function ask(domain: string, limits: Limits & { readonly signal: AbortSignal }): Promise<Registration> {
    const registries = await registriesWithin(limits)
    if (registries === null) return unknown('The list of registries could not be fetched')
    const url = registryOf(registries, domain)
    if (url === null) return unknown(`No registry of .${domain.replace(/^.*\./, '')} supports RDAP`)
    const pausedUntil = paused.get(url.host) ?? 0
    if (pausedUntil > now()) return asksToWait(url, pausedUntil)
    const answer = await limiter.run(
      url.host,
      { waitMs: limits.waitMs ?? 0, signal: limits.signal, owner: limits.owner },
      () =>
        outbound.request({ ...requestOf(`${url.href}domain/${domain}`, MAX_ANSWER_BYTES), maxRedirects: 3 }, limits),
    )
    if (answer === null) return unknown(`Not queried: too many queries to ${url.host} at once`)
    if (answer.kind === 'failed') return unknown(`${url.host}: ${answer.message}`)
    if (answer.status !== 429) return registrationIn(answer, domain, url)
    const pauseMs = Math.min(MAX_PAUSE_MS, readRetryAfter(answer.headers, settings.now()) ?? PAUSE_MS)
    paused.set(url.host, now() + pauseMs)
    return asksToWait(url, now() + pauseMs)
  }

  /** Queries a registry. After a failure, keeps the earlier answer if its expiry is still in the future. */
  async function renewed(domain: string, limits: Limits & { readonly signal: AbortSignal }): Promise<Registration> {
    const registration = await ask(domain, limits)
    if (limits.signal.aborted) return registration
    const before = known.get(domain)?.registration
    const isFailed = registration.kind === 'unknown'
    const kept = isFailed && before?.kind === 'registered' && isLater(before.expiresAt, now()) ? before : registration
    known.set(domain, { registration: kept, until: now() + (isFailed ? FAILED_MS : REMEMBERED_MS) })
    return kept
  }

  return {
    async registrationOf(domain, limits) {
      const stored = known.get(domain)
      if (stored !== undefined && stored.until > now()) return stored.registration
      // Monitors of several organizations may query one domain at once.
      const running = asking.get(domain) ?? renewed(domain, limits).finally(() => asking.delete(domain))
      asking.set(domain, running)
      return running
    },
  }
}

const unknown = (why: string): Registration => ({ kind: 'unknown', why })
const asksToWait = ({ host }: URL, until: number) =>
  unknown(`${host} asks to wait until ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC`)
const isLater = (at: Date | null, now: number) => at !== null && at.getTime() > now

function requestOf(url: string, maxBodyBytes: number) {
  return { url, headers: [{ name: 'Accept', value: 'application/rdap+json, application/json' }], maxBodyBytes }
}

/** Parses a list of registries: pairs of domain suffixes and addresses (RFC 9224 §3). Null: it is invalid. */
function readRegistries(body: Buffer): Registries | null {
  const services = membersOf(parsed(body))['services']
  if (!Array.isArray(services)) return null
  const registries = new Map<string, readonly URL[]>()
  for (const service of services as unknown[]) {
    const [labels, addresses] = Array.isArray(service) ? (service as unknown[]) : []
    const urls = texts(addresses).flatMap((each) => webAddress(each) ?? [])
    if (urls.length === 0) continue
    for (const label of texts(labels)) registries.set(label.toLowerCase(), urls)
  }
  return registries.size === 0 ? null : registries
}

function webAddress(text: string): URL | null {
  const url = parseUrl(text.endsWith('/') ? text : `${text}/`)
  return url !== null && /^https?:$/.test(url.protocol) ? url : null
}

/** Returns the address of the registry for the longest listed suffix of a domain. Prefers https. */
function registryOf(registries: Registries, domain: string): URL | null {
  const labels = domain.split('.')
  const urls = labels
    .map((_, index) => registries.get(labels.slice(index).join('.')))
    .find((each) => each !== undefined)
  return urls?.find(({ protocol }) => protocol === 'https:') ?? urls?.[0] ?? null
}

/** Parses an answer (RFC 9083 §5.3): the registry's event `expiration`, and the statuses. */
function registrationIn({ status, body, complete }: Answer, domain: string, { host }: URL): Registration {
  if (status === 404) return { kind: 'missing' }
  if (status !== 200) return unknown(`${host} answered HTTP ${status}`)
  const found = complete ? membersOf(parsed(body)) : {}
  const name = String(found['ldhName'] ?? '')
    .toLowerCase()
    .replace(/\.$/, '')
  if (found['objectClassName'] !== 'domain' || name !== domain) return unknown(`${host} did not answer for the domain`)
  const events = Array.isArray(found['events']) ? (found['events'] as unknown[]).map(membersOf) : []
  const ends = events
    .filter(({ eventAction }) => eventAction === 'expiration')
    .map(({ eventDate }) => dateOf(eventDate))
  const statuses = texts(found['status']).slice(0, STATUSES_KEPT)
  return { kind: 'registered', expiresAt: ends.find((each) => each !== null) ?? null, statuses }
}

/** Parses a date of RFC 3339; null: it is invalid. */
function dateOf(value: unknown): Date | null {
  const date = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/i.test(value) ? new Date(value) : null
  return date === null || Number.isNaN(date.getTime()) ? null : date
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
