import { getServers } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/core/config.ts'
import { StartError } from '../../src/core/errors.ts'

/** Returns the error message for an invalid environment. */
function errorOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof StartError) return error.message
    throw error
  }
  throw new Error('The settings were accepted')
}

const defaults = {
  PORT: 4000,
  HOST: '0.0.0.0',
  DATA_DIR: './data',
  ROLE: 'all',
  REGION: 'local',
  SIGNUP: 'closed',
  DEFAULT_TIER: 'team',
  TRUST_PROXY: null,
  ALLOWED_HOSTS: [],
  DNS_TIMEOUT_MS: 3000,
  ALLOW_PRIVATE_NETWORKS: false,
  RDAP_BOOTSTRAP_URL: 'https://data.iana.org/rdap/dns.json',
  STRIPE_PRO_AMOUNT: 2900,
  STRIPE_TEAM_AMOUNT: 9900,
  STRIPE_CURRENCY: 'eur',
  BACKUP_EVERY_HOURS: 24,
  BACKUP_KEEP: 7,
  EVENT_RETENTION_DAYS: 730,
  PAYMENT_PAYLOAD_DAYS: 400,
  LOG_LEVEL: 'info',
}
const optional = [
  'BASE_URL',
  'DATABASE_URL',
  'ADMIN_TOKEN',
  'METRICS_TOKEN',
  'METRICS_PORT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'BACKUP_DIR',
  'ALLCLEAR_BACKUP_PASSPHRASE',
  'CONFIG_FILE',
  'CONFIG_ORGANIZATION',
  'SECRET_KEY',
  'SPAMHAUS_DQS_KEY',
  'GEO_CITY_DB',
  'GEO_ASN_DB',
  'STRIPE_PAYMENT_LINK_PRO',
  'STRIPE_PAYMENT_LINK_TEAM',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_PRO_YEARLY_AMOUNT',
  'STRIPE_TEAM_YEARLY_AMOUNT',
  'BTCPAY_URL',
  'BTCPAY_API_KEY',
  'BTCPAY_STORE_ID',
  'BTCPAY_WEBHOOK_SECRET',
  'SMTP_URL',
  'MAIL_FROM',
]
const names = [...Object.keys(defaults), ...optional, 'DNS_SERVERS']

describe('settings', () => {
  test('have defaults', () => {
    const config = readConfig({})
    expect(config).toMatchObject(defaults)
    expect(Object.keys(config).filter((name) => optional.includes(name))).toEqual([])
    expect(config.DNS_SERVERS.length).toBe(getServers().length)
  })

  test.each(['', ' ', '\t\n'])('treat blank as absent (%j)', (blank) => {
    expect(readConfig(Object.fromEntries(names.map((name) => [name, blank])))).toEqual(readConfig({}))
  })

  test('are frozen and ignore other variables', () => {
    const config = readConfig({ PATH: '/bin', PORT_: '1' })
    expect(Object.isFrozen(config)).toBe(true)
    expect(config).not.toHaveProperty('PATH')
  })

  test('report all problems at once, one per line', () => {
    expect(errorOf({ PORT: 'http', ROLE: 'boss', STRIPE_CURRENCY: 'EUR' })).toBe(
      [
        'PORT is "http", but must be a whole number from 0 to 65535.',
        'ROLE is "boss", but must be one of all, web, worker.',
        'STRIPE_CURRENCY is "EUR", but must be a currency code of three lowercase letters, such as eur.',
      ].join('\n'),
    )
  })
})

describe('a valid value', () => {
  test.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['HOST', '::', '::'],
    ['BASE_URL', 'https://status.example.com/', 'https://status.example.com/'],
    ['DATA_DIR', '/var/lib/allclear', '/var/lib/allclear'],
    ['DATABASE_URL', 'postgresql://u:p@db:5432/allclear', 'postgresql://u:p@db:5432/allclear'],
    ['DATABASE_URL', 'postgres://db/allclear', 'postgres://db/allclear'],
    ['ROLE', 'worker', 'worker'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b%20c, x-d=e=f', { a: 'b c', 'x-d': 'e=f' }],
    ['REGION', 'eu-central_1', 'eu-central_1'],
    ['ADMIN_TOKEN', 'sixteen-letters!', 'sixteen-letters!'],
    ['SECRET_KEY', 'thirty-two-characters-are-enough', 'thirty-two-characters-are-enough'],
    ['SIGNUP', 'open', 'open'],
    ['DEFAULT_TIER', 'pro', 'pro'],
    ['SPAMHAUS_DQS_KEY', 'abcdefghij0123456789klmnop', 'abcdefghij0123456789klmnop'],
    ['DNS_TIMEOUT_MS', '100', 100],
    ['DNS_TIMEOUT_MS', '4500', 4500],
    ['GEO_CITY_DB', '/geo/city.mmdb', '/geo/city.mmdb'],
    ['GEO_ASN_DB', '/geo/asn.mmdb', '/geo/asn.mmdb'],
    ['ALLOW_PRIVATE_NETWORKS', 'true', true],
    ['ALLOW_PRIVATE_NETWORKS', 'false', false],
    ['STRIPE_PAYMENT_LINK_PRO', 'https://buy.stripe.com/pro', 'https://buy.stripe.com/pro'],
    ['STRIPE_PAYMENT_LINK_TEAM', 'https://buy.stripe.com/team', 'https://buy.stripe.com/team'],
    ['STRIPE_WEBHOOK_SECRET', 'whsec_12345', 'whsec_12345'],
    ['STRIPE_PRO_AMOUNT', '1', 1],
    ['STRIPE_TEAM_AMOUNT', '99999999', 99_999_999],
    ['STRIPE_CURRENCY', 'usd', 'usd'],
    ['BTCPAY_URL', 'https://pay.example.com', 'https://pay.example.com'],
    ['BTCPAY_API_KEY', 'token', 'token'],
    ['BTCPAY_STORE_ID', 'store', 'store'],
    ['BTCPAY_WEBHOOK_SECRET', '12345678', '12345678'],
    ['SMTP_URL', 'smtps://user:password@mail:465', 'smtps://user:password@mail:465'],
    ['MAIL_FROM', 'Status <status@example.com>', 'Status <status@example.com>'],
    ['LOG_LEVEL', 'silent', 'silent'],
  ])('of %s is %s', (name, value, read) => {
    expect(readConfig({ [name]: value })).toHaveProperty(name, read)
  })
})

describe('an invalid value', () => {
  const wholeNumber = (least: number, most: number) => `a whole number from ${least} to ${most}`
  const web = 'an http:// or https:// address'
  test.each([
    ['PORT', '65536', wholeNumber(0, 65_535)],
    ['PORT', '-1', wholeNumber(0, 65_535)],
    ['PORT', '0x50', wholeNumber(0, 65_535)],
    ['PORT', '8e1', wholeNumber(0, 65_535)],
    ['PORT', ' 80', wholeNumber(0, 65_535)],
    ['PORT', '99999999999999999999', wholeNumber(0, 65_535)],
    ['HOST', '999.1.1.1', 'an address or a host name to listen on'],
    ['HOST', 'http://localhost', 'an address or a host name to listen on'],
    ['BASE_URL', 'status.example.com', web],
    ['BASE_URL', 'javascript:alert(1)', web],
    ['ROLE', 'ALL', 'one of all, web, worker'],
    ['REGION', 'eu central', '1 to 32 letters, digits, - or _'],
    ['REGION', 'r'.repeat(33), '1 to 32 letters, digits, - or _'],
    ['SIGNUP', 'yes', 'one of closed, open'],
    ['DEFAULT_TIER', 'TEAM', 'one of free, pro, team'],
    ['DNS_TIMEOUT_MS', '99', wholeNumber(100, 4500)],
    ['DNS_TIMEOUT_MS', '4501', wholeNumber(100, 4500)],
    ['ALLOW_PRIVATE_NETWORKS', '1', 'one of false, true'],
    ['STRIPE_PAYMENT_LINK_PRO', 'ftp://x', web],
    ['STRIPE_PAYMENT_LINK_TEAM', 'x', web],
    ['STRIPE_PRO_AMOUNT', '0', wholeNumber(1, 99_999_999)],
    ['STRIPE_TEAM_AMOUNT', '29.00', wholeNumber(1, 99_999_999)],
    ['STRIPE_CURRENCY', 'euro', 'a currency code of three lowercase letters, such as eur'],
    ['LOG_LEVEL', 'verbose', 'one of info, trace, debug, warn, error, fatal, silent'],
  ])('of %s is %s, and the message describes what it must be', (name, value, expected) => {
    expect(errorOf({ [name]: value })).toBe(`${name} is ${JSON.stringify(value)}, but must be ${expected}.`)
  })

  test.each([
    ['ADMIN_TOKEN', 'hunter2', 'at least 16 characters'],
    ['METRICS_TOKEN', 'sixteen letters!', '16 or more characters without spaces'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2', 'headers such as authorization=Bearer%20…, separated by commas'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%0ab', 'headers such as authorization=Bearer%20…, separated by commas'],
    ['SECRET_KEY', 'hunter2-hunter2-hunter2-hunter2', 'at least 32 characters'],
    ['DATABASE_URL', 'mysql://u:hunter2@db/x', 'an address like postgresql://user:password@host:5432/database'],
    ['SPAMHAUS_DQS_KEY', 'hunter2', 'a Spamhaus DQS key: 10 to 63 letters and digits'],
    ['SPAMHAUS_DQS_KEY', 'hunter2.example.com', 'a Spamhaus DQS key: 10 to 63 letters and digits'],
    ['STRIPE_WEBHOOK_SECRET', 'hunter2', 'at least 8 characters'],
    ['BTCPAY_URL', 'hunter2', web],
    ['BTCPAY_WEBHOOK_SECRET', 'hunter2', 'at least 8 characters'],
    ['SMTP_URL', 'http://u:hunter2@mail', 'an address like smtp://user:password@host:587'],
  ])('of %s may be a secret and is not repeated', (name, value, expected) => {
    expect(errorOf({ [name]: value })).toBe(`${name} is a hidden value, but must be ${expected}.`)
  })
})

describe('DNS_SERVERS', () => {
  const server = (address: string, port = 53) => ({ address, port })

  test.each([
    ['192.0.2.1', [server('192.0.2.1')]],
    ['192.0.2.1:5353', [server('192.0.2.1', 5353)]],
    ['::1', [server('::1')]],
    ['[::1]:5353', [server('::1', 5353)]],
    ['fe80::1%lo', [server('fe80::1%lo')]],
    [' 192.0.2.1 , [2001:db8::1]:53 ', [server('192.0.2.1'), server('2001:db8::1')]],
  ])('expected %j', (value, servers) => {
    expect(readConfig({ DNS_SERVERS: value }).DNS_SERVERS).toEqual(servers)
  })

  test.each([
    'localhost',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '192.0.2.1,',
    ',',
    '192.0.2',
    '[::1',
    '[192.0.2.1',
    '[::1]:',
    'x[::1]:53',
  ])('refuses %j', (value) => {
    const expected = 'comma-separated resolver addresses, each ip or ip:port ([ip]:port for IPv6)'
    expect(errorOf({ DNS_SERVERS: value })).toBe(`DNS_SERVERS is ${JSON.stringify(value)}, but must be ${expected}.`)
  })
})

describe('ALLOWED_HOSTS', () => {
  test.each([
    ['', []],
    ['allclear', ['allclear']],
    [' Status.LAN. , my_app,bücher.example,10.0.0.1 ', ['status.lan', 'my_app', 'xn--bcher-kva.example', '10.0.0.1']],
  ])('%j lists %j', (value, names) => expect(readConfig({ ALLOWED_HOSTS: value }).ALLOWED_HOSTS).toEqual(names))

  test.each(['a:80', 'http://a', '*.example.com', 'a b', 'a,,b', 'a/b', 'user@a', '.a', 'x'.repeat(300), '[::1]'])(
    '%j is refused',
    (value) =>
      expect(errorOf({ ALLOWED_HOSTS: value })).toBe(
        `ALLOWED_HOSTS is ${JSON.stringify(value)}, but must be comma-separated host names without a port, such as allclear or status.lan.`,
      ),
  )
})

describe('TRUST_PROXY', () => {
  test('accepts addresses and ranges of both families', () => {
    const proxies = readConfig({ TRUST_PROXY: '10.0.0.0/8, 192.0.2.1 ,2001:db8::/32,::1' }).TRUST_PROXY
    const trusted = (address: string) => proxies?.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
    expect(['10.255.0.1', '192.0.2.1', '2001:db8:1::1', '::1'].map(trusted)).toEqual([true, true, true, true])
    expect(['11.0.0.1', '192.0.2.2', '2001:db9::1', '::2'].map(trusted)).toEqual([false, false, false, false])
  })

  test.each(['0.0.0.0/0', '::/0', '192.0.2.1/32', '::1/128'])('accepts %s', (value) => {
    expect(readConfig({ TRUST_PROXY: value }).TRUST_PROXY).not.toBeNull()
  })

  test.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0/8',
    'proxy.example.com',
    '10.0.0.1,',
    'true',
  ])('refuses %s', (value) => {
    const expected = 'comma-separated addresses or CIDR ranges of proxies'
    expect(errorOf({ TRUST_PROXY: value })).toBe(`TRUST_PROXY is ${JSON.stringify(value)}, but must be ${expected}.`)
  })
})
