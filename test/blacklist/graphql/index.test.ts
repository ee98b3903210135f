import { describe, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { createGate, startDnsServer } from '../../support/dns-server.ts'
import { knownGeo } from '../../support/geo-files.ts'
import {
  liveTransports,
  newOrganization,
  openEventStream,
  post,
  type Result,
  transports,
  websocketClient,
} from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const listed = '203.0.113.7'
const behaviour = scriptedLists({
  '7.113.0.203.zen.spamhaus.org': ['127.0.0.2'],
  'mail.example.com': [listed],
  'example.com.black.uribl.com': ['127.0.0.2'],
})
const dns = await startDnsServer(behaviour)
const { baseUrl: url } = await testApp({
  dns,
  settings: { TRUST_PROXY: '127.0.0.1' },
  now: () => new Date('2026-11-20T12:00:00.000Z'),
})
const pro = await newOrganization(url, { pro: true })
const free = await newOrganization(url)

const result = 'name listed response description delistUrl error codes note'
const counts = 'totalChecked listedCount cleanCount failedCount'
const ipReport = `target targetKind checkedAt verdict ${counts} geo { country city isp asn } results { ${result} }`
const domainReport = `target targetKind checkedAt verdict ${counts} results { ${result} } resolvedIps resolvedIpsTruncated resolutionFailed ipReports { ${ipReport} }`
const error = '... on Error { __typename code message }'
const progress = `subscription ($target: String!) { checkProgress(target: $target) {
  __typename
  ... on ListAnswered { target result { ${result} } }
  ... on AddressesResolved { addresses checked }
  ... on IpReport { ${ipReport} }
  ... on DomainReport { domain: target ${counts} }
  ${error} ... on LimitExceededError { limit resetsAt } ... on ValidationError { issues { path message } }
} }`

/** Returns how many checks of the pro plan are used. */
async function used(): Promise<unknown> {
  const { data } = await post(url, { key: pro.key, query: '{ organization { usage { checks { used } } } }' })
  return ((data?.['organization'] ?? {}) as { usage?: { checks: { used: number } } }).usage?.checks.used
}

describe.each(transports)('over $name', ({ run }) => {
  const only = async (query: string, variables: Record<string, unknown> = {}, key: string | undefined = pro.key) => {
    const [first, ...more] = await run(url, { query, variables, key })
    expect(more).toEqual([])
    return first as Result
  }

  test('checkIp returns a report', async () => {
    const { data, errors } = await only(
      `query ($target: String!) { checkIp(target: $target) { ... on IpReport { ${ipReport} } ${error} } }`,
      { target: listed },
    )
    expect(errors).toBeUndefined()
    expect(data?.['checkIp']).toMatchObject({
      target: listed,
      targetKind: 'IP',
      checkedAt: '2026-11-20T12:00:00.000Z',
      totalChecked: 6,
      listedCount: 1,
      cleanCount: 5,
      failedCount: 0,
      geo: knownGeo,
    })
  })

  test('checkDomain returns a report', async () => {
    const { data } = await only(
      `{ checkDomain(target: "mail.example.com") { ... on DomainReport { ${domainReport} } ${error} } }`,
    )
    expect(data?.['checkDomain']).toMatchObject({
      targetKind: 'DOMAIN',
      totalChecked: 8,
      listedCount: 2,
      resolvedIps: [listed],
      results: [
        { name: 'SURBL multi', listed: false },
        { name: 'URIBL black', listed: true, codes: ['127.0.0.2'] },
      ],
      ipReports: [{ target: listed, listedCount: 1, geo: knownGeo }],
    })
  })

  test('blacklists returns the lists with their health', async () => {
    const { data } = await only(
      '{ blacklists { name kind zone description ipv6 health { status detail checkedAt latencyMs } } }',
      {},
      undefined,
    )
    const lists = data?.['blacklists'] as unknown as { kind: string; health: { status: string } }[]
    expect(lists.map(({ kind }) => kind)).toEqual([...Array.from({ length: 6 }, () => 'IP'), 'DOMAIN', 'DOMAIN'])
    expect(lists.map(({ health }) => health.status)).toEqual(Array.from({ length: 8 }, () => 'OK'))
  })

  test('bulkCheck counts as one check and keeps the order of targets', async () => {
    const before = Number(await used())
    const { data } = await only(
      `mutation ($targets: [String!]!) { bulkCheck(input: { targets: $targets }) { ... on BulkCheckPayload { results {
        __typename ... on IpReport { target } ... on DomainReport { target } ... on TargetError { target code message } } } ${error} } }`,
      { targets: [listed, 'mail.example.com', 'nonsense', '', listed] },
    )
    expect(data?.['bulkCheck']).toMatchObject({
      results: [
        { __typename: 'IpReport', target: listed },
        { __typename: 'DomainReport', target: 'mail.example.com' },
        { __typename: 'TargetError', target: 'nonsense', code: 'INVALID_TARGET' },
        { __typename: 'TargetError', target: '', code: 'MISSING_TARGET' },
        { __typename: 'IpReport', target: listed },
      ],
    })
    expect(await used()).toBe(before + 1)
  })

  test.each([
    ['{ checkIp(target: "") { ... on Error { __typename code } } }', 'MISSING_TARGET'],
    ['{ checkIp(target: "mail.example.com") { ... on Error { __typename code } } }', 'INVALID_TARGET'],
    ['{ checkDomain(target: "203.0.113.7") { ... on Error { __typename code } } }', 'INVALID_TARGET'],
    ['{ checkIp(target: "10.0.0.1") { ... on Error { __typename code } } }', 'TARGET_NOT_PUBLIC'],
    ['mutation { bulkCheck(input: { targets: [] }) { ... on Error { __typename code } } }', 'NO_TARGETS'],
    [
      `mutation { bulkCheck(input: { targets: [${'"a" '.repeat(21)}] }) { ... on Error { __typename code } } }`,
      'TOO_MANY_TARGETS',
    ],
  ])('an invalid request gives a typed error and costs nothing: %s', async (query, code) => {
    const before = await used()
    const { data } = await only(query)
    expect(Object.values(data ?? {})).toEqual([{ __typename: 'ValidationError', code }])
    expect(await used()).toBe(before)
  })

  test.each([
    [undefined, null, 'UNAUTHENTICATED', 'API_KEY_REQUIRED'],
    [free.key, null, 'FORBIDDEN', 'PRO_PLAN_REQUIRED'],
    [undefined, free.key, 'FORBIDDEN', 'PRO_PLAN_REQUIRED'],
    [pro.key, free.key, 'FORBIDDEN', 'PRO_PLAN_REQUIRED'],
    [pro.key, 'ac_wrong', 'UNAUTHENTICATED', 'INVALID_API_KEY'],
  ])(
    'bulk checks need a key with the pro plan, of which the argument counts first (%#)',
    async (key, apiKey, code, reason) => {
      const [answered] = await run(url, {
        ...(key && { key }),
        query:
          'mutation ($apiKey: String) { bulkCheck(input: { targets: ["203.0.113.7"], apiKey: $apiKey }) { __typename } }',
        variables: { apiKey },
      })
      expect(answered?.errors).toMatchObject([{ extensions: { code, reason } }])
    },
  )

  test('bulkCheck accepts the key as an argument', async () => {
    const [answered] = await run(url, {
      query:
        'mutation ($apiKey: String) { bulkCheck(input: { targets: ["203.0.113.7"], apiKey: $apiKey }) { __typename } }',
      variables: { apiKey: pro.key },
    })
    expect(answered?.data).toEqual({ bulkCheck: { __typename: 'BulkCheckPayload' } })
  })
})

test('the same target under three aliases is queried once and counted three times', async () => {
  const before = Number(await used())
  const name = '33.100.51.198.zen.spamhaus.org'
  const { data } = await post(url, {
    key: pro.key,
    query:
      '{ a: checkIp(target: "198.51.100.33") { ...T } b: checkIp(target: "198.51.100.33") { ...T } c: checkIp(target: "198.51.100.33") { ...T } } fragment T on IpReport { target failedCount }',
  })
  const report = { target: '198.51.100.33', failedCount: 0 }
  expect(data).toEqual({ a: report, b: report, c: report })
  expect(dns.queries.filter((query) => query.name === name)).toHaveLength(1)
  expect(await used()).toBe(before + 3)
})

describe.each(liveTransports)('checkProgress over $name', ({ run, name: transport }) => {
  const watch = async (target: string, key = pro.key) => {
    const results = await run(url, { key, query: progress, variables: { target } })
    expect(results.flatMap(({ errors }) => errors ?? [])).toEqual([])
    return results.map(({ data }) => data?.['checkProgress'] ?? {}) as Record<string, unknown>[]
  }
  const typesOf = (events: readonly Record<string, unknown>[]) => events.map(({ __typename }) => __typename)

  test('yields each list’s answer, then the report', async () => {
    const before = Number(await used())
    const events = await watch(listed)
    expect(typesOf(events)).toEqual([...Array.from({ length: 6 }, () => 'ListAnswered'), 'IpReport'])
    const report = events.at(-1)
    expect(report).toMatchObject({ target: listed, listedCount: 1 })
    const answered = events.slice(0, -1).map((event) => (event['result'] as { name: string }).name)
    expect(new Set(answered)).toEqual(
      new Set(((report?.['results'] ?? []) as { name: string }[]).map(({ name }) => name)),
    )
    expect(await used()).toBe(before + 1)
  })

  test('of a domain includes its addresses', async () => {
    const events = await watch('mail.example.com')
    expect(typesOf(events).filter((type) => type === 'ListAnswered')).toHaveLength(8)
    expect(events.find(({ __typename }) => __typename === 'AddressesResolved')).toMatchObject({
      addresses: [listed],
      checked: [listed],
    })
    expect(events.at(-1)).toMatchObject({ __typename: 'DomainReport', domain: 'mail.example.com', totalChecked: 8 })
  })

  test('of an invalid target gives one typed error, which costs nothing', async () => {
    const before = await used()
    expect(await watch('10.0.0.1')).toMatchObject([
      { __typename: 'ValidationError', code: 'TARGET_NOT_PUBLIC', issues: [{ path: ['target'] }] },
    ])
    expect(await watch('https://example.com/')).toMatchObject([
      { __typename: 'ValidationError', code: 'INVALID_TARGET' },
    ])
    expect(await used()).toBe(before)
  })

  test('yields answers before all lists have answered', async () => {
    const gate = createGate()
    const target = transport === 'websocket' ? '198.51.100.61' : '198.51.100.62'
    dns.behave(async (query) => {
      if (query.name.endsWith('.100.51.198.psbl.surriel.com')) await gate.opened
      return behaviour(query)
    })
    const events: Record<string, unknown>[] = []
    for await (const event of live(target)) {
      events.push(event)
      if (events.length === 5) gate.open()
    }
    dns.behave(behaviour)
    expect(events.map((event) => (event['result'] as { name?: string } | undefined)?.name).slice(5)).toEqual([
      'PSBL',
      undefined,
    ])
  })

  test('ends at once when its client disconnects, without waiting for queries', async () => {
    const last = transport === 'websocket' ? 71 : 72
    const name = `${last}.100.51.198.zen.spamhaus.org`
    const asked = () => dns.queries.filter((query) => query.name === name).length
    const gate = createGate()
    dns.behave(async (query) => {
      if (query.name.startsWith(`${last}.`)) await gate.opened
      return behaviour(query)
    })
    const before = dns.queries.length
    const left = live(`198.51.100.${last}`)
    const waiting = left.next()
    await dns.seen(before + 6)
    await left.return(undefined)
    await waiting.catch(() => undefined)
    // The server handles the disconnect within a few turns of its event loop.
    for (let trip = 0; trip < 3; trip++) await fetch(`${url}/healthz`)
    const askedBefore = asked()
    gate.open()
    expect(await watch(`198.51.100.${last}`)).toHaveLength(7)
    expect(asked()).toBe(askedBefore + 1)
    dns.behave(behaviour)
  })

  /** Yields the events as they arrive. Ending the iteration ends the subscription. */
  function live(
    target: string,
  ): AsyncIterator<Record<string, unknown>> &
    AsyncIterable<Record<string, unknown>> & { return(value: undefined): Promise<unknown> } {
    return transport === 'websocket' ? overSocket(target) : overStream(target)
  }
})

function overSocket(target: string) {
  const client = websocketClient(url, { apiKey: pro.key })
  const source = client.iterate({ query: progress, variables: { target } })
  const eventIn = (value: unknown) => ((value as Result).data?.['checkProgress'] ?? {}) as Record<string, unknown>
  return {
    async next() {
      const { done, value } = await source.next()
      return done ? ({ done, value: undefined } as const) : { done: false, value: eventIn(value) }
    },
    async return() {
      client.terminate()
      return { done: true, value: undefined } as const
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function overStream(target: string) {
  const leaving = new AbortController()
  const opened = openEventStream(url, { key: pro.key, query: progress, variables: { target } }, leaving.signal)
  const events = (async function* () {
    let text = ''
    for await (const part of (await opened).body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const message of parts) {
        const data = /^event: next\ndata: (.*)$/m.exec(message)?.[1]
        if (data) yield (JSON.parse(data) as Result).data?.['checkProgress'] as unknown as Record<string, unknown>
      }
    }
  })()
  return {
    next: () => events.next(),
    async return() {
      leaving.abort()
      return { done: true, value: undefined } as const
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

test('the free plan ends with a typed error that says when it resets', async () => {
  const spend = (query: string) => post(url, { query }, { 'x-forwarded-for': '192.0.2.200' })
  const aliases = Array.from({ length: 101 }, (_, index) => `c${index}: checkIp(target: "198.51.100.1") { __typename }`)
  const { data } = await spend(`{ ${aliases.join(' ')} }`)
  const types = Object.values(data ?? {}).map(({ __typename }) => __typename)
  expect(types.filter((type) => type === 'IpReport')).toHaveLength(100)
  const { data: refused } = await spend(
    '{ checkIp(target: "198.51.100.1") { ... on LimitExceededError { code limit resetsAt } } }',
  )
  expect(refused).toEqual({
    checkIp: { code: 'DAILY_LIMIT_EXCEEDED', limit: 100, resetsAt: '2026-11-21T00:00:00.000Z' },
  })
})
