import { getServers } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { StartError } from './errors.ts'
import { dataDirectory } from './process/data-directory.ts'
import { parseUrl } from './url.ts'

/** The address of a DNS resolver. */
export interface DnsServer {
  readonly address: string
  readonly port: number
}

const blankAsUndefined = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? undefined : value)
const setting = <T extends z.ZodType>(schema: T) => z.preprocess(blankAsUndefined, schema)
/**
 * Accepts IP addresses and names of RFC 1123 labels. The last label must not be all digits, or it would be a malformed
 * address.
 */
const isHostName = (value: string) =>
  isIP(value) !== 0 || /^(?!-)[a-z\d-]{1,63}(\.(?!-)[a-z\d-]{1,63})*(?<!\.\d+)$/i.test(value)
const text = setting(z.string().optional())
const secret = (minimum: number) => setting(z.string().min(minimum, `at least ${minimum} characters`).optional())
const oneOf = <const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) =>
  setting(z.enum(values, { error: `one of ${values.join(', ')}` }).default(fallback as never))
const wholeNumber = (minimum: number, maximum: number) => {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return z
    .string()
    .regex(/^\d{1,10}$/, expected)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, expected)
}
const integer = (minimum: number, maximum: number, fallback: number) =>
  setting(wholeNumber(minimum, maximum).default(fallback))
const url = (expected: string, ...protocols: string[]) =>
  setting(
    z
      .string()
      .refine((value) => protocols.includes(parseUrl(value)?.protocol ?? ''), expected)
      .optional(),
  )
const databaseUrl = url('an address like postgresql://user:password@host:5432/database', 'postgresql:', 'postgres:')
const webUrl = url('an http:// or https:// address', 'http:', 'https:')
const flag = oneOf(['false', 'true'], 'false').transform((value) => value === 'true')

const dnsServers = setting(
  z
    .string()
    .optional()
    .transform((value, ctx) => {
      const servers = (value?.split(',') ?? getServers()).map((entry) => parseDnsServer(entry.trim()))
      const parsed = servers.filter((server) => server !== null)
      if (parsed.length === servers.length && parsed.length > 0) return parsed
      ctx.addIssue({
        code: 'custom',
        message: 'comma-separated resolver addresses, each ip or ip:port ([ip]:port for IPv6)',
      })
      return z.NEVER
    }),
)

const trustedProxies = setting(
  z
    .string()
    .optional()
    .transform((value, ctx) => {
      const list = new BlockList()
      const entries = value?.split(',').map((entry) => entry.trim()) ?? []
      if (entries.every((entry) => addSubnet(list, entry))) return entries.length > 0 ? list : null
      ctx.addIssue({ code: 'custom', message: 'comma-separated addresses or CIDR ranges of proxies' })
      return z.NEVER
    }),
)

const rdapBootstrap = setting(
  z
    .string()
    .refine((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''), 'an http:// or https:// URL')
    .default('https://data.iana.org/rdap/dns.json'),
)

const allowedHosts = setting(
  z
    .string()
    .optional()
    .transform((value, ctx) => {
      const names = value?.split(',').map((entry) => servedName(entry.trim())) ?? []
      if (names.every((name) => name !== null)) return names
      ctx.addIssue({
        code: 'custom',
        message: 'comma-separated host names without a port, such as allclear or status.lan',
      })
      return z.NEVER
    }),
)

const mailDomains = setting(
  z
    .string()
    .optional()
    .transform((value, ctx) => {
      const domains = value?.split(',').map((entry) => entry.trim().toLowerCase()) ?? []
      if (domains.every((domain) => isHostName(domain) && isIP(domain) === 0)) return domains
      ctx.addIssue({ code: 'custom', message: 'comma-separated domains of email addresses, such as example.com' })
      return z.NEVER
    }),
)

const otlpEndpoint = setting(
  z
    .string()
    .refine((value) => {
      const parsed = parseUrl(value)
      return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === ''
    }, 'an http:// or https:// address without a password')
    .optional(),
)

/** Parses headers in OpenTelemetry's format: `name=value` pairs, percent-encoded and separated by commas. */
const otlpHeaders = setting(
  z
    .string()
    .optional()
    .transform((value, ctx) => {
      if (value === undefined) return undefined
      const pairs = value.split(',').map((pair) => /^([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair.trim()))
      try {
        return Object.fromEntries(pairs.map((pair) => [required(pair?.[1]), headerValue(pair?.[2]?.trim())]))
      } catch {
        ctx.addIssue({ code: 'custom', message: 'headers such as authorization=Bearer%20…, separated by commas' })
        return z.NEVER
      }
    }),
)

const tierNames = ['free', 'pro', 'team'] as const

/** The settings by the name of their environment variable. */
const settings = z.object({
  PORT: integer(0, 65_535, 4000),
  HOST: setting(z.string().refine(isHostName, 'an address or a host name to listen on').default('0.0.0.0')),
  BASE_URL: webUrl,
  DATA_DIR: z.string().optional().transform(dataDirectory),
  DATABASE_URL: databaseUrl,
  DATABASE_DIRECT_URL: databaseUrl,
  DATABASE_CONNECTIONS: integer(4, 1000, 12),
  ALLOWED_HOSTS: allowedHosts,
  ROLE: oneOf(['all', 'web', 'worker'], 'all'),
  REGION: setting(
    z
      .string()
      .regex(/^[\w-]{1,32}$/, '1 to 32 letters, digits, - or _')
      .default('local'),
  ),
  ADMIN_TOKEN: secret(16),
  METRICS_TOKEN: setting(
    z
      .string()
      .regex(/^\S{16,}$/, '16 or more characters without spaces')
      .optional(),
  ),
  METRICS_PORT: setting(wholeNumber(0, 65_535).optional()),
  OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint,
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders,
  OTEL_SERVICE_NAME: text,
  SECRET_KEY: secret(32),
  BACKUP_DIR: text,
  BACKUP_EVERY_HOURS: integer(1, 720, 24),
  BACKUP_KEEP: integer(1, 1000, 7),
  ALLCLEAR_BACKUP_PASSPHRASE: text,
  EVENT_RETENTION_DAYS: integer(90, 36_500, 730),
  PAYMENT_PAYLOAD_DAYS: integer(90, 36_500, 400),
  CONFIG_FILE: text,
  CONFIG_ORGANIZATION: text,
  SIGNUP: oneOf(['closed', 'open'], 'closed'),
  DEFAULT_TIER: setting(z.enum(tierNames, { error: `one of ${tierNames.join(', ')}` }).optional()),
  TRUST_PROXY: trustedProxies,
  DNS_SERVERS: dnsServers,
  SPAMHAUS_DQS_KEY: setting(
    z
      .string()
      .regex(/^[a-z0-9]{10,63}$/i, 'a Spamhaus DQS key: 10 to 63 letters and digits')
      .optional(),
  ),
  DNS_TIMEOUT_MS: integer(100, 4500, 3000),
  GEO_CITY_DB: text,
  GEO_ASN_DB: text,
  ALLOW_PRIVATE_NETWORKS: flag,
  RDAP_BOOTSTRAP_URL: rdapBootstrap,
  STRIPE_PAYMENT_LINK_PRO: webUrl,
  STRIPE_PAYMENT_LINK_TEAM: webUrl,
  STRIPE_WEBHOOK_SECRET: secret(8),
  STRIPE_PRO_AMOUNT: integer(1, 99_999_999, 2900),
  STRIPE_TEAM_AMOUNT: integer(1, 99_999_999, 9900),
  STRIPE_PRO_YEARLY_AMOUNT: setting(wholeNumber(1, 99_999_999).optional()),
  STRIPE_TEAM_YEARLY_AMOUNT: setting(wholeNumber(1, 99_999_999).optional()),
  STRIPE_CURRENCY: setting(
    z
      .string()
      .regex(/^[a-z]{3}$/, 'a currency code of three lowercase letters, such as eur')
      .default('eur'),
  ),
  BTCPAY_URL: webUrl,
  BTCPAY_API_KEY: text,
  BTCPAY_STORE_ID: text,
  BTCPAY_WEBHOOK_SECRET: secret(8),
  SMTP_URL: url('an address like smtp://user:password@host:587', 'smtp:', 'smtps:'),
  MAIL_FROM: text,
  OIDC_ISSUER: webUrl,
  OIDC_CLIENT_ID: text,
  OIDC_CLIENT_SECRET: text,
  OIDC_NAME: setting(z.string().max(50, 'at most 50 characters').default('OpenID')),
  OIDC_MAIL_DOMAINS: mailDomains,
  LOG_LEVEL: oneOf(['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'], 'info'),
})

type Settings = z.infer<typeof settings>

/** The names of all settings. */
export const settingNames = settings.keyof().options

/** The parsed settings. Missing settings without a default are undefined. */
export type Config = Readonly<Omit<Settings, 'DEFAULT_TIER'> & { DEFAULT_TIER: (typeof tierNames)[number] }>

const secretNames = /TOKEN|SECRET|KEY|PASSPHRASE|_HEADERS|_URL$/

/**
 * Reads the settings from an environment.
 * @throws StartError with a line for each invalid variable: its name, its value (unless secret) and what it must be.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = settings.safeParse(env)
  const issues = parsed.success ? priceIssues(parsed.data) : parsed.error.issues
  if (parsed.success && issues.length === 0) {
    return Object.freeze({ ...parsed.data, DEFAULT_TIER: parsed.data.DEFAULT_TIER ?? defaultTier(parsed.data) })
  }
  const lines = issues.map(({ path, message }) => {
    const name = String(path[0])
    const value = env[name] ?? (parsed.success ? parsed.data[name as keyof Settings] : undefined)
    const got = secretNames.test(name) && name !== 'BASE_URL' ? 'a hidden value' : JSON.stringify(value)
    return `${name} is ${got}, but must be ${message}.`
  })
  throw new StartError(lines.join('\n'))
}

/** Returns each setting with its value as text; for secrets, only whether they are set. */
export function settingsInEffect(config: Config): readonly { readonly name: string; readonly value: string }[] {
  const isSecret = (name: string) => secretNames.test(name) && !PUBLIC_ADDRESSES.has(name)
  return settingNames.map((name) => {
    const value: unknown = config[name]
    if (value === undefined || value === null) return { name, value: 'Not set' }
    if (isSecret(name)) return { name, value: 'Set (hidden)' }
    if (name === 'ALLOWED_HOSTS' || name === 'OIDC_MAIL_DOMAINS') return { name, value: listText(config[name]) }
    return { name, value: typeof value === 'object' ? valueText(name, config) : String(value) }
  })
}

/** Addresses that contain no secret, unlike those with a password. */
const PUBLIC_ADDRESSES = new Set(['BASE_URL', 'BTCPAY_URL'])

const listText = (values: readonly string[]) => values.join(', ') || 'Not set'

function valueText(name: string, { DNS_SERVERS, TRUST_PROXY }: Config): string {
  if (name === 'DNS_SERVERS') return DNS_SERVERS.map(({ address, port }) => `${address} port ${port}`).join(', ')
  return TRUST_PROXY === null ? 'Not set' : TRUST_PROXY.rules.join(', ')
}

/** Returns the tier of new organizations: the highest one unless payment links are configured. */
function defaultTier({
  STRIPE_PAYMENT_LINK_PRO: pro,
  STRIPE_PAYMENT_LINK_TEAM: team,
}: Settings): Config['DEFAULT_TIER'] {
  return pro === undefined && team === undefined ? 'team' : 'free'
}

interface SettingIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Rejects equal prices, because a payment's amount identifies its tier. */
function priceIssues(read: Settings): SettingIssue[] {
  const prices = [
    'STRIPE_PRO_AMOUNT',
    'STRIPE_TEAM_AMOUNT',
    'STRIPE_PRO_YEARLY_AMOUNT',
    'STRIPE_TEAM_YEARLY_AMOUNT',
  ] as const
  return prices.flatMap((name, index) => {
    const equal = prices.slice(0, index).find((other) => read[other] !== undefined && read[other] === read[name])
    return equal === undefined
      ? []
      : [{ path: [name], message: `different from ${equal}, because the amount identifies the tier` }]
  })
}

function required(text: string | undefined): string {
  if (text === undefined) throw new Error('Missing.')
  return text
}

/** @throws when it is not percent-encoded correctly, or not a valid header value. */
function headerValue(text: string | undefined): string {
  const value = decodeURIComponent(required(text))
  if (!/^[\t\x20-\x7e]*$/.test(value)) throw new Error('Not a valid header value.')
  return value
}

/** Parses `ip`, `ip:port` or `[ip]:port`. Returns null for any other text. */
export function parseDnsServer(entry: string): DnsServer | null {
  if (isIP(entry)) return { address: entry, port: 53 }
  const match = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(entry)
  const address = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  return isIP(address) && port >= 1 && port <= 65_535 ? { address, port } : null
}

/**
 * Returns a host name as browsers send it: in lower case, as A-labels, without a dot at its end. Names may contain `_`,
 * as those of containers do. Null: it is none.
 */
function servedName(entry: string): string | null {
  if (!/^[\p{L}\p{M}\p{N}._-]{1,253}$/u.test(entry)) return null
  const name = parseUrl(`http://${entry}`)?.hostname.replace(/\.$/, '') ?? ''
  return /^[a-z0-9_](?:[a-z0-9._-]{0,252})$/.test(name) ? name : null
}

function addSubnet(list: BlockList, entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/')
  const version = isIP(address)
  const longest = version === 6 ? 128 : 32
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  if (version === 0 || rest.length > 0 || bits < 0 || bits > longest) return false
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
  return true
}

/** Returns the environment variables that are not settings, which a configuration file may use. */
export function otherVariables(env: NodeJS.ProcessEnv = process.env): Readonly<Record<string, string | undefined>> {
  const ours: ReadonlySet<string> = new Set(settingNames)
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.has(name)))
}
