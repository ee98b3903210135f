import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { IntegrationKind } from '../../src/generated/prisma/enums.ts'
import { samples } from '../integration/samples.ts'
import { doorsOf } from '../support/runs.ts'
import { bomb } from './bomb.ts'
import type { HostileCase, Sent, Target } from './case.ts'
import { ask, mutate, query, requesting } from './case.ts'
import { mutation } from './inputs.ts'

/** How long to wait until a large body is processed. */
const PATIENCE = 20_000

interface Address {
  readonly id: string
  readonly path: string
  readonly secret: string
}

const made = new WeakMap<Target, Map<IntegrationKind, Promise<Address>>>()

/** Returns the address of the attacker's own integration of a kind, created on the first call. */
function addressOf(target: Target, kind: IntegrationKind): Promise<Address> {
  const known = made.get(target) ?? new Map<IntegrationKind, Promise<Address>>()
  made.set(target, known)
  const address = known.get(kind) ?? create(target, kind)
  known.set(kind, address)
  return address
}

async function create(target: Target, kind: IntegrationKind): Promise<Address> {
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

/** A case of a body for an integration; if it is accepted, waits until it is processed, and expects `read`. */
function incoming(
  name: string,
  kind: IntegrationKind,
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

/** Returns the status of an integration's last body after its processing: pending if it will be retried. */
async function outcomeOf(target: Target, id: string): Promise<string> {
  const document = '{ organization { alertIntegrations { nodes { id bodies { nodes { status note } } } } } }'
  const end = Date.now() + PATIENCE
  for (;;) {
    await sleep(20)
    const { organization } = await query<{
      organization: {
        alertIntegrations: { nodes: { id: string; bodies: { nodes: { status: string; note: string }[] } }[] }
      }
    }>(target, document)
    const last = organization.alertIntegrations.nodes.find((each) => each.id === id)?.bodies.nodes[0]
    if (last && (last.status !== 'PENDING' || last.note !== '')) return last.status
    if (Date.now() > end) throw new Error('The body was not read in time.')
  }
}

/** A case of so many simultaneous requests, all answered with one of these statuses. */
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

/** A case of bodies that arrive very slowly, during which a sender with a complete one is answered. */
function slowBodies(count: number): HostileCase {
  return {
    name: `an alert that comes in: ${count} bodies that hardly arrive`,
    statuses: [202],
    async send(target) {
      const { path } = await addressOf(target, 'GENERIC')
      const { hostname, port } = new URL(target.url)
      const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{`
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

/** Nests as deep as a body has room for. */
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
/** An object that cannot be converted to text. */
const textless = '{"toString":1,"valueOf":1}'
const enqueue = '/v2/enqueue'
const alertmanager = (alert: string) => `{"version":"4","groupKey":"g","status":"firing","alerts":[${alert}]}`

/** The total size of hostile values in a body; a body may have 256 KiB, and SNS quotes its own in another. */
const ROOM = 100_000

/** Hostile replacements for each value of a body, by description; the argument is the maximum bytes of each. */
const strangeValues: Readonly<Record<string, (room: number) => string>> = {
  'are objects of which no text can be made': () => textless,
  'nest as deep as there is room for': (room) => deep('[', ']', Math.floor(room / 2)),
  'nest in objects': (room) => deep('{"a":', '}', Math.floor(room / 6)).replace(':}', ':1}'),
  'are lists of lists': (room) =>
    `[${Array(Math.floor(room / 3))
      .fill('[]')
      .join()}]`,
  'are long texts': (room) => JSON.stringify('*_[](\u202e'.repeat(Math.floor(room / 14))),
  'are blanks': (room) => JSON.stringify(' '.repeat(Math.floor(room))),
  'are dates that almost are': (room) => JSON.stringify(`2026-11-20T11:59:00.${'0'.repeat(Math.floor(room))}`),
  'are numbers that are none': () => '-1e999',
  'are named as what objects inherit': () =>
    '{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},"hasOwnProperty":1,"then":1,"length":1e9}',
}

/** Writes a body as JSON with a text in place of each scalar. */
function written(value: unknown, leaf: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => written(each, leaf)).join()}]`
  if (typeof value !== 'object' || value === null) return leaf
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${written(each, leaf)}`)
  return `{${members.join()}}`
}

const leavesOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, each) => sum + leavesOf(each), 0)
    : 1

/** Replaces values in a sender's body. */
type Distortion = (sample: object) => string

/**
 * Each hostile value, once in place of all values of a sample, and once in place of those that do not decide what the
 * alert means.
 */
const distortions = Object.values(strangeValues).flatMap((value): Distortion[] => [
  (sample) => written(sample, value(ROOM / leavesOf(sample))),
  (sample) => {
    const members = Object.entries(sample).map(([name, each]) => {
      const isKept = ['version', 'groupKey', 'event_action', 'transition', 'action', 'state', 'status'].includes(name)
      return `${JSON.stringify(name)}:${isKept ? JSON.stringify(each) : written(each, value(ROOM / leavesOf(sample)))}`
    })
    return `{${members.join()}}`
  },
])
const sentDistortions = doorsOf(distortions, Object.values(IntegrationKind))

/** A case of a sender's bodies with hostile values, one after the other. All must be processed. */
function strangeBodies(kind: IntegrationKind): HostileCase {
  const bodies = sentDistortions.filter(([, kinds]) => kinds.includes(kind)).map(([distort]) => distort(samples[kind]))
  const cases = bodies.map((body) => incoming('', kind, kind === 'SNS' ? sns('', { Message: body }) : body))
  return {
    name: `alerts that come in: ${kind} with strange values`,
    statuses: [202],
    async send(target) {
      for (const each of cases) {
        const status = await each.send(target)
        if (status !== 202) return status
      }
      return 202
    },
  }
}

/** Label patterns that make a regular expression backtrack excessively. */
const patterns: HostileCase = {
  name: 'an alert for 20 rules of patterns that almost match',
  statuses: [202],
  async send(target) {
    const value = `${'*a'.repeat(149)}*b`
    const rules = Array.from({ length: 20 }, () => ({ labels: Array(10).fill({ name: 'a', value }) }))
    const selection = '... on Integration { id url }'
    const input = { name: 'Patterns', kind: 'GENERIC', rules }
    const { id, url } = await mutate<{ id: string; url: string }>(target, 'createIntegration', input, selection)
    const body = JSON.stringify({ title: 'a', labels: { a: 'a'.repeat(300) } })
    const status = await ask(target.url, new URL(url).pathname, posted(body))
    if (status === 202 && (await outcomeOf(target, id)) !== 'IGNORED') throw new Error('It matched.')
    await query(target, 'mutation ($id: ID!) { deleteIntegration(id: $id) { __typename } }', { id })
    return status
  },
}

/** Alerts from other tools, or from anyone who has an address; and links that acknowledge alerts. */
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
  {
    name: 'alerts that come in: 60 of 177 kB at once, with 6,000 labels each',
    statuses: [202],
    async send(target) {
      const { id, path } = await addressOf(target, 'GENERIC')
      const labels = Object.fromEntries(Array.from({ length: 6000 }, (_, n) => [`label_${n}`, `the value ${n}`]))
      const body = JSON.stringify({ title: 'a', labels })
      const all = await Promise.all(Array.from({ length: 60 }, () => ask(target.url, path, posted(body))))
      await outcomeOf(target, id)
      return all.find((status) => status !== 202) ?? 202
    },
  },
  incoming('250 kB of brackets', 'GENERIC', brackets, { read: 'IGNORED' }),
  incoming('250 kB of brackets that nothing closes', 'GENERIC', '['.repeat(250_000), { read: 'REFUSED' }),
  incoming('a title that nests 100,000 deep', 'GENERIC', `{"key":"a","title":${deep('[', ']', 100_000)}}`, {
    read: 'DONE',
  }),
  incoming('10,000 labels', 'GENERIC', JSON.stringify({ title: 'Labels', labels }), { read: 'DONE' }),
  incoming(
    'labels named like inherited members of objects',
    'GENERIC',
    '{"title":"a","labels":{"__proto__":"a","constructor":"b"}}',
    {
      read: 'DONE',
    },
  ),
  incoming('members of wrong types', 'GENERIC', `{"title":5,"key":[],"state":{},"labels":"x","text":${textless}}`, {
    read: 'DONE',
  }),
  incoming('what is no UTF-8', 'GENERIC', Buffer.alloc(200_000, 0xff), { statuses: [400] }),
  incoming('zeros', 'GENERIC', JSON.stringify({ title: '\0\ud800', text: '\0'.repeat(30_000) }), { read: 'IGNORED' }),
  incoming('200 kB of Markdown characters', 'GENERIC', JSON.stringify({ title: '*_[', text: '*_[]('.repeat(40_000) }), {
    read: 'DONE',
  }),
  incoming('a gzip bomb', 'GENERIC', bomb(200, 0x5b), {
    headers: { 'content-encoding': 'gzip' },
    statuses: [413],
  }),
  incoming('a gzip bomb that says to be two', 'GENERIC', bomb(200, 0x5b), {
    headers: { 'content-encoding': 'gzip, gzip' },
    statuses: [413],
  }),
  incoming('a gzip bomb that says to be none', 'GENERIC', bomb(200, 0x5b), { statuses: [400] }),
  incoming('a body in 100 codings', 'GENERIC', bomb(200, 0x5b), {
    headers: { 'content-encoding': Array(100).fill('gzip').join() },
    statuses: [415],
  }),
  incoming('3,000 alerts in a group', 'ALERTMANAGER', alertmanager(Array(3000).fill('{"labels":{"a":"b"}}').join()), {
    read: 'DONE',
  }),
  incoming('starts that are no times', 'ALERTMANAGER', alertmanager(`{"startsAt":${textless}},{"startsAt":1}`), {
    read: 'DONE',
  }),
  incoming(
    '80,000 starts of one alert',
    'ALERTMANAGER',
    alertmanager(`{"startsAt":[${Array(80_000).fill('[]').join()}]}`),
    { read: 'DONE' },
  ),
  ...(['ALERTMANAGER', 'GRAFANA'] as const).map((kind) =>
    incoming(
      `1,000 alerts of ${kind} that have 10,000 labels in common`,
      kind,
      JSON.stringify({ ...samples[kind], commonLabels: labels, alerts: Array(1000).fill({}) }),
      { read: 'DONE' },
    ),
  ),
  incoming(
    'an id that cannot be converted to text',
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
    read: 'PENDING',
  }),
  incoming('a message of SNS that nests', 'SNS', sns('', { Message: JSON.parse(deep('[', ']', 500)) }), {
    read: 'REFUSED',
  }),
  slowBodies(200),
  ...Object.values(IntegrationKind).map(strangeBodies),
  mutation('an integration with paths to inherited members of objects', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'GENERIC' },
    paths: { title: '__proto__.constructor.name', labels: 'constructor.prototype', resolvedValues: ['toString'] },
  })),
  mutation('an integration with a path of 100 kB', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'GENERIC', paths: { title: 'a.'.repeat(50_000), text: `a${'[0]'.repeat(30_000)}` } },
  })),
  mutation('an integration with an almost valid path', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'GENERIC', paths: { title: `$.${'a-a.'.repeat(50)}!` } },
  })),
  mutation('an integration with 10,000 rules', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'DATADOG', rules: Array(10_000).fill({ labels: [{ name: 'a', value: '*' }] }) },
  })),
  mutation('an integration whose rule has 10,000 labels', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'DATADOG', rules: [{ labels: Array(10_000).fill({ name: '__proto__', value: '*' }) }] },
  })),
  mutation('an integration with a signing secret of 200 kB', 'createIntegration', () => ({
    ...{ name: 'Hostile', kind: 'GENERIC', signingSecret: `whsec_${'A'.repeat(200_000)}` },
  })),
  patterns,
  mutation('a channel with 10,000 monitors', 'createAlertChannel', () => ({
    ...{ name: 'Hostile', address: { ntfy: { topic: 'ops' } }, monitorIds: Array(10_000).fill('mon_none') },
  })),
  mutation('a channel with 10,000 quiet times', 'createAlertChannel', () => ({
    ...{ name: 'Hostile', address: { ntfy: { topic: 'ops' } } },
    quietTimes: { windows: Array(10_000).fill({ days: ['MONDAY'], from: '00:00', to: '24:00' }) },
  })),
  mutation('a channel in a zone of 100 kB', 'createAlertChannel', () => ({
    ...{ name: 'Hostile', address: { ntfy: { topic: 'ops' } } },
    quietTimes: {
      windows: [{ days: ['MONDAY'], from: '22:00', to: '07:00' }],
      timeZone: 'Europe/'.repeat(15_000),
    },
  })),
  mutation('a channel at a URL of 100 kB', 'createAlertChannel', () => ({
    ...{ name: 'Hostile', address: { webhook: { url: `https://a.example/${'a/'.repeat(50_000)}` } } },
  })),
  mutation('a channel with an email address of 100 kB', 'createAlertChannel', () => ({
    ...{ name: 'Hostile', address: { mail: { address: `${'a.'.repeat(50_000)}a@b.example` } } },
  })),
]
