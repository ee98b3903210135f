// One object of each kind, with all fields that its documentation names, for each tool to import from.

const at = '2026-11-01T10:00:00.000Z'

/** A backup of Uptime Kuma 1, with the keys that version 2 added. */
export const uptimeKuma = {
  version: '2.0.0',
  notificationList: [
    {
      ...{ id: 1, name: 'Ops', active: true, userId: 1, isDefault: true },
      config: JSON.stringify({
        ...{ name: 'Ops', type: 'telegram', isDefault: true, applyExisting: true },
        ...{ telegramBotToken: 'zz-secret-token', telegramChatID: '-100', telegramMessageThreadID: '7' },
        ...{ telegramSendSilently: false, telegramProtectContent: true, telegramServerUrl: 'https://api.telegram.org' },
      }),
    },
  ],
  proxyList: [
    {
      ...{ id: 5, userId: 1, protocol: 'http', host: 'proxy.example', port: 3128, active: true, default: false },
      ...{ auth: true, username: 'u', password: 'p', createdDate: at },
    },
  ],
  monitorList: [
    {
      ...{ id: 3, name: 'Core', type: 'group', active: true, childrenIDs: [12], interval: 60, maxretries: 0 },
      ...{ tags: [], notificationIDList: {}, pathName: 'Core', accepted_statuscodes: ['200-299'] },
    },
    {
      ...{ id: 12, name: 'API', description: 'For apps', pathName: 'Core / API', parent: 3, childrenIDs: [] },
      ...{ url: 'https://api.example.com', method: 'POST', hostname: null, port: null, maxretries: 1, weight: 2000 },
      ...{ active: true, type: 'keyword', timeout: 48, interval: 60, retryInterval: 20, resendInterval: 3 },
      ...{ keyword: 'ok', invertKeyword: false, expiryNotification: true, ignoreTls: false, upsideDown: false },
      ...{ packetSize: 56, maxredirects: 10, accepted_statuscodes: ['200-299'], dns_resolve_type: 'A' },
      ...{ dns_resolve_server: '1.1.1.1', dns_last_result: null, docker_container: '', docker_host: null },
      ...{ proxyId: 5, notificationIDList: { 1: true }, maintenance: false, mqttTopic: '', mqttSuccessMessage: '' },
      ...{ databaseQuery: null, authMethod: 'basic', grpcUrl: null, grpcProtobuf: null, grpcMethod: null },
      ...{
        grpcServiceName: null,
        grpcEnableTls: false,
        radiusCalledStationId: null,
        game: null,
        httpBodyEncoding: 'json',
      },
      ...{ gamedigGivenPortOnly: true, jsonPath: '$', jsonPathOperator: '==', expectedValue: null },
      ...{ kafkaProducerTopic: null, kafkaProducerBrokers: [], kafkaProducerSsl: false, screenshot: null },
      ...{ headers: '{"X-A":"b"}', body: '{}', basic_auth_user: 'u', basic_auth_pass: 'p', pushToken: null },
      ...{ cacheBust: true, conditions: [], ping_count: 1, ping_numeric: true, ping_per_request_timeout: 2 },
      ...{ ipFamily: 'ipv4', saveResponse: false, saveErrorResponse: true, responseMaxLength: 1024 },
      tags: [{ tag_id: 1, monitor_id: 12, value: 'eu', name: 'region', color: '#000' }],
    },
    {
      ...{ id: 13, name: 'Zone', type: 'dns', hostname: 'example.com', port: 53, interval: 60, active: true },
      ...{ dns_resolve_type: 'A', dns_resolve_server: '1.1.1.1', notificationIDList: { 1: true } },
      conditions: [{ type: 'expression', variable: 'record', operator: 'equals', value: '192.0.2.1', andOr: 'and' }],
    },
  ],
}

/** A configuration of Gatus with all its sections. */
export const gatus = {
  metrics: true,
  debug: true,
  'skip-invalid-config-update': true,
  'disable-monitoring-lock': true,
  concurrency: 3,
  storage: { type: 'sqlite', path: 'data.db', caching: true },
  web: { port: 8080, tls: { 'certificate-file': 'a', 'private-key-file': 'b' } },
  ui: { title: 'Status', buttons: [{ name: 'Home', link: 'https://example.org' }] },
  security: { basic: { username: 'u', 'password-bcrypt-base64': 'zz' } },
  maintenance: { start: '23:00', duration: '1h', timezone: 'Europe/Berlin', every: ['Monday'] },
  connectivity: { checker: { target: '1.1.1.1:53', interval: '60s' } },
  remote: { instances: [{ 'endpoint-prefix': 'a', url: 'https://b.example' }] },
  tunneling: { a: { type: 'SSH', host: 'h' } },
  announcements: [{ timestamp: at, type: 'outage', message: 'We look.' }],
  alerting: {
    slack: {
      'webhook-url': 'https://hooks.slack.example/zz',
      title: 'Alert',
      overrides: [{ group: 'core', 'webhook-url': 'https://hooks.slack.example/yy' }],
      'default-alert': {
        ...{ enabled: true, description: 'down', 'send-on-resolved': true, 'failure-threshold': 5 },
        ...{ 'success-threshold': 4, 'minimum-reminder-interval': '1h' },
      },
    },
    telegram: { token: 'zz-secret-token', id: '-100', 'topic-id': '7', 'api-url': 'https://api.telegram.org' },
  },
  endpoints: [
    {
      ...{ enabled: true, name: 'front-end', group: 'core', url: 'https://example.org', method: 'POST' },
      ...{ interval: '1m', body: '{}', headers: { 'X-Key': 'a' }, graphql: true, 'extra-labels': { team: 'a' } },
      conditions: ['[STATUS] == 200'],
      client: {
        ...{ insecure: true, 'ignore-redirect': true, timeout: '5s', 'dns-resolver': 'tcp://1.1.1.1:53' },
        ...{ 'proxy-url': 'http://proxy.example', network: 'ip4', 'identity-aware-proxy': { audience: 'a' } },
        oauth2: { 'token-url': 'https://sso.example', 'client-id': 'a', 'client-secret': 'b', scopes: ['c'] },
        tls: { 'certificate-file': 'a', 'private-key-file': 'b', renegotiation: 'once' },
      },
      alerts: [
        { type: 'slack', description: 'down', 'provider-override': { 'webhook-url': 'https://hooks.slack.example/x' } },
        { type: 'telegram', enabled: true, 'failure-threshold': 3, 'success-threshold': 2, 'send-on-resolved': false },
      ],
      'maintenance-windows': [{ start: '01:00', duration: '1h', timezone: 'UTC', every: ['Friday'] }],
      ui: { 'hide-conditions': true, 'response-time': { badge: { thresholds: [50] } } },
    },
    { name: 'zone', url: '8.8.8.8', dns: { 'query-name': 'example.com', 'query-type': 'A' } },
    { name: 'shell', url: 'ssh://example.org', ssh: { username: 'u', password: 'p' } },
  ],
  'external-endpoints': [
    { enabled: true, name: 'job', group: 'core', token: 'zz-secret-token', heartbeat: { interval: '30m' } },
  ],
}

const spComponent = {
  ...{ id: 'a', page_id: 'p', group_id: 'g', name: 'API', description: 'For apps', position: 1 },
  ...{ status: 'operational', showcase: true, only_show_if_degraded: false, group: false, start_date: '2026-01-01' },
  ...{ created_at: at, updated_at: at, automation_email: 'a@automation.example' },
}
const spUpdate = {
  ...{ id: 'u', incident_id: 'i', status: 'investigating', body: 'We look', display_at: at, created_at: at },
  ...{ updated_at: at, deliver_notifications: true, wants_twitter_update: false, custom_tweet: null, tweet_id: null },
  affected_components: [{ code: 'a', name: 'API', old_status: 'operational', new_status: 'partial_outage' }],
}
const spIncident = {
  ...{ id: 'i', page_id: 'p', name: 'Slow', status: 'investigating', impact: 'major', shortlink: 'https://s.example' },
  ...{
    created_at: at,
    updated_at: at,
    started_at: at,
    monitoring_at: null,
    resolved_at: null,
    metadata: { a: { b: 1 } },
  },
  ...{ postmortem_body: null, components: [spComponent], incident_updates: [spUpdate] },
}

/** All lists of a page of Statuspage. */
export const statuspage = {
  page: { id: 'p', name: 'Acme', url: 'https://status.example', time_zone: 'Etc/UTC', updated_at: at },
  components: [{ ...spComponent, id: 'g', group: true, group_id: null, components: ['a'] }, spComponent],
  component_groups: [{ id: 'h', page_id: 'p', name: 'More', description: 'x', components: ['b'], position: 2 }],
  status: { indicator: 'none', description: 'All systems operational' },
  incidents: [spIncident],
  scheduled_maintenances: [
    {
      ...{ ...spIncident, id: 'm', status: 'scheduled', impact: 'maintenance', metadata: {} },
      ...{ scheduled_for: at, scheduled_until: '2026-11-01T11:00:00.000Z', scheduled_auto_completed: true },
    },
  ],
  subscribers: [
    { id: 's', page_id: 'p', mode: 'email', email: 'ana@a.example', components: ['a'], created_at: at, endpoint: null },
  ],
}

/** A file of OpenStatus. */
export const openStatus = {
  api: {
    ...{ name: 'API', description: 'x', kind: 'http', active: true, public: true, frequency: '1m', retry: 3 },
    ...{ regions: ['fra', 'iad'], timeout: 5000, degradedAfter: 1000 },
    openTelemetry: { endpoint: 'https://otel.example', headers: { a: 'b' } },
    request: {
      ...{ method: 'POST', url: 'https://api.example.com', body: '{}', followRedirects: true },
      headers: { 'X-A': 'b' },
    },
    assertions: [{ kind: 'statusCode', compare: 'eq', target: 200 }],
  },
  zone: { name: 'Zone', kind: 'tcp', frequency: '1m', request: { host: 'example.com', port: 53 } },
}

const c2Component = {
  ...{ id: 1, name: 'API', description: 'x', link: 'https://a.example', status: 1, order: 0, group_id: 2 },
  ...{ enabled: true, meta: null, created_at: at, updated_at: at, deleted_at: null, status_name: 'Operational' },
}

/** All answers of Cachet 2. */
export const cachet2 = {
  components: { meta: { pagination: { total: 1 } }, data: [{ ...c2Component, tags: { 'x-y': 'x y' } }] },
  groups: { data: [{ id: 2, name: 'Core', order: 0, collapsed: 0, visible: 1, created_at: at, updated_at: at }] },
  incidents: {
    data: [
      {
        ...{ id: 10, component_id: 1, component_status: 3, name: 'Slow', message: 'We look.', status: 2, visible: 1 },
        ...{
          stickied: false,
          occurred_at: at,
          created_at: at,
          updated_at: at,
          is_resolved: false,
          permalink: 'https://a',
        },
        ...{ human_status: 'Identified', latest_status: 2, latest_human_status: 'Identified', latest_icon: 'x' },
      },
    ],
  },
  updates: [{ id: 1, incident_id: 10, status: 4, message: 'Fixed', created_at: at, user_id: 1, human_status: 'Fixed' }],
  schedules: {
    data: [
      {
        ...{
          id: 20,
          name: 'Upgrade',
          message: 'Soon',
          status: 0,
          scheduled_at: at,
          completed_at: at,
          human_status: 'x',
        },
        components: [{ id: 5, schedule_id: 20, component_id: 1, component_status: 1, created_at: at }],
      },
    ],
  },
  subscribers: { data: [{ id: 1, email: 'ana@a.example', verified_at: at, global: true, verify_code: 'zz' }] },
}

/** All answers of Cachet 3, which are JSON:API. */
export const cachet3 = {
  version: 3,
  components: [
    {
      ...{ id: '1', type: 'components' },
      attributes: {
        ...{ id: 1, name: 'API', description: 'x', link: null, order: 0, enabled: true, meta: [] },
        status: { human: 'Operational', value: 1 },
        created: { human: '1 day ago', string: '2026-11-01 10:00:00' },
        updated: { human: '1 day ago', string: '2026-11-01 10:00:00' },
      },
      relationships: { group: { data: { id: '2', type: 'componentGroups' } } },
    },
  ],
  groups: [{ id: '2', type: 'componentGroups', attributes: { name: 'Core', visible: 1, collapsed: 0, order: 0 } }],
  incidents: [
    {
      ...{ id: '10', type: 'incidents' },
      attributes: {
        ...{ id: 10, guid: 'zz', name: 'Slow', message: 'We look.', stickied: true, notifications: true },
        ...{ occurred: { human: 'x', string: '2026-11-01 10:00:00' }, visible: { human: 'x', value: 1 } },
        status: { human: 'Identified', value: 2 },
      },
      relationships: { components: { data: [{ id: '1', type: 'components' }] }, updates: { data: [] } },
    },
  ],
  schedules: [
    {
      ...{ id: '20', type: 'schedules' },
      attributes: {
        name: 'Upgrade',
        message: 'Soon',
        scheduled: { string: '2026-12-01 10:00:00' },
        status: { value: 0 },
      },
      relationships: { components: { data: [{ id: '1', type: 'components' }] } },
    },
  ],
  subscribers: [
    { id: '1', type: 'subscribers', attributes: { email: 'ana@a.example', verified_at: at, global: true } },
  ],
}

/** The tables of Cachet 2 and 3. */
export const cachetTables = {
  component_groups: [{ id: 2, name: 'Core', order: 0, collapsed: 0, visible: 1, created_at: at, updated_at: at }],
  components: [{ ...c2Component, group_id: 2, component_group_id: 2 }],
  incidents: [
    { id: 10, name: 'Slow', status: 2, message: 'We look.', visible: 1, stickied: 1, occurred_at: at, guid: 'z' },
  ],
  incident_components: [{ id: 1, incident_id: 10, component_id: 1, component_status: 3, created_at: at }],
  incident_updates: [{ id: 1, incident_id: 10, status: 4, message: 'Fixed', user_id: 1, created_at: at }],
  updates: [{ id: 1, updateable_type: 'schedule', updateable_id: 20, status: 1, message: 'Now', created_at: at }],
  schedules: [{ id: 20, name: 'Upgrade', message: 'Soon', status: 0, scheduled_at: at, completed_at: at }],
  schedule_components: [{ id: 1, schedule_id: 20, component_id: 1, component_status: 1 }],
  subscribers: [{ id: 1, email: 'ana@a.example', verify_code: 'zz', verified_at: at, global: 0, phone_number: '' }],
  subscriptions: [{ id: 1, subscriber_id: 1, component_id: 1 }],
}

/** All answers of UptimeRobot's API 2. */
export const uptimeRobot2 = {
  stat: 'ok',
  pagination: { offset: 0, limit: 50, total: 1 },
  monitors: [
    {
      ...{ id: 1, friendly_name: 'API', url: 'https://api.example.com', type: 2, sub_type: '', keyword_type: 2 },
      ...{ keyword_case_type: 1, keyword_value: 'ok', http_username: 'u', http_password: 'p', http_method: 3 },
      ...{ port: '', interval: 300, timeout: 30, status: 2, create_datetime: 1, post_type: 2, post_value: '{}' },
      ...{ post_content_type: 1, http_auth_type: 1, custom_http_headers: { 'X-A': 'b' }, average_response_time: '12' },
      logs: [{ type: 1, datetime: 1, duration: 1 }],
      ssl: { brand: 'x', product: 'y', expires: 1 },
      alert_contacts: [{ id: '7', type: 2, value: 'ops@a.example', threshold: 5, recurrence: 0 }],
      mwindows: [
        { id: 9, user: 1, type: 2, friendly_name: 'Nights', start_time: '02:00', duration: 60, value: '', status: 1 },
      ],
    },
  ],
  psps: [
    {
      ...{ id: 3, friendly_name: 'Acme', monitors: [1], sort: 1, status: 1, standard_url: 'https://s', custom_url: '' },
    },
  ],
  mwindows: [
    { id: 9, user: 1, type: 2, friendly_name: 'Nights', start_time: '02:00', duration: 60, value: '', status: 1 },
  ],
  alert_contacts: [{ id: '7', friendly_name: 'Ops', type: 2, status: 2, value: 'ops@a.example' }],
}

/** An answer of UptimeRobot's API 3. */
export const uptimeRobot3 = {
  nextLink: null,
  data: [
    {
      ...{ id: 1, friendlyName: 'API', url: 'https://api.example.com', type: 'KEYWORD', status: 'UP', interval: 300 },
      ...{ timeout: 30, gracePeriod: 60, httpMethodType: 'POST', authType: 'HTTP_BASIC', httpUsername: 'u' },
      ...{
        httpPassword: 'p',
        customHttpHeaders: { 'X-A': 'b' },
        successHttpResponseCodes: ['2xx'],
        createDateTime: at,
      },
      ...{ keywordType: 'ALERT_NOT_EXISTS', keywordValue: 'ok', keywordCaseType: 1, postValueType: 'RAW_JSON' },
      ...{ postValueData: { a: 1 }, checkSSLErrors: true, sslExpirationReminder: true, domainExpirationReminder: true },
      ...{ followRedirections: true, responseTimeThreshold: 500, regionalData: 'na', userId: 1 },
      tags: [{ id: 1, name: 'eu', color: '#000' }],
      assignedAlertContacts: [{ alertContactId: 7, threshold: 0, recurrence: 0 }],
      maintenanceWindows: [
        { id: 9, name: 'Nights', interval: 'daily', time: '02:00:00', duration: 60, status: 'active' },
      ],
    },
  ],
  maintenance_windows: [
    {
      ...{ id: 9, userId: 1, name: 'Nights', interval: 'weekly', date: null, time: '02:00:00', duration: 60 },
      ...{ days: [1], autoAddMonitors: false, monitorIds: [1], status: 'active', created: at },
    },
  ],
}

const bs = (id: string, type: string, attributes: object) => ({ id, type, attributes })

/** All answers of Better Stack. */
export const betterStack = {
  data: [
    {
      ...bs('1', 'monitor', {
        ...{ url: 'https://api.example.com', pronounceable_name: 'API', monitor_type: 'keyword', monitor_group_id: 4 },
        ...{ last_checked_at: at, status: 'up', policy_id: 'p', expiration_policy_id: null, team_name: 'Acme' },
        ...{
          required_keyword: 'ok',
          verify_ssl: true,
          check_frequency: 30,
          call: true,
          sms: false,
          email: true,
          push: true,
        },
        ...{ critical_alert: false, team_wait: 180, http_method: 'post', request_timeout: 15, recovery_period: 180 },
        ...{ request_body: '{}', follow_redirects: true, remember_cookies: true, created_at: at, updated_at: at },
        ...{ ssl_expiration: 14, domain_expiration: 30, regions: ['eu'], expected_status_codes: [], port: null },
        ...{ confirmation_period: 60, paused_at: null, paused: false, maintenance_from: '01:00:00', proxy_port: null },
        ...{ maintenance_to: '02:00:00', maintenance_timezone: 'UTC', maintenance_days: ['mon'], ip_version: 'ipv4' },
        ...{ checks_version: 'x', environment_variables: { A: 'zz' }, auth_username: '', auth_password: '' },
        request_headers: [{ id: '5', name: 'X-A', value: 'b' }],
      }),
      relationships: { policy: { data: null } },
    },
  ],
  pagination: { first: 'https://a', last: 'https://a', prev: null, next: null },
  status_pages: [
    bs('2', 'status_page', {
      ...{ company_name: 'Acme', company_url: 'https://a.example', subdomain: 'acme', custom_domain: 'status.example' },
      ...{
        timezone: 'UTC',
        subscribable: true,
        password_enabled: false,
        aggregate_state: 'operational',
        theme: 'light',
      },
      ...{ hide_from_search_engines: true, announcement: 'Hello', automatic_reports: true, created_at: at },
    }),
  ],
  sections: [bs('3', 'status_page_section', { name: 'Core', position: 0, status_page_id: 2 })],
  resources: [
    bs('6', 'status_page_resource', {
      ...{ status_page_section_id: 3, resource_id: 1, resource_type: 'Monitor', public_name: 'API', explanation: 'x' },
      ...{ history: true, widget_type: 'history', position: 0, availability: 0.99, status_history: [{ day: 'x' }] },
    }),
  ],
  status_reports: [
    bs('7', 'status_report', {
      ...{ title: 'Slow', report_type: 'manual', starts_at: at, ends_at: null, status_page_id: 2 },
      affected_resources: [{ status_page_resource_id: '6', status: 'degraded' }],
    }),
  ],
  status_updates: [
    bs('8', 'status_update', {
      ...{ message: 'We look', published_at: at, notify_subscribers: true, status_report_id: 7 },
      affected_resources: [{ status_page_resource_id: '6', status: 'degraded' }],
    }),
  ],
  subscribers: [
    bs('9', 'status_page_subscriber', {
      ...{ email: 'ana@a.example', confirmed_at: at, status_page_id: 2, status_page_resource_ids: [6] },
    }),
  ],
}

const isComponent = {
  ...{ id: 'c', name: { default: 'API' }, description: 'x', status: 'OPERATIONAL', order: 0, showUptime: false },
  ...{ createdAt: at, updatedAt: at, archivedAt: null, uniqueEmail: 'c@a.example' },
}

/** All answers of Instatus. */
export const instatus = {
  page_id: 'p',
  pages: [
    { id: 'p', name: { default: 'Acme' }, subdomain: 'acme', customDomain: 'status.example', logoUrl: 'https://a' },
  ],
  components: [
    { id: 'g', name: { default: 'Core' }, isParent: true, order: 0, status: 'OPERATIONAL' },
    { ...isComponent, group: { id: 'g', name: 'Core' } },
  ],
  incidents: [
    {
      ...{ id: 'i', name: { default: 'Slow' }, status: 'INVESTIGATING', impact: 'MAJOROUTAGE', started: at },
      components: [{ id: 'c', name: 'API', status: 'OPERATIONAL', showUptime: true }],
      updates: [
        {
          id: 'u',
          message: 'We look',
          messageHtml: '<p>We look</p>',
          status: 'INVESTIGATING',
          started: at,
          notify: true,
        },
      ],
    },
  ],
  maintenances: [
    {
      ...{ id: 'm', name: { default: 'Upgrade' }, status: 'NOTSTARTEDYET', start: at, duration: 60, autoStart: false },
      components: [{ id: 'c', name: 'API' }],
      updates: [{ id: 'v', message: 'Soon', status: 'NOTSTARTEDYET', started: at }],
    },
  ],
  subscribers: [
    { id: 's', email: 'ana@a.example', phone: null, webhook: null, confirmed: true, all: false, components: ['c'] },
  ],
}

/** Blacklist monitors of HetrixTools. */
export const hetrixTools = {
  monitors: [
    {
      ...{ id: 'a', name: 'Mail', type: 'ipv4', target: '203.0.113.7', rdns: 'mail.example', report_id: 'r' },
      ...{ status: 'active', contact_lists: ['l'], listed: [{ rbl: 'x', delist: 'y' }], created_at: 1, last_check: 2 },
    },
  ],
  meta: { total: 1, pages: 1 },
}

/** A configuration of Upptime with its documented sections. */
export const upptime = {
  ...{ owner: 'acme', repo: 'upptime', 'user-agent': 'acme', assignees: ['ana'], PAT: 'zz', runner: ['self-hosted'] },
  ...{ skipDescriptionUpdate: true, delay: 5 },
  sites: [
    {
      ...{
        name: 'API',
        url: 'https://api.example.com',
        check: 'http',
        method: 'POST',
        headers: ['X-A: b'],
        body: '{}',
      },
      ...{
        expectedStatusCodes: [200],
        maxResponseTime: 5000,
        maxRedirects: 3,
        icon: 'a.png',
        slug: 'api',
        verbose: true,
      },
      ...{ assignees: ['ana'], tags: ['eu'], ipv6: true, port: 443, __dangerous__insecure: true },
      ...{ __dangerous__body_degraded: 'slow', __dangerous__body_down: 'error' },
    },
  ],
  notifications: [{ type: 'slack', webhookUrl: 'zz-secret-address' }],
  'status-website': {
    ...{ name: 'Acme', cname: 'status.example', logoUrl: 'a.svg', introTitle: 'Hello', theme: 'light' },
    navbar: [{ title: 'Home', href: '/' }],
  },
  workflowSchedule: { uptime: '*/5 * * * *', graphs: '0 0 * * *' },
  commitMessages: { statusChange: 'x' },
  i18n: { activeIncidents: 'Incidentes activos' },
}

/** Modules of the blackbox exporter, and a job of Prometheus that uses one. */
export const blackboxExporter = {
  global: { scrape_interval: '30s', external_labels: { site: 'a' } },
  modules: {
    web: {
      prober: 'http',
      timeout: '5s',
      http: {
        ...{ valid_status_codes: [200], valid_http_versions: ['HTTP/2.0'], method: 'POST', headers: { 'X-A': 'b' } },
        ...{ body_size_limit: '1MB', compression: 'gzip', follow_redirects: false, fail_if_ssl: false, body: '{}' },
        ...{ fail_if_body_not_matches_regexp: ['ok'], fail_if_body_json_matches_cel: 'body.a == 1' },
        fail_if_header_not_matches: [{ header: 'Server', regexp: 'nginx', allow_missing: true }],
        fail_if_header_matches: [{ header: 'X-Debug', regexp: '.' }],
        tls_config: { insecure_skip_verify: true, ca_file: '/ca.pem', server_name: 'a.example' },
        basic_auth: { username: 'u', password: 'zz', password_file: '/p' },
        authorization: { type: 'Bearer', credentials: 'zz', credentials_file: '/c' },
        ...{ http_headers: { 'X-B': { values: ['c'] } }, proxy_url: 'http://proxy.example:3128', no_proxy: 'a' },
        oauth2: {
          client_id: 'a',
          client_secret: 'zz',
          scopes: ['b'],
          token_url: 'https://sso.example',
          tls_config: { ca_file: '/c' },
        },
      },
    },
  },
  scrape_configs: [
    {
      ...{ job_name: 'web', metrics_path: '/probe', scrape_interval: '1m', scrape_timeout: '10s' },
      params: { module: ['web'] },
      static_configs: [{ targets: ['https://example.com'], labels: { team: 'shop' } }],
      relabel_configs: [{ source_labels: ['__address__'], target_label: '__param_target' }],
      file_sd_configs: [{ files: ['a.yml'] }],
    },
  ],
}
