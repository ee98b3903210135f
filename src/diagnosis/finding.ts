/** The severity of a finding: an `error` breaks something for visitors or members, and a `warning` may. */
const severities = ['ok', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

/** A finding about a service or its environment. */
export interface Finding {
  /** Stable, for use in scripts. */
  readonly code: FindingCode
  /** The examined part, such as `mail`. */
  readonly subject: string
  readonly severity: Severity
  /** One sentence. */
  readonly message: string
  /** The fix: a setting, a line of a configuration, a command or a sentence. Null if there is no problem. */
  readonly fix: string | null
}

/** A kind of finding. `F` holds the facts in its sentence. */
interface Kind<F> {
  readonly subject: string
  readonly severity: Severity
  readonly message: (facts: F) => string
  readonly fix: ((facts: F) => string) | null
}

type Text<F> = string | ((facts: F) => string)

const textOf =
  <F>(text: Text<F>) =>
  (facts: F) =>
    typeof text === 'string' ? text : text(facts)

/** Creates a kind of finding without a problem. */
function fine<F = void>(subject: string, message: Text<F>): Kind<F> {
  return { subject, severity: 'ok', message: textOf(message), fix: null }
}

function problem<F = void>(severity: 'warning' | 'error', subject: string, message: Text<F>, fix: Text<F>): Kind<F> {
  return { subject, severity, message: textOf(message), fix: textOf(fix) }
}

const OWN_RESOLVER = 'apt install unbound, then DNS_SERVERS=127.0.0.1; see /docs/resolver'
const SMTP_EXAMPLE = 'SMTP_URL=smtp://user:password@host:587 MAIL_FROM=status@example.com'
const FORWARD_ADDRESS =
  'nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; Caddy does this by default; see deploy/nginx.conf'

interface Where {
  readonly url: string
}
interface Why {
  readonly reason: string
}
interface Server {
  readonly host: string
}

/** All kinds of findings by code, used by `doctor`, the operator’s screen and GraphQL. */
const kinds = {
  SERVICE_OK: fine<Where>('service', ({ url }) => `${url} answers.`),
  SERVICE_UNREACHABLE: problem<Where & Why>(
    'error',
    'service',
    ({ url, reason }) => `${url} does not answer: ${reason}.`,
    'Start the service, or set its address: --url https://status.example.com',
  ),
  SERVICE_REFUSED: problem<Where & { readonly status: number }>(
    'error',
    'service',
    ({ url, status }) => `${url}/healthz answers with HTTP ${status}.`,
    'Configure the proxy to pass all paths to the service.',
  ),
  SETTINGS_INVALID: problem<Why>(
    'error',
    'settings',
    ({ reason }) => reason,
    'Correct the setting; see /docs/settings',
  ),
  PART_OK: fine<{ readonly part: string }>('', ({ part }) => `The part “${part}” works.`),
  PART_FAILING: problem<{ readonly part: string; readonly state: string }>(
    'error',
    '',
    ({ part, state }) => `The part “${part}” does not work: ${state}.`,
    'Read the service’s log; /docs/health describes the parts.',
  ),
  DATABASE_FAILING: problem<{ readonly state: string }>(
    'error',
    'database',
    ({ state }) => `The service cannot use its database: ${state}.`,
    'Read the service’s log for the database’s answer.',
  ),
  CONFIGURATION_FAILING: problem(
    'error',
    'configuration',
    'CONFIG_FILE cannot be applied.',
    'Find the reason at /console/operator/settings or in the service’s log, and correct the file.',
  ),
  BACKUP_FAILING: problem(
    'error',
    'backup',
    'The last scheduled backup failed.',
    'Find the reason at /console/operator/settings or in the service’s log, and check the free space of BACKUP_DIR.',
  ),
  PROBES_LATE: problem(
    'error',
    'lateness',
    'Probes are more than a minute late.',
    'Start another instance with ROLE=worker in the same region, or use longer intervals.',
  ),
  CLOCK_OK: fine<{ readonly than: string }>('clock', ({ than }) => `The clock of the service agrees with ${than}.`),
  CLOCK_OFF: problem<{ readonly than: string; readonly seconds: number }>(
    'warning',
    'clock',
    ({ than, seconds }) => `The clock of the service differs from ${than} by ${seconds} s.`,
    'Synchronize the clocks of the machines: timedatectl set-ntp true',
  ),
  ADDRESS_OK: fine<Where>('address', ({ url }) => `Links lead to ${url}, the address in use.`),
  ADDRESS_DIFFERENT: problem<{ readonly known: string; readonly used: string }>(
    'warning',
    'address',
    ({ known, used }) => `Links in pages and emails lead to ${known}, not to ${used}.`,
    ({ used }) => `BASE_URL=${used}`,
  ),
  WEBSOCKET_OK: fine('websocket', 'Websockets work, so pages update live.'),
  WEBSOCKET_BLOCKED: problem<Where & { readonly status: number }>(
    'error',
    'websocket',
    ({ url, status }) => `${url} blocks websockets (HTTP ${status}), so pages do not update live.`,
    'nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; see deploy/nginx.conf',
  ),
  WEBSOCKET_UNREACHABLE: problem<Where & Why>(
    'warning',
    'websocket',
    ({ url, reason }) => `Cannot examine websockets, because ${url} is unreachable from here: ${reason}.`,
    'Run “allclear doctor --url” with the public address on another machine.',
  ),
  PROXY_NONE: fine<{ readonly client: string }>(
    'proxy',
    ({ client }) => `Requests arrive without a proxy; yours comes from ${client}.`,
  ),
  PROXY_OK: fine<{ readonly client: string }>(
    'proxy',
    ({ client }) => `The proxy forwards the addresses of visitors; yours is ${client}.`,
  ),
  PROXY_NOT_TRUSTED: problem<{ readonly peer: string; readonly setting: string }>(
    'error',
    'proxy',
    ({ peer }) => `The proxy at ${peer} is not trusted, so all visitors count as one and share one quota.`,
    ({ setting }) => `TRUST_PROXY=${setting}`,
  ),
  PROXY_ADDRESS_UNKNOWN: problem<{ readonly peer: string }>(
    'error',
    'proxy',
    ({ peer }) => `The proxy at ${peer} does not forward the addresses of visitors, so all of them share one quota.`,
    FORWARD_ADDRESS,
  ),
  PROXY_CHAIN_INCOMPLETE: problem<{ readonly client: string; readonly setting: string }>(
    'error',
    'proxy',
    ({ client }) => `A second proxy at ${client} is not trusted, so all visitors count as one and share one quota.`,
    ({ setting }) => `TRUST_PROXY=${setting}`,
  ),
  PROXY_ALL_TRUSTED: problem(
    'error',
    'proxy',
    'TRUST_PROXY trusts every address, so visitors can fake their address and evade quotas.',
    'TRUST_PROXY=127.0.0.1, or only the addresses of your proxies',
  ),
  LISTS_UNKNOWN: fine('lists', 'The blacklists have not been queried yet.'),
  LISTS_OK: fine<{ readonly count: number }>('lists', ({ count }) => `All ${count} blacklists answer.`),
  LISTS_FAILING: problem<{ readonly lists: string }>(
    'warning',
    'lists',
    ({ lists }) => `Some blacklists are unusable: ${lists}.`,
    `Lists refuse public resolvers. Run your own: ${OWN_RESOLVER}`,
  ),
  LISTS_REFUSED: problem<{ readonly servers: string }>(
    'error',
    'lists',
    ({ servers }) =>
      `All blacklists refuse ${servers}, as they refuse public resolvers and those of hosting companies.`,
    `Run your own recursive resolver: ${OWN_RESOLVER}`,
  ),
  LISTS_UNREACHABLE: problem<{ readonly servers: string }>(
    'error',
    'lists',
    ({ servers }) => `No blacklist answers through ${servers}: the resolver is down, or port 53 is blocked.`,
    'Check DNS_SERVERS, and allow outgoing UDP and TCP to port 53.',
  ),
  RESOLVER_OK: fine<Server>('resolver', ({ host }) => `Spamhaus answers the resolver ${host}.`),
  RESOLVER_REFUSED: problem<Server>(
    'error',
    'resolver',
    ({ host }) => `Spamhaus refuses the resolver ${host}, because it is public.`,
    `Run your own recursive resolver: ${OWN_RESOLVER}`,
  ),
  RESOLVER_UNREACHABLE: problem<Server & Why>(
    'error',
    'resolver',
    ({ host, reason }) => `The resolver ${host} does not answer: ${reason}.`,
    `Check DNS_SERVERS, or run your own recursive resolver: ${OWN_RESOLVER}`,
  ),
  MAIL_OK: fine<Server & { readonly how: string }>('mail', ({ host, how }) => `${host} accepts email, ${how}.`),
  MAIL_NOT_SET_UP: problem(
    'warning',
    'mail',
    'Email is not set up, so notifications, invitations and sign-in links are not sent.',
    SMTP_EXAMPLE,
  ),
  MAIL_UNREACHABLE: problem<Server & Why>(
    'error',
    'mail',
    ({ host, reason }) => `The mail server ${host} does not answer: ${reason}.`,
    'Check the host and port in SMTP_URL. Many networks block port 25: use 587, or smtps:// and 465',
  ),
  MAIL_CERTIFICATE_REFUSED: problem<Server & Why>(
    'error',
    'mail',
    ({ host, reason }) => `The connection to the mail server ${host} cannot be encrypted: ${reason}.`,
    'Use the host name of the certificate in SMTP_URL; for a server on this machine, append ?ignoreTLS=true',
  ),
  MAIL_LOGIN_REFUSED: problem<Server & Why>(
    'error',
    'mail',
    ({ host, reason }) => `The mail server ${host} refuses the login: ${reason}.`,
    'Correct the user and password in SMTP_URL; encode @ as %40 and / as %2F',
  ),
  MAIL_NOT_ENCRYPTED: problem<Server>(
    'warning',
    'mail',
    ({ host }) => `Email to ${host} is not encrypted, because the server does not offer STARTTLS.`,
    'Use a server with STARTTLS on port 587, or with TLS: SMTP_URL=smtps://user:password@host:465',
  ),
  MAIL_REFUSED: problem<Server & Why>(
    'error',
    'mail',
    ({ host, reason }) => `The mail server ${host} refuses our email: ${reason}. Deliveries wait for up to a day.`,
    'It is not about the recipients: check MAIL_FROM, what the server lets this login send, and whether its address is on a blacklist. Then send a test email at /console/operator/settings',
  ),
  MAIL_FAILING: problem(
    'error',
    'mail',
    'The last email could not be sent.',
    'Find the reason at /console/operator/settings, and send a test email there.',
  ),
  DATABASE_OK: fine<{ readonly version: string; readonly milliseconds: number }>(
    'database',
    ({ version, milliseconds }) => `PostgreSQL ${version} answers within ${milliseconds} ms.`,
  ),
  DATABASE_UNREACHABLE: problem<Why>(
    'error',
    'database',
    ({ reason }) => `The database cannot be reached: ${reason}.`,
    'Check DATABASE_URL, and that the server listens there (listen_addresses) and allows this machine (pg_hba.conf)',
  ),
  DATABASE_OLD: problem<{ readonly version: string; readonly oldest: number }>(
    'warning',
    'database',
    ({ version, oldest }) => `PostgreSQL ${version} is older than ${oldest}, the oldest version tested with Allclear.`,
    'Upgrade the server with pg_upgrade.',
  ),
  DATABASE_SLOW: problem<{ readonly milliseconds: number }>(
    'warning',
    'database',
    ({ milliseconds }) => `The database is slow: it takes ${milliseconds} ms for an empty statement.`,
    'Run the service and its database in the same data center.',
  ),
  DATABASE_CONNECTIONS_FEW: problem<{ readonly allowed: number; readonly instances: number; readonly each: number }>(
    'warning',
    'database',
    ({ allowed, instances, each }) =>
      `The database server allows ${allowed} connections, but ${instances === 1 ? 'this instance' : `${instances} instances`} may open ${instances * each}.`,
    'Raise max_connections of the server, lower DATABASE_CONNECTIONS, or put a pooler in between (/docs/deployment#poolers).',
  ),
  DATABASE_BEHIND: problem<{ readonly count: number }>(
    'warning',
    'database',
    ({ count }) => `The database lacks ${count} of this version’s migrations.`,
    'Start this version, which migrates the database.',
  ),
  DATABASE_NEWER: problem<{ readonly name: string }>(
    'warning',
    'database',
    ({ name }) => `A newer version has migrated the database (${name}), so this version cannot restart.`,
    'Finish the upgrade: run the newer version on all instances.',
  ),
  DISK_OK: fine<{ readonly free: string; readonly directory: string }>(
    'disk',
    ({ free, directory }) => `${directory} has ${free} GiB of free space.`,
  ),
  DISK_LOW: problem<{ readonly free: string; readonly directory: string }>(
    'warning',
    'disk',
    ({ free, directory }) => `${directory} has only ${free} GiB of free space.`,
    'Free some space, or move DATA_DIR to a larger disk.',
  ),
  PRIVATE_TARGETS_OK: fine<{ readonly organizations: number }>('private targets', ({ organizations }) =>
    organizations === 0
      ? 'No organization may reach private networks.'
      : `${organizations} ${organizations === 1 ? 'organization' : 'organizations'} may reach private networks.`,
  ),
  PRIVATE_TARGETS_FOR_ALL: fine<{ readonly how: string }>(
    'private targets',
    ({ how }) => `All organizations may reach private networks and this machine (${how}).`,
  ),
  PRIVATE_TARGETS_FOR_STRANGERS: problem<{ readonly how: string }>(
    'warning',
    'private targets',
    ({ how }) => `Anyone can create an organization, and all may reach private networks and this machine (${how}).`,
    'Allow private targets for single organizations, at /console/operator/organizations, or set SIGNUP=closed.',
  ),
  EXAMINATION_FAILED: problem<{ readonly part: string } & Why>(
    'warning',
    '',
    ({ part, reason }) => `The examination of “${part}” failed: ${reason}.`,
    'Try again; the service’s log has the details.',
  ),
}

/** The codes of findings. Stable: scripts read them. */
export type FindingCode = keyof typeof kinds

/** All codes, in the order of the documentation. */
export const findingCodes = Object.keys(kinds) as readonly FindingCode[]

type FactsOf<C extends FindingCode> = (typeof kinds)[C] extends Kind<infer F> ? F : never

/**
 * Creates a finding.
 * @param facts the facts in its sentence. A `part` becomes the subject too.
 */
export function found<C extends FindingCode>(
  code: C,
  ...[facts]: FactsOf<C> extends void ? [] : [facts: FactsOf<C>]
): Finding {
  const { subject, severity, message, fix } = kinds[code] as Kind<unknown>
  const part = (facts as { readonly part?: string } | undefined)?.part
  return {
    code,
    subject: part ?? subject,
    severity,
    message: message(facts),
    fix: fix === null ? null : fix(facts),
  }
}

/** Sorts findings by severity, the worst first, and keeps their order otherwise. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => severities.indexOf(other.severity) - severities.indexOf(one.severity))
}
