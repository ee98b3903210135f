import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { post } from '../../support/graphql-client.ts'
import { linkIn } from '../../support/mail-server.ts'
import { operatorToken } from '../../support/service-data.ts'
import { notifyingService, run, SUBSCRIBE } from '../service.ts'

const { url, mail, receiver, page } = await notifyingService()
const mine = await page()
const theirs = await page()
const subscribe = (key: string | undefined, address: object) =>
  run(url, key, SUBSCRIBE, { input: { slug: mine.slug, address } })
const byToken = (name: string, token: string, selection = 'state') =>
  run(
    url,
    undefined,
    `mutation ($token: String!) { ${name}(input: { token: $token }) { ... on Subscriber { ${selection} } ... on Error { code message } } }`,
    { token },
  )

test('a webhook can be confirmed, rotated and ended with its token', async () => {
  await subscribe(undefined, { webhook: `${receiver.url}/hook` })
  const [asked] = await receiver.arrived(1)
  const { type, data } = JSON.parse(asked?.body ?? '{}')
  expect(type).toBe('subscription.confirm')
  const token = data.confirm_url.split('/').at(-1)
  expect(await run(url, undefined, `{ subscriber(token: "${token}") { state address services { name } } }`)).toEqual({
    state: 'PENDING',
    address: expect.stringContaining('/…hook'),
    services: [],
  })
  const { state, signingSecret = '' } = await byToken('confirmSubscription', token, 'state signingSecret')
  expect(state).toBe('ACTIVE')
  const { signingSecret: newer = '' } = await byToken('rotateWebhookSecret', token, 'signingSecret')
  const id = await mine.incident('Down')
  const [, reported] = await receiver.arrived(2)
  for (const secret of [signingSecret, newer]) {
    expect(new Webhook(secret).verify(reported?.body ?? '', reported?.headers as Record<string, string>)).toMatchObject(
      {
        type: 'incident.created',
        data: { incident: { id, title: 'Down', url: `${url}/status/${mine.slug}/incidents/${id}` } },
      },
    )
  }
  const update = `mutation ($input: UpdateSubscriptionInput!) { updateSubscription(input: $input) {
    ... on Subscriber { topics allServices services { id } } ... on Error { message } } }`
  expect(
    await run(url, undefined, update, { input: { token, topics: ['MAINTENANCES'], serviceIds: [mine.serviceId] } }),
  ).toEqual({
    topics: ['MAINTENANCES'],
    allServices: false,
    services: [{ id: mine.serviceId }],
  })
  expect(await byToken('unsubscribe', token, 'state stopReason')).toEqual({
    state: 'STOPPED',
    stopReason: 'UNSUBSCRIBED',
  })
  expect(await byToken('unsubscribe', 'wrong')).toMatchObject({ code: 'NOT_FOUND' })
  expect(await run(url, undefined, '{ subscriber(token: "wrong") { state } }')).toBe(null)
})

test('the response to a visitor is the same for known and unknown addresses', async () => {
  await subscribe(mine.key, { email: 'known@reader.example' })
  const known = await subscribe(undefined, { email: 'known@reader.example' })
  expect(known).toEqual({ message: expect.stringContaining('confirmation link'), subscriber: null })
  expect(await subscribe(undefined, { email: 'unknown@reader.example' })).toEqual(known)
  const emails = await mail.arrived(2, ({ envelopeTo }) => envelopeTo.endsWith('known@reader.example'))
  expect(emails.map(({ subject }) => subject).sort()).toEqual([
    '[Acme] Confirm your subscription',
    '[Acme] You’re already subscribed',
  ])
  for (const email of emails) expect(linkIn(email, `${url}/subscriptions/`)).toMatch(/\/[0-9a-v]{32}$/)
})

describe('the organization', () => {
  test('lists its subscribers by channel, state and address, and deletes them', async () => {
    const { subscriber } = await subscribe(mine.key, { email: 'zoe@reader.example' })
    const { id } = subscriber as unknown as { id: string }
    const list = (filter: string) =>
      run(
        url,
        mine.key,
        `{ organization { subscribers(first: 50, filter: ${filter}) { totalCount edges { node { id address state channel } } } } }`,
      )
    expect(await list('{ address: "ZOE@", channel: [EMAIL], state: [ACTIVE, PENDING] }')).toEqual({
      subscribers: {
        totalCount: 1,
        edges: [{ node: { id, address: 'zoe@reader.example', state: 'ACTIVE', channel: 'EMAIL' } }],
      },
    })
    expect(await list('{ address: "zoe\\u0001", state: [STOPPED] }')).toMatchObject({ subscribers: { totalCount: 0 } })
    const remove = (key: string) =>
      run(
        url,
        key,
        `mutation { deleteSubscriber(id: "${id}") { ... on DeleteSubscriberPayload { id } ... on Error { code } } }`,
      )
    expect(await remove(theirs.key)).toEqual({ code: 'NOT_FOUND' })
    expect(await remove(mine.key)).toEqual({ id })
    expect(await list('{ address: "zoe" }')).toMatchObject({ subscribers: { totalCount: 0 } })
  })

  test('imports addresses', async () => {
    const { key } = await page()
    const input = { csv: 'email\nada@import.example\nnobody\n' }
    const query = `mutation ($input: ImportSubscribersInput!) { importSubscribers(input: $input) {
      ... on ImportSubscribersPayload { imported known problems { line message } } ... on Error { code } } }`
    expect(await run(url, key, query, { input })).toEqual({
      imported: 1,
      known: 0,
      problems: [{ line: 3, message: 'must be an email address' }],
    })
  })

  test('reads every attempt of a delivery and sends it again', async () => {
    const { slug, key, incident } = await page()
    await run(url, key, SUBSCRIBE, { input: { slug, address: { webhook: `${receiver.url}/seen` } } })
    let refusals = 1
    receiver.answer = ({ path }) => (path === '/seen' && refusals-- > 0 ? { status: 410 } : { status: 200 })
    const subjectId = await incident('Seen')
    const deliveries = `{ organization { deliveries(filter: { status: [FAILED, DELIVERED] }) { totalCount edges { node {
      id status channel nextAttemptAt event { kind subjectId } subscriber { state stopReason }
      attempts { delivered status message } } } } } }`
    interface Found {
      readonly edges: readonly {
        readonly node: { readonly id: string; readonly subscriber: { readonly state: string } }
      }[]
    }
    const ended = async (): Promise<Found> => {
      const found = (await run(url, key, deliveries))['deliveries'] as unknown as Found
      return found.edges[0]?.node.subscriber.state === 'STOPPED' ? found : ended()
    }
    const failed = await ended()
    expect(failed).toMatchObject({
      totalCount: 1,
      edges: [
        {
          node: {
            status: 'FAILED',
            channel: 'WEBHOOK',
            nextAttemptAt: null,
            event: { kind: 'INCIDENT_CREATED', subjectId },
            subscriber: { state: 'STOPPED', stopReason: 'GONE' },
            attempts: [{ delivered: false, status: 410, message: 'Answered with status 410.' }],
          },
        },
      ],
    })
    const id = failed.edges[0]?.node.id
    const again = (by: string) =>
      run(url, by, `mutation { redeliver(id: "${id}") { ... on Delivery { status } ... on Error { code message } } }`)
    expect(await again(theirs.key)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await again(key)).toMatchObject({ code: 'CONFLICT', message: 'The subscriber is no longer active.' })
  })
})

test('the operator reports a complaint', async () => {
  await subscribe(mine.key, { email: 'angry@reader.example' })
  const report = (key: string | undefined) =>
    post(url, {
      key,
      query: `mutation { reportBounce(input: { email: "angry@reader.example", kind: COMPLAINT }) {
        ... on ReportBouncePayload { stopped } ... on Error { code } } }`,
    })
  expect((await report(operatorToken)).data).toEqual({ reportBounce: { stopped: 1 } })
  expect((await report(mine.key)).errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN')
  expect((await report(undefined)).errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
})

test('subscribers are invisible without a token or a key of the page', async () => {
  const { subscriber } = await subscribe(mine.key, { webhook: 'https://hooks.example/private' })
  const { id } = subscriber as unknown as { id: string }
  const node = `{ node(id: "${id}") { ... on Subscriber { address signingSecret } } }`
  expect(await run(url, undefined, node)).toBe(null)
  expect(await run(url, theirs.key, node)).toBe(null)
  expect(await run(url, mine.key, node)).toEqual({
    address: 'hooks.example/…vate',
    signingSecret: expect.stringMatching(/^whsec_/),
  })
})
