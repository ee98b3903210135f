import { jpeg, png, svg } from '../support/pictures.ts'
import type { HostileCase, Sent, Target } from './case.ts'
import { ask, asNewVisitor, requesting } from './case.ts'

/** The host of the service's BASE_URL, the only one on which people sign in. */
const host = { host: 'status.allclear.example' }
/** The headers that browsers send with forms of our own pages. */
export const own = { ...host, 'sec-fetch-site': 'same-origin' }
const urlencoded = { ...own, 'content-type': 'application/x-www-form-urlencoded' }
const cookieOf = ({ session }: Target) => ({ cookie: `__Host-allclear=${session}` })

/** A form that a browser sends. */
export const form = (body: string | Buffer, headers: Readonly<Record<string, string>> = urlencoded): Sent => ({
  method: 'POST',
  headers,
  body,
})

/** A case of one request by a member. */
export function asMember(
  name: string,
  statuses: readonly number[],
  path: string | ((target: Target) => Promise<string>),
  sent: Sent = {},
): HostileCase {
  return {
    name: `the console: ${name}`,
    statuses,
    send: async (target) =>
      ask(target.url, `/console/${target.slug}/${typeof path === 'string' ? path : await path(target)}`, {
        ...sent,
        headers: { ...host, ...sent.headers, ...cookieOf(target) },
      }),
  }
}

/** Text that takes seconds to normalize. */
const marks = '\u0301'.repeat(100_000)

/** A case of many simultaneous requests. */
function atOnce(
  name: string,
  statuses: readonly number[],
  count: number,
  send: (target: Target, index: number) => Promise<number>,
): HostileCase {
  return {
    name,
    statuses,
    async send(target) {
      const all = await Promise.all(Array.from({ length: count }, (_, index) => send(target, index)))
      return all.find((status) => !statuses.includes(status)) ?? statuses[0] ?? 0
    },
  }
}

/** As long as a browser's: a short one occurs within files. */
const BOUNDARY = '----WebKitFormBoundaryhostile7MA4YWxkTrZu'

/** A form with a chosen file, as a browser sends it. */
export function upload(name: string, content: Uint8Array): Sent {
  return multipart([[name, content]])
}

/** The same form without its end. */
const unfinished = (sent: Sent): Sent => ({
  ...sent,
  body: Buffer.from(sent.body ?? '').subarray(0, -BOUNDARY.length - 8),
})

/** A form with files, as a browser sends it. */
export function multipart(files: readonly (readonly [name: string, content: Uint8Array])[]): Sent {
  const headOf = (name: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n`
  const parts = files.flatMap(([name, content]) => [Buffer.from(headOf(name)), content, Buffer.from('\r\n')])
  const body = Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
  return form(body, { ...own, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` })
}

/** A file of 256 kB that begins like another. */
function padded(head: Uint8Array, byte: number): Uint8Array {
  const file = new Uint8Array(256 * 1024).fill(byte)
  file.set(head)
  return file
}

const held = (fields: string) => `email=a%40b.example&password=x&held=${encodeURIComponent(fields)}`
const credentials = 'email=nobody%40b.example&password=wrong'

/** Signing in, and the forms and lists of the console. */
export const consoleForms: readonly HostileCase[] = [
  atOnce('200 people who sign in at once', [422, 429], 200, (target, index) =>
    ask(
      target.url,
      '/sign-in',
      form(`email=p${index}%40b.example&password=wrong`, { ...urlencoded, ...asNewVisitor() }),
    ),
  ),
  atOnce('500 wrong sessions at once', [303], 500, (target, index) =>
    ask(target.url, `/console/${target.slug}/now`, {
      headers: { ...host, cookie: `__Host-allclear=${String(index).padStart(43, 'A')}` },
    }),
  ),
  atOnce('200 wrong links at once', [410], 200, (target, index) =>
    ask(target.url, `/invitations/${String(index).padStart(43, 'A')}`, { headers: host }),
  ),
  requesting(
    'signing in: a password of 250 kB',
    [422, 429],
    '/sign-in',
    form(`email=a%40b.example&password=${'ü'.repeat(40_000)}`),
  ),
  ...[
    ['/sign-in', 'email=a%40b.example&', 'password'],
    ['/sign-in', 'password=a&', 'email'],
    ['/sign-in/code', `token=${'A'.repeat(43)}&`, 'code'],
  ].map(([path = '', others = '', name = '']) =>
    requesting(
      `${path}: 100,000 combining marks as ${name}`,
      [303, 413, 422, 429],
      path,
      form(`${others}${name}=a${marks}`),
    ),
  ),
  requesting('signing in: a form of 10 MB', [413, 422, 0], '/sign-in', form('x'.repeat(10 ** 7))),
  requesting('signing in: 60,000 fields', [422, 429], '/sign-in', form('a=1&'.repeat(60_000))),
  requesting('signing in: a held form of brackets', [422, 429], '/sign-in', form(held('['.repeat(80_000)))),
  requesting(
    'signing in: a held form of 20,000 fields',
    [413, 422, 429],
    '/sign-in',
    form(held(JSON.stringify({ path: '/console', fields: Array(15_000).fill(['a', 'b']) }))),
  ),
  requesting('signing in: where to, 12 kB', [200, 303, 414, 431], `/sign-in?to=${'/%2f'.repeat(3000)}`, {
    headers: host,
  }),
  requesting(
    'signing in: unterminated parts',
    [422, 429],
    '/sign-in',
    form('--x\r\n\r\n'.repeat(25_000), { ...own, 'content-type': 'multipart/form-data; boundary=x' }),
  ),
  requesting(
    'signing in: a cookie of 12 kB',
    [422, 429, 431],
    '/sign-in',
    form(credentials, { ...urlencoded, cookie: '__Host-allclear=a; '.repeat(600) }),
  ),
  requesting('the setup: a token of 12 kB', [303, 403, 414, 431], `/setup?token=${'a'.repeat(12_000)}`, {
    headers: host,
  }),
  asMember('a form of 2 MB', [413, 422], 'start', form('target='.padEnd(2 * 1024 * 1024, 'x'))),
  asMember('a form of 300,000 fields', [413, 422], 'page', form('links.label=1&'.repeat(140_000))),
  asMember(
    '50,000 parts',
    [413, 422],
    'start',
    form('--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(35_000), {
      ...own,
      'content-type': 'multipart/form-data; boundary=x',
    }),
  ),
  asMember('a logo that says 4 billion pixels', [422], 'page', upload('logo', png(65_535, 65_535))),
  ...[0x00, 0xc0, 0xff].map((byte) =>
    asMember(`a logo of 256 kB of ${byte}`, [422], 'page', upload('logo', padded(jpeg(1, 1).slice(0, 6), byte))),
  ),
  asMember('a logo of 100,000 groups', [422], 'page', upload('logo', svg('<g>'.repeat(80_000)))),
  asMember('a preview with a logo of 256 kB', [200], 'page/preview', upload('logo', padded(png(9, 9), 0x3c))),
  // A longer field is refused before the form is read.
  ...(
    [
      [4000, 200],
      [5000, 422],
    ] as const
  ).map(([length, status]) =>
    asMember(
      `a preview of wrong values, with a name of ${length} letters`,
      [status],
      'page/preview',
      form(`name=${'a'.repeat(length)}&accentColor=red&timeZone=x`),
    ),
  ),
  asMember(
    'a browser with keys of 12 kB',
    [422],
    'account/browsers',
    form(`endpoint=https://a.example/&p256dh=${'A'.repeat(12_000)}&auth=${'A'.repeat(12_000)}`),
  ),
  asMember(
    'a browser at an address of this machine',
    [422],
    'account/browsers',
    form(`endpoint=http://127.0.0.1/&p256dh=${'A'.repeat(87)}&auth=${'A'.repeat(22)}`),
  ),
  ...(
    [
      [4000, 404],
      [5000, 422],
    ] as const
  ).map(([length, status]) =>
    asMember(
      `a test of a browser that is none, with an id of ${length} letters`,
      [status],
      'account/browsers/test',
      form(`id=${'z'.repeat(length)}`),
    ),
  ),
  asMember('a logo of 3 MB', [413], 'page', upload('logo', new Uint8Array(3 * 1024 * 1024))),
  asMember('a logo with a page behind it', [422], 'page', upload('logo', padded(png(9, 9), 0x3c))),
  asMember('a file for a field that takes none', [422], 'page', upload('name', png(9, 9))),
  asMember('a file that does not end', [422], 'page', unfinished(upload('logo', png(9, 9)))),
  asMember(
    'an incident with a message of stars',
    [200, 422],
    'incidents/new',
    form(`title=a&status=INVESTIGATING&impact=MINOR&preview=1&message=${'*a_'.repeat(3300)}`),
  ),
  ...['now', 'incidents', 'services', 'monitors', 'subscribers', 'deliveries', 'log', 'people', 'plan'].map((path) =>
    asMember(`the screen ${path}`, [200], path),
  ),
  ...[' ', '\t ', ' : ', ' ~ ', '! '].map((piece) =>
    asMember(
      `a monitor that expects a header of 100 ${JSON.stringify(piece)}`,
      [422],
      'monitors/new',
      form(
        // The address is refused, so that nothing is created even if a piece is the name of a header.
        `kind=HTTP&name=a&http.url=none&http.expectedHeaders=${encodeURIComponent(`${piece.repeat(100)}\u2028x`)}`,
      ),
    ),
  ),
  asMember('incidents with a text of 5 kB', [200, 414, 422], `incidents?text=${'%25_'.repeat(1500)}`),
  asMember('monitors with a text of 5 kB', [200, 414, 422], `monitors?text=${'%25_'.repeat(1500)}`),
  asMember('a log before what is none', [200, 414], `log?before=${'z'.repeat(5000)}&kind=${'A'.repeat(5000)}`),
]
