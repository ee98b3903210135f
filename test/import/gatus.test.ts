import { describe, expect, test } from 'vitest'
import { translateGatus } from '../../src/import/gatus.ts'
import { conditionsOf } from '../../src/import/gatus-conditions.ts'
import { Unreadable } from '../../src/import/translation.ts'

const noteOf = ({
  outcome,
  section,
  name,
  reason,
}: {
  outcome: string
  section: string
  name: string
  reason: string
}) => `${outcome} ${section} ${name}: ${reason}`

describe('a configuration of Gatus', () => {
  test('becomes groups, services, monitors and channels', () => {
    const { objects, notes, hasVariables } = translateGatus(`
alerting:
  slack: { webhook-url: "\${SLACK_URL}" }
endpoints:
  - name: front-end
    group: core
    url: "https://example.org/health"
    interval: 1m30s
    client: { insecure: true, ignore-redirect: true, timeout: 5s, oauth2: { token-url: "https://sso.example.org/token", client-id: id, client-secret: key, scopes: [a, b] } }
    headers: { X-Key: "\${KEY}" }
    conditions: ["[STATUS] == 200", "[BODY].status == UP", "[RESPONSE_TIME] < 300", "[DOMAIN_EXPIRATION] > 720h"]
    alerts: [{ type: slack, failure-threshold: 5, send-on-resolved: true }]
  - { name: db, url: "tcp://db.example.org:5432", conditions: ["[CONNECTED] == true"] }
  - { name: tls, url: "tls://example.org:443" }
  - { name: gate, url: "icmp://example.org" }
  - name: zone
    url: "8.8.8.8"
    dns: { query-name: example.com., query-type: A }
    conditions: ["[BODY] == 93.184.215.14", "[DNS_RCODE] == NOERROR"]
  - { name: shell, url: "ssh://example.org:2222", conditions: ["[CONNECTED] == true"] }
  - { name: mail, url: "starttls://mail.example.org:587", conditions: ["[CERTIFICATE_EXPIRATION] > 48h"] }
  - { name: socket, url: "wss://example.org/live" }
  - { name: health, url: "grpcs://example.org:8443", client: { insecure: true }, conditions: ["[BODY] == SERVING"] }
  - { name: datagram, url: "udp://example.org:53" }
  - { name: question, url: "udp://example.org:53", body: '?\\' }
  - { name: off, enabled: false, url: "https://example.org" }
external-endpoints:
  - { name: job, token: secret, heartbeat: { interval: 30m } }
  - { name: pushed, token: secret }
`)
    const monitors = [...objects.monitors.values()]
    const { service: _, ...first } = monitors[0] ?? {}
    expect(first).toEqual({
      name: 'front-end',
      intervalSeconds: 90,
      timeoutMs: 5000,
      failureThreshold: 5,
      recoveryThreshold: 2,
      http: {
        url: 'https://example.org/health',
        headers: [{ name: 'X-Key', value: '$' + '{KEY}' }],
        maxRedirects: 0,
        verifyCertificate: false,
        oauth: { tokenUrl: 'https://sso.example.org/token', clientId: 'id', clientSecret: 'key', scope: 'a b' },
        expectedStatus: ['200'],
        json: { path: '$.status', equals: 'UP' },
        downAboveMs: 300,
      },
    })
    expect(monitors.slice(1)).toMatchObject([
      { name: 'front-end, domain', domain: { warnDays: 30 } },
      { name: 'db', tcp: { host: 'db.example.org', port: 5432 } },
      { name: 'tls', tcp: { host: 'example.org', port: 443, tls: true } },
      { name: 'gate', ping: { host: 'example.org' } },
      { name: 'zone', dns: { name: 'example.com', recordType: 'A', resolver: '8.8.8.8', expected: ['93.184.215.14'] } },
      { name: 'shell', ssh: { host: 'example.org', port: 2222 } },
      { name: 'mail', tcp: { host: 'mail.example.org', port: 587, startTls: 'SMTP', certificateDays: 2 } },
      { name: 'socket', websocket: { host: 'example.org', port: 443, path: '/live' } },
      { name: 'health', grpc: { host: 'example.org', port: 8443, tls: true, verifyCertificate: false } },
      { name: 'question', udp: { host: 'example.org', port: 53, send: '?\\\\' } },
      { name: 'off', http: { url: 'https://example.org' } },
      { name: 'job', intervalSeconds: 1800, heartbeat: {} },
    ])
    expect([...objects.groups.values()]).toEqual([{ name: 'core' }])
    expect(objects.services.size).toBe(12)
    const [key] = objects.monitors.keys()
    expect(key).toMatch(/^gatus-core-front-end-[0-9a-f]{8}$/)
    expect([...objects.channels]).toEqual([
      ['gatus-slack', { name: 'slack', monitors: [key], when: ['DOWN', 'UP'], slack: { url: '$' + '{SLACK_URL}' } }],
    ])
    expect(hasVariables).toBe(true)
    expect(notes.map(noteOf)).toEqual([
      'SKIPPED monitors datagram: It sends no data, so no reply is expected.',
      'PARTLY monitors off: It is paused there, and will be paused here.',
      'PARTLY monitors job: It gets a new address. Change the job to report there.',
      'SKIPPED monitors pushed: It has no heartbeat interval.',
    ])
  })

  const any = ['1xx', '2xx', '3xx', '4xx', '5xx']
  test.each([
    ['[STATUS] == any(200, 429)', { expectedStatus: ['200', '429'] }],
    ['[STATUS] < 300', { expectedStatus: ['1xx', '2xx'] }],
    ['[STATUS] <= 201', { expectedStatus: ['1xx', '200-201'] }],
    ['[STATUS] != 500', { expectedStatus: ['1xx', '2xx', '3xx', '4xx', '501-599'] }],
    ['[BODY] == pat(*up and running*)', { expectedStatus: any, keyword: { text: 'up and running' } }],
    ['[BODY] != pat(*error*)', { expectedStatus: any, keyword: { text: 'error', absent: true } }],
    ['[BODY].data[0].id == 1', { expectedStatus: any, json: { path: '$.data[0].id', equals: 1 } }],
    ['has([BODY].errors) == false', { expectedStatus: any, json: { path: '$.errors', absent: true } }],
    ['len([BODY].users) > 3', { expectedStatus: any, json: { path: '$.users', greaterThan: 3, length: true } }],
    ['[BODY].load <= 0.5', { expectedStatus: any, json: { path: '$.load', atMost: 0.5 } }],
    ['[BODY].state != down', { expectedStatus: any, json: { path: '$.state', notEquals: 'down' } }],
    ['[BODY].name == pat(john*)', { expectedStatus: any, json: { path: '$.name', matches: '^john.*$' } }],
    ['[BODY].name == any(a.b, c)', { expectedStatus: any, json: { path: '$.name', matches: '^(?:a\\.b|c)$' } }],
    ['[BODY] == pat(*a*b*)', { expectedStatus: any, keyword: { text: '(?s)^.*a.*b.*$', isRegex: true } }],
    ['[RESPONSE_TIME] < 500', { expectedStatus: any, downAboveMs: 500 }],
    ['[CERTIFICATE_EXPIRATION] > 48h', { expectedStatus: any, certificateDays: 2 }],
  ])('the condition %s keeps its meaning', (condition, known) => {
    expect(conditionsOf('http', [condition])).toEqual({ known, dropped: [] })
  })

  test('two conditions on one value become one assertion', () => {
    expect(conditionsOf('http', ['[BODY].load > 1', '[BODY].load < 5', '[BODY].users == 2'])).toEqual({
      known: { expectedStatus: any, json: { path: '$.load', greaterThan: 1, lessThan: 5 } },
      dropped: ['[BODY].users == 2'],
    })
  })

  test.each(['len([BODY].users) > many', '[IP] == 127.0.0.1', '[STATUS] == pat(2*)', 'nonsense'])(
    '%s is reported as dropped',
    (condition) => {
      expect(conditionsOf('http', [condition])).toEqual({ known: { expectedStatus: any }, dropped: [condition] })
    },
  )

  test.each([
    ['', 'no endpoints'],
    ['endpoints: 3', 'no endpoints'],
    ['a: &a [*a]', 'no endpoints|Cannot read'],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`)
        .join('\n')}`,
      'Cannot read',
    ],
    ['__proto__: { endpoints: [{ name: x, url: "https://x.example" }] }', 'no endpoints'],
  ])('refuses %.30s', (text, message) => {
    expect(() => translateGatus(text)).toThrow(Unreadable)
    expect(() => translateGatus(text)).toThrow(new RegExp(message))
  })

  const monitorsOf = (text: string) => [...translateGatus(text).objects.monitors.values()]

  test('merge keys insert the fields of other objects', () => {
    const names = Array.from({ length: 150 }, (_, index) => `M${index}`)
    const merged = monitorsOf(`
x-defaults: &defaults { group: core, interval: 5m, conditions: ["[STATUS] == 200"] }
x-client: &client { client: { timeout: 5s } }
endpoints:
  - { <<: *defaults, name: own, interval: 30s, url: "https://own.example" }
  - { name: both, <<: [*client, *defaults], url: "https://both.example" }
${names.map((name) => `  - name: ${name}\n    <<: *defaults\n    url: https://${name}.example`).join('\n')}
`)
    expect(merged).toHaveLength(152)
    expect(merged.slice(0, 3)).toMatchObject([
      { name: 'own', intervalSeconds: 30, http: { expectedStatus: ['200'] } },
      { name: 'both', intervalSeconds: 300, timeoutMs: 5000, http: { expectedStatus: ['200'] } },
      { name: 'M0', intervalSeconds: 300, http: { expectedStatus: ['200'] } },
    ])
  })

  test('what an alias shares is judged in each place by itself', () => {
    const { notes } = translateGatus(`
endpoints:
  - { name: web, url: "https://a.example", client: &client { ignore-redirect: true } }
  - { name: gate, url: "icmp://a.example", client: *client }
`)
    expect(notes.map(noteOf)).toEqual([
      'PARTLY monitors endpoints.client.ignore-redirect: This key is not imported: a boolean. In gate.',
    ])
  })

  test.each([
    ['x: &x [1]\nendpoints: [{ name: a, <<: *x }]', 'merges'],
    [
      `a0: &a0 {x: 1}\n${Array.from({ length: 40 }, (_, level) => `a${level + 1}: &a${level + 1} {<<: [*a${level}, *a${level}]}`).join('\n')}`,
      'too many aliases',
    ],
  ])('refuses the merge keys of %.40j', (text, message) => {
    expect(() => translateGatus(text)).toThrow(new RegExp(message))
  })

  const alerting = `
alerting:
  slack:
    webhook-url: https://hooks.slack.example/a
    default-alert: { enabled: true, failure-threshold: 5, success-threshold: 4, send-on-resolved: true }
  discord: { webhook-url: "https://discord.example/a", default-alert: { enabled: false } }
`
  test('the default alert of a provider gives what an alert leaves out', () => {
    const text = `${alerting}
endpoints:
  - { name: a, url: "https://a.example", alerts: [{ type: slack }] }
  - { name: b, url: "https://b.example", alerts: [{ type: slack, failure-threshold: 2, send-on-resolved: false }] }
  - { name: c, url: "https://c.example", alerts: [{ type: slack, enabled: no }, { type: discord }] }
`
    const [a, b, c] = monitorsOf(text)
    expect([a, b, c]).toMatchObject([
      { failureThreshold: 5, recoveryThreshold: 4 },
      { failureThreshold: 2, recoveryThreshold: 4 },
      { name: 'c' },
    ])
    expect(c).not.toHaveProperty('failureThreshold')
    const { objects, notes } = translateGatus(text)
    const [first, second] = [...objects.monitors.keys()]
    expect([...objects.channels.values()]).toMatchObject([
      { name: 'slack', monitors: [first], when: ['DOWN', 'UP'] },
      { name: 'slack, only outages', monitors: [second], when: ['DOWN'] },
    ])
    expect(notes.map(noteOf)).toEqual(['SKIPPED channels discord: No imported endpoint uses it.'])
  })

  test.each([
    'https://telegram.internal',
    'http://api.telegram.org',
    'https://api.telegram.org.example',
    '$' + '{API}',
  ])('the token of a Telegram bot on %s goes nowhere else', (server) => {
    const { objects, notes } = translateGatus(`
alerting: { telegram: { token: zz-secret, id: "1", api-url: "${server}" } }
endpoints: [{ name: a, url: "https://a.example", alerts: [{ type: telegram }] }]
`)
    expect(objects.channels.size).toBe(0)
    expect(notes.map(noteOf)).toEqual([
      'SKIPPED channels telegram: It sends to a server of its own, but Allclear only to api.telegram.org.',
    ])
  })

  test.each(['false', 'no', 'Off'])('an endpoint with enabled: %s is paused', (value) => {
    const text = `endpoints: [{ name: a, url: "https://a.example", enabled: ${value} }]`
    expect(translateGatus(text).pausedMonitors).toHaveLength(1)
  })

  test('suites are skipped by name', () => {
    const { notes } = translateGatus('suites: [{ name: checkout, endpoints: [{ name: a, url: "https://a.example" }] }]')
    expect(notes.map(noteOf)).toEqual(['SKIPPED monitors checkout: Allclear has no monitors of several requests.'])
  })

  test('values that mean nothing here are not taken for the default in silence', () => {
    const { notes } = translateGatus(
      'endpoints: [{ name: a, url: "https://a.example", interval: soon, enabled: maybe }]',
    )
    expect(notes.map(noteOf)).toEqual([
      'PARTLY monitors endpoints.interval: This key is not imported: a text. In a.',
      'PARTLY monitors endpoints.enabled: This key is not imported: a text. In a.',
    ])
  })
})
