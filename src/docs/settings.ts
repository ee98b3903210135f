import type { Config } from '../core/config.ts'
import { readConfig } from '../core/config.ts'

/** The documentation of a setting. */
interface SettingDoc {
  /** The effect and the accepted values, in Markdown. */
  readonly meaning: string
  /** Replaces the default from the code, in Markdown. */
  readonly otherwise?: string
}

type Name = keyof Config

/** All settings by group. A missing entry does not compile. */
const documented: Readonly<Record<Name, SettingDoc>> = {
  PORT: { meaning: 'Port to listen on. `0` picks a free one, which the log names.' },
  HOST: { meaning: 'Address or host name to listen on.' },
  BASE_URL: {
    meaning: 'Public address, used in links and emails. Custom domains need it. The same on every instance.',
    otherwise: '`http://localhost:{PORT}`',
  },
  ALLOWED_HOSTS: {
    meaning:
      'Host names that the service answers to besides those of `BASE_URL` and proven custom domains, separated by commas, such as the name of its container. `localhost` and addresses always work; [other names](deployment.md#host-names) get 421.',
    otherwise: 'none',
  },
  ROLE: { meaning: '`all`, `web` (serves only) or `worker` (probes and delivers only).' },
  REGION: { meaning: 'Region of this worker, stored with every probe result. 1 to 32 letters, digits, `-` or `_`.' },
  TRUST_PROXY: {
    meaning: 'Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is trusted, separated by commas.',
    otherwise: 'none',
  },
  LOG_LEVEL: { meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.' },
  DATA_DIR: {
    meaning:
      'Directory of the embedded database, the generated secret key and compiled geo data. One process at a time.',
  },
  DATABASE_URL: { meaning: '`postgresql://…`: a PostgreSQL server, or its pooler, instead of the embedded database.' },
  DATABASE_DIRECT_URL: {
    meaning: 'The server’s own address, if `DATABASE_URL` is that of a [pooler](deployment.md#poolers).',
    otherwise: '`DATABASE_URL`',
  },
  DATABASE_CONNECTIONS: { meaning: 'Connections to the server that this instance may open.' },
  ADMIN_TOKEN: {
    meaning: 'Operator token, 16 characters or more.',
    otherwise: 'generated and printed at the first start',
  },
  METRICS_TOKEN: {
    meaning: 'Token that `/metrics` requires as `Authorization: Bearer`, 16 characters or more.',
    otherwise: 'none: `/metrics` is open',
  },
  METRICS_PORT: {
    meaning:
      'A separate port for `/metrics`, which the main port then does not serve. It serves `/healthz` and `/readyz` too.',
    otherwise: 'none: the main port serves it',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    meaning:
      'OpenTelemetry collector that gets [traces](health.md#traces) by OTLP over HTTP, such as `http://localhost:4318`.',
    otherwise: 'none: nothing is traced',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    meaning: 'Headers for the collector: `name=value`, percent-encoded and separated by commas.',
    otherwise: 'none',
  },
  OTEL_SERVICE_NAME: { meaning: 'Name of the service in traces.', otherwise: '`allclear`' },
  SECRET_KEY: {
    meaning: 'Key that encrypts the secrets in the database, 32 characters or more. The same on every instance.',
    otherwise: 'generated in `DATA_DIR/secret.key`',
  },
  BACKUP_DIR: {
    meaning: 'Directory in which backups are made regularly. Set it on one instance, whose role is not `web`.',
    otherwise: 'none: no backups are made',
  },
  BACKUP_EVERY_HOURS: { meaning: 'Hours from one backup to the next, 1 to 720.' },
  BACKUP_KEEP: { meaning: 'How many backups are kept, 1 to 1,000. Older ones are deleted after the next.' },
  ALLCLEAR_BACKUP_PASSPHRASE: {
    meaning: 'Passphrase that encrypts regular backups and those of the commands `backup` and `restore`.',
    otherwise: 'none: not encrypted',
  },
  EVENT_RETENTION_DAYS: {
    meaning:
      'How many days events of organizations are kept, 90 to 36,500. [What stays longer](backup-and-upgrade.md#what-is-kept-how-long).',
  },
  PAYMENT_PAYLOAD_DAYS: {
    meaning:
      'How many days the content of payment providers’ messages is kept, 90 to 36,500. The record of a payment stays.',
  },
  CONFIG_FILE: {
    meaning: '[Configuration file](configuration.md#a-mounted-file) to apply at the start and when it changes.',
  },
  CONFIG_ORGANIZATION: {
    meaning: 'Slug of the organization that `CONFIG_FILE` is for.',
    otherwise: 'the only one',
  },
  SIGNUP: {
    meaning:
      '`closed`: only the operator creates organizations. `open`: anyone may, 5 an hour and 10 a day from one network (IPv6: /64), 200 an hour and 1,000 a day in all.',
  },
  OIDC_ISSUER: {
    meaning:
      'Issuer of an OpenID Connect provider by which people sign in; also needs `OIDC_CLIENT_ID`. May be on a private network. Register `{BASE_URL}/sign-in/openid/callback` there.',
  },
  OIDC_CLIENT_ID: { meaning: 'Client id at the OpenID provider.' },
  OIDC_CLIENT_SECRET: { meaning: 'Client secret at the OpenID provider. Without it, the client is a public one.' },
  OIDC_NAME: { meaning: 'Name of the OpenID provider on the button.' },
  OIDC_MAIL_DOMAINS: {
    meaning: 'Domains whose verified addresses get an account at the first sign-in by OpenID, separated by commas.',
    otherwise: 'none: only people with an account',
  },
  DEFAULT_TIER: {
    meaning: 'Tier of organizations without a paid tier: `free`, `pro` or `team`.',
    otherwise: '`team`; `free` once a payment link is set',
  },
  ALLOW_PRIVATE_NETWORKS: {
    meaning:
      '`true`: monitors and webhooks of all organizations may reach private and loopback addresses. The operator can also allow it in the console, for one organization or for all, without a restart.',
  },
  RDAP_BOOTSTRAP_URL: {
    meaning:
      'Address of the list of registries that answer for domains (RFC 9224). Monitors of domains read it once a day.',
  },
  DNS_SERVERS: {
    meaning: 'Recursive resolvers, `ip` or `ip:port`, separated by commas. All of them should respond.',
    otherwise: 'the system’s',
  },
  DNS_TIMEOUT_MS: { meaning: 'Deadline of one DNS query, 100 to 4500 ms. A whole check answers within 5 s.' },
  SPAMHAUS_DQS_KEY: { meaning: 'Key of Spamhaus’s Data Query Service.' },
  GEO_CITY_DB: { meaning: 'MaxMind-format file of cities.', otherwise: 'data that ships with the service' },
  GEO_ASN_DB: { meaning: 'MaxMind-format file of networks.', otherwise: 'data that ships with the service' },
  SMTP_URL: { meaning: '`smtp://user:password@host:587` or `smtps://…`. Without it, the service sends no email.' },
  MAIL_FROM: { meaning: 'Sender address of emails.', otherwise: '`status@` and the host of `BASE_URL`' },
  STRIPE_PAYMENT_LINK_PRO: { meaning: 'Payment link for the pro tier. Without it, the tier is not sold.' },
  STRIPE_PAYMENT_LINK_TEAM: { meaning: 'Payment link for the team tier. Without it, the tier is not sold.' },
  STRIPE_WEBHOOK_SECRET: { meaning: 'Secret of the Stripe webhook. Without it, webhook requests get 503.' },
  STRIPE_CURRENCY: { meaning: 'Currency of the prices: three lowercase letters.' },
  STRIPE_PRO_AMOUNT: {
    meaning: 'Monthly price of the pro tier in minor units. Amounts identify tiers, so no two may be equal.',
  },
  STRIPE_TEAM_AMOUNT: { meaning: 'Monthly price of the team tier in minor units.' },
  STRIPE_PRO_YEARLY_AMOUNT: {
    meaning: 'Yearly price of the pro tier in minor units. Without it, the tier is not sold by the year.',
  },
  STRIPE_TEAM_YEARLY_AMOUNT: {
    meaning: 'Yearly price of the team tier in minor units. Without it, the tier is not sold by the year.',
  },
  BTCPAY_URL: {
    meaning: 'BTCPay Server that accepts BTC and LTC for the pro check plan. May be on a private network.',
  },
  BTCPAY_API_KEY: { meaning: 'API key of the BTCPay Server.' },
  BTCPAY_STORE_ID: { meaning: 'Store on the BTCPay Server.' },
  BTCPAY_WEBHOOK_SECRET: { meaning: 'Secret of the store’s webhook.' },
}

/** The groups of settings in display order, each with its first setting. */
const groups: readonly { readonly title: string; readonly first: Name }[] = [
  { title: 'Server', first: 'PORT' },
  { title: 'Data and secrets', first: 'DATA_DIR' },
  { title: 'Access and limits', first: 'SIGNUP' },
  { title: 'DNS and geo data', first: 'DNS_SERVERS' },
  { title: 'Mail', first: 'SMTP_URL' },
  { title: 'Stripe', first: 'STRIPE_PAYMENT_LINK_PRO' },
  { title: 'BTCPay Server', first: 'BTCPAY_URL' },
]

/** Marks the beginning of the generated part of `docs/settings.md`. */
export const SETTINGS_MARK = '<!-- generated by `npm run settings` -->'

/** Returns the Markdown tables of all settings, with the defaults of the code. */
export function settingsTables(): string {
  const names = Object.keys(documented) as Name[]
  const defaults = readConfig({})
  const starts = groups.map(({ first }) => names.indexOf(first))
  const tables = groups.map(({ title }, index) => {
    const rows = names.slice(starts[index], starts[index + 1]).map((name) => rowOf(name, defaults[name]))
    return `## ${title}\n\n| variable | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return tables.join('\n')
}

function rowOf(name: Name, fallback: unknown): string {
  const { meaning, otherwise } = documented[name]
  const shown = otherwise ?? (fallback === undefined ? 'none' : `\`${String(fallback)}\``)
  return `| \`${name}\` | ${shown} | ${meaning} |`
}
