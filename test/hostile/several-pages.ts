import type { HostileCase, Target } from './case.ts'
import { ask, asNewVisitor, mutate, query, requesting } from './case.ts'
import { asMember, form } from './console.ts'

/** The path of the first page's screen with this name. */
const ofFirstPage = (name: string) => async (target: Target) => {
  const { organization } = await query<{ organization: { statusPage: { id: string } } }>(
    target,
    '{ organization { statusPage { id } } }',
  )
  return `pages/${organization.statusPage.id}/${name}`
}

/** Returns the private page of the organization, created on the first call. */
async function privatePage(target: Target): Promise<string> {
  const slug = `${target.slug}-private`
  const response = await fetch(`${target.url}/status/${slug}/api/v2/status.json`)
  if (response.status === 404) {
    const access = { kind: 'PASSWORD', password: 'long enough to be one' }
    await mutate(target, 'createPage', { slug, name: 'Private', access }, '... on StatusPage { id }')
  }
  return `/status/${slug}`
}

/** A case of many simultaneous requests to a private page. */
function toPrivatePage(
  name: string,
  statuses: readonly number[],
  count: number,
  send: (target: Target, page: string, index: number) => Promise<number>,
): HostileCase {
  return {
    name: `a private page: ${name}`,
    statuses,
    async send(target) {
      const page = await privatePage(target)
      const all = await Promise.all(Array.from({ length: count }, (_, index) => send(target, page, index)))
      return all.find((status) => !statuses.includes(status)) ?? statuses[0] ?? 0
    },
  }
}

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
const nextYear = new Date().getUTCFullYear() + 1
const series = `title=a&message=b&startsAt=${nextYear}-01-01T02%3A00&durationMinutes=60&preview=1`
const ids = Array.from({ length: 1500 }, (_, index) => `serviceIds=svc_${String(index).padStart(24, '0')}`).join('&')

/** Forms for pages, their access and their tokens, for repeating maintenance, and the question for a certificate. */
export const severalPages: readonly HostileCase[] = [
  asMember(
    'a page with 1,500 services that do not exist',
    [404, 422],
    'pages/new',
    form(`name=a&slug=b2&shows=CHOSEN&${ids}`),
  ),
  asMember('a page with a slug of 1 MB', [422], 'pages/new', form(`name=a&shows=ALL&slug=${'a-'.repeat(500_000)}`)),
  asMember(
    'a page open to 90,000 networks',
    [422],
    'pages/new',
    form(`name=a&slug=b3&access.kind=ADDRESSES&access.ranges=${'10.0.0.0/8+'.repeat(90_000)}`),
  ),
  asMember('a page that is none', [404, 414], `pages/${'z'.repeat(5000)}`),
  asMember('the subscribers of a page that is none', [200, 414], `subscribers?pageId=${'z'.repeat(5000)}`),
  asMember(
    'access for a domain of 1 MB',
    [422],
    ofFirstPage('access'),
    form(`access.kind=MAIL_DOMAIN&access.mailDomains=${'a.'.repeat(500_000)}example`),
  ),
  asMember(
    'access from invalid networks',
    [422],
    ofFirstPage('access'),
    form(`access.kind=ADDRESSES&access.ranges=${'::ffff:1.2.3.4/129+'.repeat(50_000)}`),
  ),
  asMember('a read token with a name of 1 MB', [422], ofFirstPage('tokens'), form(`name=${'a'.repeat(10 ** 6)}`)),
  asMember('a read token that is none', [404], ofFirstPage(`tokens/${'z'.repeat(4000)}/revoke`)),
  asMember('a read token longer than an address', [414], ofFirstPage(`tokens/${'z'.repeat(5000)}/revoke`)),
  ...[
    `repeat=CUSTOM&rule=${'FREQ=DAILY;'.repeat(50_000)}`,
    'repeat=CUSTOM&rule=FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31',
    'repeat=CUSTOM&rule=FREQ=SECONDLY;INTERVAL=1',
    `repeat=CUSTOM&rule=FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, day) => day + 1).join()}`,
    'repeat=DAILY&startsAt=9999-12-31T23%3A59',
    `repeat=WEEKLY&${'days=MO&'.repeat(1500)}`,
  ].map((rest) =>
    asMember(`a series: ${rest.slice(0, 60)}`, [200, 422], 'maintenance/series/new', form(`${series}&${rest}`)),
  ),
  toPrivatePage('300 wrong passwords at once', [401, 429, 503], 300, (target, page, index) =>
    ask(target.url, `${page}/access`, {
      method: 'POST',
      headers: { ...urlencoded, ...asNewVisitor() },
      body: `password=wrong${index}`,
    }),
  ),
  toPrivatePage('300 wrong tokens at once, of 4 kB', [401], 300, (target, page, index) =>
    ask(target.url, `${page}/api/v2/summary.json?token=acp_${String(index).padStart(4000, 'A')}`, {}),
  ),
  toPrivatePage('a password of 8 kB, then a form of 1 MB', [401, 413, 422, 429, 503, 0], 2, (target, page, index) =>
    ask(target.url, `${page}/access`, {
      method: 'POST',
      headers: { ...urlencoded, ...asNewVisitor() },
      body: `password=${'ü'.repeat(index === 0 ? 1300 : 200_000)}`,
    }),
  ),
  toPrivatePage('a password of 100,000 combining marks', [401, 413, 422, 429, 503], 1, (target, page) =>
    ask(target.url, `${page}/access`, {
      method: 'POST',
      headers: { ...urlencoded, ...asNewVisitor() },
      body: `password=a${'\u0301'.repeat(100_000)}`,
    }),
  ),
  toPrivatePage('300 mailed links that are none', [410], 300, (target, page, index) =>
    ask(target.url, `${page}/access/${String(index).padStart(43, 'A')}`, {}),
  ),
  {
    name: 'a certificate for each of 2,000 hosts at once',
    statuses: [404, 429],
    async send(target) {
      const all = await Promise.all(
        Array.from({ length: 2000 }, (_, index) =>
          ask(target.url, `/.well-known/allclear-certificate?domain=h${index}.example`, {}),
        ),
      )
      return all.find((status) => status !== 404 && status !== 429) ?? 404
    },
  },
  requesting(
    'a certificate for a host of 12 kB',
    [404, 414, 429, 431],
    `/.well-known/allclear-certificate?domain=${'a.'.repeat(6000)}example`,
  ),
]
