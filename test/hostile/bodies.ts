import { type HostileCase, mutate, requesting } from './case.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const bulk = '/api/blacklist-monitor/bulk'
const post = (body: string | Buffer, headers: Readonly<Record<string, string>> = json) => ({
  method: 'POST',
  headers,
  body,
})

/** A case of a file of subscribers, which may get any answer. */
function importing(what: string, csv: () => string): HostileCase {
  return {
    name: `an import of ${what}`,
    statuses: [200],
    async send(target) {
      await mutate(target, 'importSubscribers', { csv: csv() }, '__typename').catch(() => {})
      return 200
    },
  }
}

/** New addresses. */
function addresses(count: number): string {
  const prefix = Math.random().toString(36).slice(2, 6)
  return Array.from({ length: count }, (_, n) => `${prefix}${n}@b.example`).join('\n')
}

/** Bodies, headers and paths of REST and of pages. */
export const bodies: readonly HostileCase[] = [
  requesting('bulk: 64 KiB of brackets', [400, 401], bulk, post('['.repeat(65_535))),
  requesting('bulk: 10,000 targets', [400, 401, 413], bulk, post(JSON.stringify({ targets: Array(10_000).fill('a') }))),
  requesting('bulk: 10 MB', [413, 0], bulk, post('x'.repeat(10 ** 7))),
  requesting('a target of 15 kB', [400, 414, 431], `/api/blacklist-monitor/ip?target=${'1.'.repeat(7500)}`),
  requesting('2,000 parameters', [400, 414, 431], `/api/blacklist-monitor/ip?${'a=1&'.repeat(3500)}`),
  requesting('headers of 100 kB', [431, 0], '/', { headers: { 'x-a': 'x'.repeat(100_000) } }),
  requesting('a forwarded chain of 12 kB', [200, 404, 431], '/healthz', {
    headers: { 'x-forwarded-for': '1.1.1.1,'.repeat(1500) },
  }),
  requesting('a Host of 300 letters', [400, 421], '/', { headers: { host: 'a'.repeat(300) } }),
  requesting('a Host that is none', [200, 400, 404], '/status/a', { headers: { host: '[::1]:99999/..' } }),
  requesting('tags to compare, 12 kB', [200, 304, 431], ({ slug }) => `/status/${slug}`, {
    headers: { 'if-none-match': 'W/"x", '.repeat(2000) },
  }),
  requesting('encodings to choose from, 12 kB', [200, 431], ({ slug }) => `/status/${slug}`, {
    headers: { 'accept-encoding': 'gzip;q=0.000 ,  '.repeat(900) },
  }),
  requesting('/check/ of 12 kB', [200, 400, 404, 414], `/check/${'a.'.repeat(6000)}`),
  requesting('/check/ of percent signs', [400, 404, 414], `/check/${'%25'.repeat(3000)}`),
  requesting('/check/ of what is no UTF-8', [400, 404], `/check/${'%ff'.repeat(1300)}`),
  requesting('a slug of 12 kB', [404, 414], `/status/${'a-'.repeat(6000)}`),
  requesting('a path of slashes', [404, 308, 414], '/'.repeat(12_000)),
  requesting(
    'a Stripe webhook with a wrong signature and 1 MB',
    [400, 413, 503, 0],
    '/api/v1/billing/webhook',
    post('{"a":'.repeat(200_000), { ...json, 'stripe-signature': `t=1,${'v1=ab,'.repeat(1300)}` }),
  ),
  requesting(
    'a BTCPay webhook with a wrong signature and 1 MB',
    [400, 413, 503, 0],
    '/api/v1/billing/btcpay/webhook',
    post('['.repeat(10 ** 6), { ...json, 'btcpay-sig': `sha256=${'a'.repeat(4000)}` }),
  ),
  requesting(
    'a form of 20,000 fields',
    [200, 400, 404, 413, 415, 422, 429],
    ({ slug }) => `/status/${slug}/subscribe`,
    post('a=1&'.repeat(16_000), form),
  ),
  requesting(
    'a form with unterminated parts',
    [200, 400, 404, 413, 415, 422, 429],
    ({ slug }) => `/status/${slug}/subscribe`,
    post('--x\r\n\r\n'.repeat(8000), { 'content-type': 'multipart/form-data; boundary=x' }),
  ),
  requesting('a heartbeat with 1 MB', [404, 413, 0], '/api/v1/heartbeats/none', post('x'.repeat(10 ** 6))),
  // As many new addresses as the highest tier may import in a day, in three requests.
  importing('3,000 rows', () => `email\n${addresses(3000)}`),
  importing('6,000 rows', () => `email\n${addresses(6000)}`),
  importing('60,000 empty lines', () => '\n'.repeat(60_000)),
  importing('120,000 empty fields', () => ','.repeat(120_000)),
  importing('quotes', () => `email\n${'""",'.repeat(17_000)}`),
  importing('an unterminated quote', () => `email\n"${'""'.repeat(30_000)}`),
  importing('more than a request may contain', () => '\n'.repeat(10 ** 6)),
]
