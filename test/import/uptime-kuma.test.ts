import { describe, expect, test } from 'vitest'
import { Unreadable } from '../../src/import/translation.ts'
import { translateUptimeKuma } from '../../src/import/uptime-kuma.ts'

const monitor = { id: 12, name: 'API', type: 'http', active: 1, interval: 60, timeout: 48, maxretries: 0 }

function translated(
  monitors: readonly object[],
  notificationList: readonly object[] = [],
  proxyList: readonly object[] = [],
) {
  const { objects, notes } = translateUptimeKuma(
    JSON.stringify({ version: '1.23.16', notificationList, proxyList, monitorList: monitors }),
  )
  const plain: Record<string, unknown> = Object.fromEntries(
    Object.entries(objects).map(([section, all]) => [section, Object.fromEntries(all)]),
  )
  return {
    ...plain,
    notes: notes.map(({ outcome, section, name, reason }) => `${outcome} ${section} ${name}: ${reason}`),
  }
}

describe('a backup of Uptime Kuma', () => {
  test('becomes groups, services and monitors with keys made from its ids', () => {
    expect(
      translated([
        { id: 3, name: 'Core', pathName: 'Core', type: 'group', active: true },
        { ...monitor, parent: 3, url: 'https://api.example.com', description: 'For apps' },
      ]),
    ).toEqual({
      groups: { 'uptime-kuma-3': { name: 'Core' } },
      services: { 'uptime-kuma-12': { name: 'API', group: 'uptime-kuma-3', description: 'For apps' } },
      monitors: {
        'uptime-kuma-12': {
          name: 'API',
          service: 'uptime-kuma-12',
          intervalSeconds: 60,
          timeoutMs: 30_000,
          failureThreshold: 1,
          http: { url: 'https://api.example.com' },
        },
        'uptime-kuma-3': { name: 'Core', group: { monitors: ['uptime-kuma-12'] } },
      },
      pages: {},
      channels: {},
      templates: {},
      objectives: {},
      notes: [],
    })
  })

  test('has groups that include all imported monitors in them', () => {
    const all = [
      { id: 3, name: 'All', type: 'group', active: true },
      { id: 4, name: 'Inner', type: 'group', active: true, parent: 3 },
      { id: 5, name: 'Empty', type: 'group', active: true, parent: 3 },
      { id: 6, name: 'Paused', type: 'group', active: false },
      { ...monitor, id: 12, parent: 3, url: 'https://a.example.com' },
      { ...monitor, id: 13, parent: 4, url: 'https://b.example.com' },
      { ...monitor, id: 14, parent: 4, url: 'https://c.example.com', active: false },
      { ...monitor, id: 15, parent: 6, url: 'https://d.example.com' },
    ]
    expect(translated(all)).toMatchObject({
      monitors: {
        'uptime-kuma-3': { name: 'All', group: { monitors: ['uptime-kuma-12', 'uptime-kuma-13', 'uptime-kuma-14'] } },
        'uptime-kuma-4': { name: 'Inner', group: { monitors: ['uptime-kuma-13', 'uptime-kuma-14'] } },
        'uptime-kuma-6': { name: 'Paused', group: { monitors: ['uptime-kuma-15'] } },
      },
      notes: expect.arrayContaining(['PARTLY monitors Paused: It is paused there, and will be paused here.']),
    })
    expect(JSON.stringify(translated(all)).match(/"group":\{/g)).toHaveLength(3)
  })

  test.each<readonly [own: object, options: object]>([
    [{ type: 'port', hostname: 'db.example.com', port: 5432 }, { tcp: { host: 'db.example.com', port: 5432 } }],
    [{ type: 'ping', hostname: '203.0.113.7', packetSize: 56 }, { ping: { host: '203.0.113.7' } }],
    [
      { type: 'ping', hostname: '203.0.113.7', packetSize: 65_500, ping_count: 9, ipFamily: 'ipv4' },
      { ping: { host: '203.0.113.7', packetSize: 8972, count: 5, ipVersion: 4 } },
    ],
    [
      {
        type: 'dns',
        hostname: 'example.com',
        dns_resolve_type: 'MX',
        dns_resolve_server: '1.1.1.1, 8.8.8.8',
        port: 5353,
      },
      { dns: { name: 'example.com', recordType: 'MX', resolver: '1.1.1.1:5353' } },
    ],
    [
      { type: 'keyword', url: 'https://a.example', keyword: 'ok', invertKeyword: true },
      { http: { url: 'https://a.example', keyword: { text: 'ok', absent: true } } },
    ],
    [
      { type: 'json-query', url: 'https://a.example', jsonPath: 'checks[0].up', expectedValue: 'true' },
      { http: { url: 'https://a.example', json: { path: '$.checks[0].up', equals: true } } },
    ],
    [
      { type: 'port', hostname: 'db.example.com', port: 5432, upsideDown: true },
      { tcp: { host: 'db.example.com', port: 5432, inverted: true } },
    ],
    ...(
      [
        ['<', '5', { lessThan: 5 }],
        ['>=', '5', { atLeast: 5 }],
        ['!=', 'down', { notEquals: 'down' }],
        ['contains', 'a.b', { matches: 'a\\.b' }],
      ] as const
    ).map(
      ([jsonPathOperator, expectedValue, json]) =>
        [
          { type: 'json-query', url: 'https://a.example', jsonPath: '$.load', jsonPathOperator, expectedValue },
          { http: { json: { path: '$.load', ...json } } },
        ] as const,
    ),
    [
      { type: 'redis', databaseConnectionString: 'rediss://ana:p%40ss@db.example.com:6380' },
      { redis: { host: 'db.example.com', port: 6380, tls: true, username: 'ana', password: 'p@ss' } },
    ],
    [
      {
        type: 'postgres',
        databaseConnectionString: 'postgres://ana:pass@db.example.com/shop',
        databaseQuery: 'SELECT 2',
      },
      {
        postgresql: { host: 'db.example.com', user: 'ana', password: 'pass', database: 'shop', query: 'SELECT 2' },
      },
    ],
    [
      { type: 'mysql', databaseConnectionString: 'mysql://ana:pass@db.example.com:3307/shop' },
      {
        mysql: {
          ...{ host: 'db.example.com', port: 3307, user: 'ana', password: 'pass', database: 'shop' },
          query: 'SELECT 1',
        },
      },
    ],
    [
      {
        ...{ type: 'mysql', databaseConnectionString: 'mysql://ana@db.example.com' },
        ...{ radiusPassword: 'pass', databaseQuery: 'SELECT 2' },
      },
      { mysql: { host: 'db.example.com', user: 'ana', password: 'pass', query: 'SELECT 2' } },
    ],
    [
      { type: 'mongodb', databaseConnectionString: 'mongodb://db.example.com:27018/?tls=true' },
      { mongodb: { host: 'db.example.com', port: 27_018, tls: true } },
    ],
    [
      {
        ...{ type: 'mongodb', databaseQuery: '{"count": "orders"}' },
        databaseConnectionString: 'mongodb://ana:p%40ss@db.example.com/shop?authSource=users',
      },
      {
        mongodb: {
          ...{ host: 'db.example.com', user: 'ana', password: 'p@ss', authDatabase: 'users', database: 'shop' },
          command: '{"count": "orders"}',
        },
      },
    ],
    [
      { type: 'mysql', databaseConnectionString: 'mysql://ana:x@db.example.com/shop?ssl={"rejectUnauthorized":false}' },
      {
        mysql: {
          ...{ host: 'db.example.com', tls: true, verifyCertificate: false, user: 'ana', password: 'x' },
          ...{ database: 'shop', query: 'SELECT 1' },
        },
      },
    ],
    [
      { type: 'mqtt', hostname: 'mqtt://mq.example.com', port: 1883, mqttUsername: 'ana', mqttPassword: 'pass' },
      { mqtt: { host: 'mq.example.com', port: 1883, username: 'ana', password: 'pass' } },
    ],
    [
      { type: 'mqtt', hostname: 'mq.example.com', port: 1883, mqttTopic: 'a/b', mqttSuccessMessage: 'on' },
      { mqtt: { host: 'mq.example.com', port: 1883, topic: 'a/b', expect: 'on' } },
    ],
    [
      {
        ...{ type: 'grpc-keyword', grpcUrl: 'rpc.example.com:50051', grpcEnableTls: true, keyword: 'SERVING' },
        ...{ grpcServiceName: 'Health', grpcMethod: 'check', grpcBody: '{"service":"shop"}' },
      },
      { grpc: { host: 'rpc.example.com', port: 50_051, tls: true, service: 'shop' } },
    ],
    [
      { type: 'websocket-upgrade', url: 'ws://a.example/live' },
      { websocket: { host: 'a.example', port: 80, tls: false, path: '/live' } },
    ],
    [
      { url: 'https://a.example', authMethod: 'mtls', tlsCert: 'cert', tlsKey: 'key' },
      { http: { clientCertificate: { certificate: 'cert', key: 'key' } } },
    ],
    [
      {
        url: 'https://a.example',
        authMethod: 'oauth2-cc',
        oauth_token_url: 'https://sso.example/token',
        oauth_client_id: 'id',
        oauth_client_secret: 'secret',
        oauth_scopes: 'read',
        oauth_auth_method: 'client_secret_post',
      },
      {
        http: {
          oauth: {
            tokenUrl: 'https://sso.example/token',
            clientId: 'id',
            clientSecret: 'secret',
            scope: 'read',
            authentication: 'POST',
          },
        },
      },
    ],
    [
      {
        url: 'https://a.example',
        method: 'POST',
        body: '{"a":1}',
        headers: '{"X-Key":"secret"}',
        authMethod: 'basic',
        basic_auth_user: 'ana',
        basic_auth_pass: 'pass',
        accepted_statuscodes: ['200-299', '404'],
        maxredirects: 0,
        ignoreTls: true,
      },
      {
        http: {
          url: 'https://a.example',
          method: 'POST',
          body: '{"a":1}',
          headers: [
            { name: 'X-Key', value: 'secret' },
            { name: 'Authorization', value: 'Basic YW5hOnBhc3M=' },
            { name: 'Content-Type', value: 'application/json' },
          ],
          expectedStatus: ['200-299', '404'],
          maxRedirects: 0,
          verifyCertificate: false,
        },
      },
    ],
  ])('takes over %j', (own, options) => {
    expect(translated([{ ...monitor, ...own }])).toMatchObject({ monitors: { 'uptime-kuma-12': options } })
  })

  test('has its retries as thresholds, and in earlier versions a timeout of four fifths of the interval', () => {
    expect(translated([{ ...monitor, timeout: undefined, interval: 20, maxretries: 3 }])).toMatchObject({
      monitors: {
        'uptime-kuma-12': { intervalSeconds: 20, timeoutMs: 16_000, failureThreshold: 4 },
      },
    })
  })

  test.each([
    [{ type: 'docker' }, 'Allclear has no monitors of kind docker.'],
    [
      { type: 'mongodb', databaseConnectionString: 'mongodb+srv://db.example.com/' },
      'Allclear has no monitors of kind mongodb.',
    ],
    [{ type: 'push', upsideDown: true }, 'It is inverted (“upside down”), which heartbeats do not support.'],
    [{ authMethod: 'ntlm' }, 'Signing in by ntlm is not supported.'],
  ])('leaves out %j, and notes the reason', (own, reason) => {
    expect(translated([{ ...monitor, ...own }])).toMatchObject({
      services: {},
      monitors: {},
      notes: [`SKIPPED monitors API: ${reason}`],
    })
  })

  test('keeps paused monitors paused', () => {
    const { pausedMonitors, notes } = translateUptimeKuma(
      JSON.stringify({
        monitorList: [
          { ...monitor, active: false },
          { ...monitor, id: 13, active: 1 },
        ],
      }),
    )
    expect(pausedMonitors).toEqual(['uptime-kuma-12'])
    expect(notes).toMatchObject([{ outcome: 'PARTLY', reason: 'It is paused there, and will be paused here.' }])
  })

  test.each([
    [{ protocol: 'http', host: 'proxy.example', port: 3128 }, { url: 'http://proxy.example:3128' }],
    [{ protocol: 'socks5h', host: '2001:db8::1', port: 1080 }, { url: 'socks5://[2001:db8::1]:1080' }],
    [
      { protocol: 'https', host: 'proxy.example', port: 443, auth: 1, username: 'ana', password: 'secret' },
      { url: 'https://proxy.example:443', username: 'ana', password: 'secret' },
    ],
    [{ protocol: 'http', host: 'proxy.example', port: 3128, active: 0 }, undefined],
    [{ protocol: 'socks4', host: 'proxy.example', port: 1080 }, undefined],
  ])('has the proxy %j', (proxy, expected) => {
    const monitors = [{ ...monitor, url: 'https://a.example', proxyId: 7 }]
    const found = translated(monitors, [], [{ id: 7, active: 1, ...proxy }])
    const { http } =
      (found as unknown as { monitors: Record<string, { http: object }> }).monitors['uptime-kuma-12'] ?? {}
    expect(http).toEqual({ url: 'https://a.example', ...(expected && { proxy: expected }) })
  })

  test('notes what is imported only in part', () => {
    expect(
      translated([
        { ...monitor, type: 'push', interval: 3600, pushToken: 'secret' },
        { ...monitor, id: 13, name: 'Query', type: 'json-query', jsonPath: '$sum(a)', expectedValue: '3', proxyId: 1 },
        {
          ...{ ...monitor, id: 14, name: 'Shop', type: 'mongodb', databaseQuery: '{ "ping": 1 }' },
          databaseConnectionString: 'mongodb://ana@db.example.com/shop',
        },
        {
          ...{ ...monitor, id: 15, name: 'Stats', type: 'mongodb', databaseQuery: '{ "dbStats": 1 }' },
          ...{ jsonPath: 'ok', expectedValue: '1' },
          databaseConnectionString: 'mongodb://db.example.com/shop',
        },
      ]),
    ).toMatchObject({
      monitors: { 'uptime-kuma-12': { intervalSeconds: 3600, heartbeat: {} } },
      notes: [
        'PARTLY monitors API: It gets a new address. Change the job to report there.',
        'PARTLY monitors Query: It is probed directly, without its proxy.',
        'PARTLY monitors Query: It is probed without its JSON query sum(a) == 3.',
        'PARTLY monitors Stats: It is up if its command succeeds, regardless of the result.',
      ],
    })
  })

  test.each([
    [{ type: 'slack', slackwebhookURL: 'https://hooks.slack.com/x' }, { slack: { url: 'https://hooks.slack.com/x' } }],
    [
      { type: 'telegram', telegramBotToken: '1:a', telegramChatID: '-5' },
      { telegram: { botToken: '1:a', chatId: '-5' } },
    ],
    [
      { type: 'ntfy', ntfyserverurl: 'https://ntfy.sh/', ntfytopic: 't' },
      { ntfy: { server: 'https://ntfy.sh', topic: 't' } },
    ],
    [{ type: 'smtp', smtpTo: 'ops@example.com' }, { mail: { address: 'ops@example.com' } }],
    [{ type: 'Opsgenie', opsgenieApiKey: 'k', opsgenieRegion: 'eu' }, { opsgenie: { apiKey: 'k', region: 'EU' } }],
  ])('takes over the notification %j for the monitors that use it', (config, address) => {
    const notification = { id: 4, name: 'On call', config: JSON.stringify({ ...config, name: 'On call' }) }
    const after = translated(
      [
        { ...monitor, notificationIDList: { 4: true } },
        { ...monitor, id: 13 },
      ],
      [notification],
    )
    expect(after).toHaveProperty('channels', {
      'uptime-kuma-4': { name: 'On call', monitors: ['uptime-kuma-12'], when: ['DOWN', 'UP'], ...address },
    })
  })

  test('never turns a notification without monitors into a channel for all monitors', () => {
    const notification = (type: string) => ({ id: 4, name: 'N', config: JSON.stringify({ type }) })
    const used = { ...monitor, notificationIDList: { 4: true } }
    expect(translated([monitor], [notification('slack')])).toMatchObject({
      channels: {},
      notes: [expect.stringContaining('None of the imported monitors')],
    })
    expect(translated([used], [notification('constructor')])).toMatchObject({
      channels: {},
      notes: [expect.stringContaining('no channels of kind constructor')],
    })
  })

  const channelOf = (config: object) =>
    translated(
      [{ ...monitor, notificationIDList: { 4: true } }],
      [{ id: 4, name: 'N', config: JSON.stringify(config) }],
    ) as unknown as { readonly channels: Readonly<Record<string, object>>; readonly notes: readonly string[] }
  const telegram = { type: 'telegram', telegramBotToken: '1:zz', telegramChatID: '-5' }

  test.each([
    { ...telegram, telegramServerUrl: 'https://telegram.internal' },
    { ...telegram, telegramServerUrl: 'http://api.telegram.org' },
    { ...telegram, telegramServerUrl: 'https://api.telegram.org/proxy' },
    { type: 'PagerDuty', pagerdutyIntegrationKey: 'zz', pagerdutyIntegrationUrl: 'https://events.eu.pagerduty.com/v2' },
  ])('the secret of a channel with a server of its own goes nowhere else: %j', (config) => {
    const { channels, notes } = channelOf(config)
    expect(channels).toEqual({})
    expect(notes).toEqual([expect.stringMatching(/^SKIPPED channels N: It sends to /)])
    expect(notes.join()).not.toContain('zz')
  })

  test.each([
    [{ ...telegram, telegramMessageThreadID: '7' }, 'telegramMessageThreadID'],
    [{ ...telegram, telegramTemplate: 'x' }, 'telegramTemplate'],
    [{ type: 'discord', discordWebhookUrl: 'https://discord.example/a', threadId: '7' }, 'threadId'],
    [{ type: 'discord', discordWebhookUrl: 'https://discord.example/a', postName: 'a' }, 'postName'],
    [
      {
        ...{
          type: 'ntfy',
          ntfyserverurl: 'https://ntfy.example',
          ntfytopic: 'a',
          ntfyusername: 'u',
          ntfypassword: 'zz',
        },
        ntfyAuthenticationMethod: 'usernamePassword',
      },
      'ntfypassword',
    ],
    [
      { type: 'gotify', gotifyserverurl: 'https://g.example', gotifyapplicationToken: 'zz', gotifyPriority: 8 },
      'gotifyPriority',
    ],
    [{ type: 'smtp', smtpTo: 'a@a.example', smtpHost: 'smtp.example' }, 'smtpHost'],
  ])('what a channel cannot do is noted: %j', (config, key) => {
    const { channels, notes } = channelOf(config)
    expect(Object.keys(channels)).toHaveLength(1)
    expect(notes.join('\n')).toContain(`notificationList.config.${key}: `)
    expect(notes.join('\n')).not.toContain('zz')
  })

  const condition = (variable: string, operator: string, value: string) => ({
    ...{ type: 'expression', andOr: 'and' },
    ...{ variable, operator, value },
  })
  const kindOf = (given: object) => translated([{ ...monitor, ...given }])

  test.each([
    [
      { type: 'dns', hostname: 'a.example', conditions: [condition('record', 'equals', '192.0.2.1')] },
      { dns: { expected: ['192.0.2.1'], match: 'CONTAINS' } },
      [],
    ],
    [
      { type: 'dns', hostname: 'a.example', conditions: [condition('record', 'contains', '192')] },
      { dns: { name: 'a.example' } },
      ['PARTLY monitors API: It is probed without its conditions.'],
    ],
    [
      { type: 'mqtt', hostname: 'a.example', mqttTopic: 't', conditions: [condition('message', 'contains', 'ok')] },
      { mqtt: { expect: 'ok' } },
      [],
    ],
    [
      { type: 'mqtt', hostname: 'a.example', mqttTopic: 't', conditions: [condition('json_value', 'equals', 'ok')] },
      { mqtt: { topic: 't' } },
      ['PARTLY monitors API: Any message on its topic counts as up, because its query or conditions are not imported.'],
    ],
    [
      { type: 'ping', hostname: 'a.example', conditions: [condition('a', 'equals', 'b')] },
      { ping: { host: 'a.example' } },
      [
        'PARTLY monitors monitorList.conditions: Its conditions are not imported. Its keys: type, andOr, variable, operator, value. In API.',
      ],
    ],
  ])('conditions of version 2 become what monitors have, or are noted: %j', (given, expected, notes) => {
    expect(kindOf(given)).toMatchObject({ monitors: { 'uptime-kuma-12': expected }, notes })
  })

  test.each(['', '[]', '{}', 'null', '{"monitorList":{}}', `${'['.repeat(100_000)}`])('refuses %.20s', (text) => {
    expect(() => translateUptimeKuma(text)).toThrow(Unreadable)
  })

  test('ignores hostile members', () => {
    const { objects } = translateUptimeKuma(
      '{"monitorList":[null,1,"x",[],{"__proto__":{"id":1,"type":"http"}},{"id":{"a":1},"type":"http"},{"id":"../__proto__","type":"http","name":"a\\u0000\\u202eb","url":["x"],"headers":"{\\"__proto__\\":1}"}],"notificationList":[null,{"id":"__proto__","config":"{"}]}',
    )
    expect([...objects.monitors.keys()]).toEqual([expect.stringMatching(/^uptime-kuma-proto-[0-9a-f]{8}$/)])
    expect([...objects.monitors.values()]).toMatchObject([{ name: 'a b' }])
    expect(({} as { id?: number }).id).toBeUndefined()
  })
})
