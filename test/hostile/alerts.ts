import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { HostileCase, Sent, Target } from './case.ts'
import { ask, mutate, query, requesting } from './case.ts'

type Kind = 'GENERIC' | 'ALERTMANAGER' | 'SENTRY' | 'SNS' | 'PAGERDUTY_EVENTS'

/** How long a body that says a lot is waited for until it is read. */
const PATIENCE = 20_000

interface Address {
  readonly id: string
  readonly path: string
  readonly secret: string
}

const made = new WeakMap<Target, Map<Kind, Promise<Address>>>()

/** The address of the attacker's own integration of a kind, which is made once. */
function addressOf(target: Target, kind: Kind): Promise<Address> {
  const known = made.get(target) ?? new Map<Kind, Promise<Address>>()
  made.set(target, known)
  const address = known.get(kind) ?? create(target, kind)
  known.set(kind, address)
  return address
}

async function create(target: Target, kind: Kind): Promise<Address> {
  const input = { name: `Hostile ${kind}`, kind }
  const { id, url } = await mutate<{ id: string; url: string }>(
    target,
    'createIntegration',
    input,
    '... on Integration { id url }',
  )
  const { pathname } = new URL(url)
  return { id, path: pathname, secret: pathname.split('/').at(-1) ?? '' }
}

const json = { 'content-type': 'application/json' }
const posted = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body,
})

/** A case of what is sent to an integration; what it accepts is waited for until it is read, and must become `read`. */
function incoming(
  name: string,
  kind: Kind,
  body: string | Buffer | ((secret: string) => string),
  {
    statuses = [202],
    read,
    ...more
  }: { statuses?: readonly number[]; read?: string; path?: string; headers?: Record<string, string> } = {},
): HostileCase {
  return {
    name: `an alert that comes in: ${name}`,
    statuses,
    async send(target) {
      const { id, path, secret } = await addressOf(target, kind)
      const text = typeof body === 'function' ? body(secret) : body
      const status = await ask(target.url, more.path ?? path, posted(text, more.headers))
      if (status !== 202) return status
      const became = await outcomeOf(target, id)
      if (read !== undefined && became !== read) throw new Error(`It became ${became}, not ${read}.`)
      return status
    },
  }
}

/** Returns what became of the last body of an integration, once it is read. */
async function outcomeOf(target: Target, id: string): Promise<string> {
  const document = '{ organization { integrations { id received { status } } } }'
  const end = Date.now() + PATIENCE
  for (;;) {
    const { organization } = await query<{
      organization: { integrations: { id: string; received: { status: string }[] }[] }
    }>(target, document)
    const status = organization.integrations.find((each) => each.id === id)?.received[0]?.status
    if (status !== undefined && status !== 'PENDING') return status
    if (Date.now() > end) throw new Error('Nobody has read it.')
    await sleep(20)
  }
}

/** A case of so many requests at once, all answered with one of these statuses. */
function atOnce(
  name: string,
  statuses: readonly number[],
  count: number,
  path: (index: number) => string,
  sent: Sent,
): HostileCase {
  return {
    name,
    statuses,
    async send({ url }) {
      const all = await Promise.all(Array.from({ length: count }, (_, index) => ask(url, path(index), sent)))
      return all.find((status) => !statuses.includes(status)) ?? statuses[0] ?? 0
    },
  }
}

/** A case of bodies that hardly arrive, during which a sender with a whole one is answered. */
function slowBodies(count: number): HostileCase {
  return {
    name: `an alert that comes in: ${count} bodies that hardly arrive`,
    statuses: [202],
    async send(target) {
      const { path } = await addressOf(target, 'GENERIC')
      const { hostname, port } = new URL(target.url)
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{`
      const sockets = Array.from({ length: count }, () => {
        const socket = connect(Number(port), hostname).on('error', () => {})
        socket.write(head)
        return socket
      })
      for (let turn = 0; turn < 10; turn++) {
        await sleep(10)
        for (const socket of sockets) socket.write(' ')
      }
      const status = await ask(target.url, path, posted('{"title":"a"}'))
      for (const socket of sockets) socket.destroy()
      return status
    },
  }
}

/** What nests as deep as a body has room for. */
const deep = (open: string, close: string, count: number) => open.repeat(count) + close.repeat(count)
const brackets = deep('[', ']', 125_000)
const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`l${n}`, 'v']))
const token = 'A'.repeat(43)
const event = (more: string) => (secret: string) => `{"routing_key":"${secret}","event_action":"trigger",${more}}`
const sns = (SigningCertURL: string, more: object = {}) =>
  JSON.stringify({
    ...{ Type: 'SubscriptionConfirmation', MessageId: 'm', Token: 't', TopicArn: 'arn:aws:sns:eu-west-1:1:ops' },
    ...{ Message: 'm', Timestamp: '2026-11-20T12:00:00.000Z', SignatureVersion: '2', Signature: 'AAAA' },
    ...{ SubscribeURL: 'http://127.0.0.1/', SigningCertURL },
    ...more,
  })
/** No text can be made of such an object. */
const textless = '{"toString":1,"valueOf":1}'
const enqueue = '/v2/enqueue'
const alertmanager = (alert: string) => `{"version":"4","groupKey":"g","status":"firing","alerts":[${alert}]}`

/** What other tools, or whoever has an address, send as alerts; and links that acknowledge alerts. */
export const alerts: readonly HostileCase[] = [
  atOnce(
    '300 wrong secrets of integrations',
    [404],
    300,
    (n) => `/api/v1/integrations/${String(n).padStart(32, 'a')}`,
    posted('{}'),
  ),
  atOnce('300 wrong routing keys', [404], 300, () => enqueue, posted('{"routing_key":"x","event_action":"trigger"}')),
  atOnce('300 wrong links of alerts', [404], 300, (n) => `/alerts/${String(n).padStart(43, 'A')}`, {}),
  atOnce('300 wrong links of alerts whose button is pressed', [404], 300, () => `/alerts/${token}`, { method: 'POST' }),
  requesting('a link of an alert of 12 kB', [404, 414, 431], `/alerts/${'A'.repeat(12_000)}`, {}),
  requesting('a link of an alert with zeros', [400, 404], `/alerts/${'%00'.repeat(43)}`, {}),
  requesting('a link of an alert with a form of 10 MB', [404, 413, 0], `/alerts/${token}`, posted('x'.repeat(10 ** 7))),
  requesting('a secret of 12 kB', [404, 414, 431], `/api/v1/integrations/${'a'.repeat(12_000)}`, posted('{}')),
  requesting('a routing key that is a list', [400], enqueue, posted('{"routing_key":[["a"]],"event_action":{}}')),
  requesting(
    'a routing key of 200 kB',
    [404],
    enqueue,
    posted(`{"routing_key":"${'a'.repeat(200_000)}","event_action":""}`),
  ),
  incoming('10 MB', 'GENERIC', 'x'.repeat(10 ** 7), { statuses: [413, 0] }),
  incoming('250 kB of brackets', 'GENERIC', brackets, { read: 'IGNORED' }),
  incoming('250 kB of brackets that nothing closes', 'GENERIC', '['.repeat(250_000), { read: 'REFUSED' }),
  incoming('a title that nests 100,000 deep', 'GENERIC', `{"key":"a","title":${deep('[', ']', 100_000)}}`, {
    read: 'DONE',
  }),
  incoming('10,000 labels', 'GENERIC', JSON.stringify({ title: 'Labels', labels }), { read: 'DONE' }),
  incoming(
    'labels named as what objects inherit',
    'GENERIC',
    '{"title":"a","labels":{"__proto__":"a","constructor":"b"}}',
    {
      read: 'DONE',
    },
  ),
  incoming('members of wrong types', 'GENERIC', `{"title":5,"key":[],"state":{},"labels":"x","text":${textless}}`, {
    read: 'DONE',
  }),
  incoming('what is no UTF-8', 'GENERIC', Buffer.alloc(200_000, 0xff), { read: 'REFUSED' }),
  incoming('zeros', 'GENERIC', JSON.stringify({ title: '\0\ud800', text: '\0'.repeat(30_000) }), { read: 'IGNORED' }),
  incoming(
    '200 kB of marks that markdown knows',
    'GENERIC',
    JSON.stringify({ title: '*_[', text: '*_[]('.repeat(40_000) }),
    {
      read: 'DONE',
    },
  ),
  // Nothing is decompressed here.
  incoming('a gzip bomb', 'GENERIC', gzipSync(Buffer.alloc(200_000_000, 0x5b)).subarray(0, 250_000), {
    headers: { 'content-encoding': 'gzip' },
    read: 'REFUSED',
  }),
  incoming('3,000 alerts in a group', 'ALERTMANAGER', alertmanager(Array(3000).fill('{"labels":{"a":"b"}}').join()), {
    read: 'DONE',
  }),
  incoming('starts that are no times', 'ALERTMANAGER', alertmanager(`{"startsAt":${textless}},{"startsAt":1}`), {
    read: 'REFUSED',
  }),
  incoming(
    'an id of which no text can be made',
    'SENTRY',
    `{"action":"created","data":{"issue":{"id":${textless},"title":"a"}}}`,
    {
      read: 'REFUSED',
    },
  ),
  incoming(
    'an id that nests 100,000 deep',
    'SENTRY',
    `{"action":"created","data":{"issue":{"id":${deep('[', ']', 100_000)}}}}`,
    {
      read: 'REFUSED',
    },
  ),
  incoming('an event that nests 100,000 deep', 'PAGERDUTY_EVENTS', event(`"payload":${deep('[', ']', 100_000)}`), {
    path: enqueue,
    statuses: [400],
  }),
  incoming(
    'an event with 10,000 details',
    'PAGERDUTY_EVENTS',
    event(`"payload":{"summary":"a","custom_details":${JSON.stringify(labels)}}`),
    {
      path: enqueue,
      read: 'DONE',
    },
  ),
  incoming('a certificate of SNS at this machine', 'SNS', sns('http://127.0.0.1/a.pem'), { read: 'REFUSED' }),
  incoming('a certificate of SNS behind a name', 'SNS', sns('https://sns.eu-west-1.amazonaws.com@127.0.0.1/a.pem'), {
    read: 'REFUSED',
  }),
  incoming('a certificate of SNS that cannot be had', 'SNS', sns('https://sns.eu-west-1.amazonaws.com/a.pem'), {
    read: 'REFUSED',
  }),
  incoming('a message of SNS that nests', 'SNS', sns('', { Message: JSON.parse(deep('[', ']', 500)) }), {
    read: 'REFUSED',
  }),
  slowBodies(200),
]
