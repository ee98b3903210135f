import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { addPages } from './better-stack-pages.ts'
import { Fields } from './fields.ts'
import { type KnownKeys, noLossOf, noteLosses, unless, words } from './losses.ts'
import { Draft, type Drafted, keyOf, nameOf, present, readJsonObject, Unreadable, within } from './translation.ts'

const PREFIX = 'betterstack'

const WINDOW = 'Its maintenance window is not imported. Plan a repeating maintenance here.'
const ALERTS = 'How its alerts are sent is not imported. Choose channels here.'
const ESCALATION = 'Escalation policies are not imported.'
const LOOK = 'The look of pages is not imported.'

const known: KnownKeys = {
  environment_variables: 'Its variables are not imported.',
  ...noLossOf(['data', 'policy', 'id', 'type', 'status_page', 'team'], 'relationships'),
  ...noLossOf(['id', 'type', 'data'], 'policy'),
  ...noLossOf(['day', 'status', 'downtime_duration', 'maintenance_duration'], 'status_history'),
  // Ids, times, the current state, paging, and what belongs to another type of monitor.
  ...noLossOf(
    words(`
      id type created_at updated_at last_checked_at status paused paused_at port required_keyword
      expected_status_codes http_method request_headers checks_version availability status_history position
      aggregate_state team_name auth_username auth_password proxy_host proxy_port relationships confirmed_at
      published_at published_at_timezone resource_id notify_subscribers status_page_id status_page_section_id
      starts_at widget_type subdomain links verify_ssl follow_redirects request_headers.id
    `),
  ),
  ...noLossOf(['first', 'last', 'prev', 'next'], 'pagination'),
  ...{
    call: unless(ALERTS, false),
    sms: unless(ALERTS, false),
    email: unless(ALERTS, false),
    push: unless(ALERTS, false),
  },
  ...{
    critical_alert: unless(ALERTS, false),
    team_wait: ESCALATION,
    policy_id: ESCALATION,
    expiration_policy_id: ESCALATION,
  },
  ...{ monitor_group_id: 'Groups of monitors are not imported.', regions: 'Its regions are not imported.' },
  recovery_period: unless('The time until an outage ends is not imported.', 0),
  confirmation_period: unless('The time until an outage begins is not imported.', 0),
  remember_cookies: unless('Cookies are not kept between probes.', false),
  domain_expiration: 'The expiry of its domain is not watched. Add a monitor for it here.',
  ssl_expiration: 'The expiry of its certificate is not imported for this kind.',
  ...{ maintenance_from: WINDOW, maintenance_to: WINDOW, maintenance_timezone: WINDOW, maintenance_days: WINDOW },
  ...noLossOf(['playwright_script', 'scenario_name']),
  ...{
    logo_url: LOOK,
    theme: LOOK,
    layout: LOOK,
    design: LOOK,
    custom_css: LOOK,
    custom_javascript: LOOK,
    navigation_links: LOOK,
  },
  ...{ favicon_url: LOOK, whitelabeled: LOOK, history: LOOK, min_incident_length: LOOK },
}

/** Translates the answer of Better Stack's `/api/v2/monitors`, plus the fields that `addPages` reads. @throws Unreadable. */
export function translateBetterStack(text: string): Drafted {
  const answer = readJsonObject(text)
  if (!Array.isArray(answer.get('data')))
    throw new Unreadable('This isn’t a list of monitors of Better Stack: it has no data.')
  const draft = new Draft()
  for (const item of answer.list('data')) {
    const resource = new Fields(item)
    addMonitor(draft, resource.text('id'), resource.fields('attributes'))
  }
  if (answer.fields('pagination').text('next') !== '')
    draft.skip(
      'monitors',
      'Further monitors',
      'The list has more pages. Combine the data of all pages in one file, or use a larger per_page.',
    )
  addPages(draft, answer)
  noteLosses(draft, [answer], known)
  return { ...draft, hasVariables: false }
}

function addMonitor(draft: Draft, id: string, monitor: Fields): void {
  const name = nameOf(monitor.text('pronounceable_name') || monitor.text('url'), `Monitor ${id}`)
  const isPaused = monitor.has('paused_at') || monitor.isTrue('paused')
  const options = id === '' ? null : optionsOf(draft, name, monitor)
  if (options === null) {
    const kind = `Allclear has no monitors of kind ${monitor.text('monitor_type')}.`
    draft.skip('monitors', name, id === '' ? 'It has no id.' : kind, monitor)
    return
  }
  const key = keyOf(PREFIX, id)
  const interval = within(1, 86_400, monitor.number('check_frequency') ?? 180)
  const given = monitor.number('request_timeout') ?? 30
  // Timeouts of server monitors are in milliseconds.
  const timeout = given >= 500 ? given : given * 1000
  draft.objects.services.set(key, { name })
  draft.objects.monitors.set(key, {
    ...{ name, service: key, intervalSeconds: interval },
    timeoutMs: within(500, Math.min(30_000, interval * 1000), timeout),
    ...options,
  })
  if (isPaused) draft.pause(key, name)
}

function optionsOf(draft: Draft, name: string, monitor: Fields): ObjectFields | null {
  const url = monitor.text('url')
  const host = url.replace(/^\w+:\/\//, '').replace(/[/?#].*/s, '')
  switch (monitor.text('monitor_type')) {
    case 'status':
      return { http: httpOptions(monitor) }
    case 'expected_status_code': {
      const codes = monitor.list('expected_status_codes').map(String)
      return {
        http: present({ ...httpOptions(monitor), expectedStatus: codes.length > 0 ? codes : undefined }),
      }
    }
    case 'keyword':
      return { http: { ...httpOptions(monitor), keyword: { text: monitor.text('required_keyword') } } }
    case 'keyword_absence': {
      const keyword = { text: monitor.text('required_keyword'), absent: true }
      return { http: { ...httpOptions(monitor), keyword } }
    }
    case 'ping':
      return { ping: { host } }
    case 'tcp':
    case 'smtp':
    case 'pop':
    case 'imap':
      if (monitor.text('monitor_type') !== 'tcp') draft.partly('monitors', name, 'Only its port is probed.')
      return { tcp: present({ host, port: monitor.number('port') }) }
    default:
      return null
  }
}

function httpOptions(monitor: Fields): ObjectFields {
  const method = monitor.text('http_method').toUpperCase() || 'GET'
  const headers = monitor
    .list('request_headers')
    .map((each) => new Fields(each))
    .map((each) => ({ name: each.text('name'), value: each.text('value') }))
    .filter((each) => each.name !== '')
  const user = monitor.text('auth_username')
  if (user !== '') {
    const credentials = Buffer.from(`${user}:${monitor.text('auth_password')}`).toString('base64')
    headers.push({ name: 'Authorization', value: `Basic ${credentials}` })
  }
  const proxyHost = monitor.text('proxy_host')
  const proxyPort = monitor.number('proxy_port')
  const days = monitor.number('ssl_expiration')
  return present({
    url: monitor.text('url'),
    method: method === 'GET' ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    body: /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : monitor.text('request_body'),
    verifyCertificate: monitor.isFalse('verify_ssl') ? false : undefined,
    ipVersion: ownValue({ ipv4: 4, ipv6: 6 }, monitor.text('ip_version')),
    maxRedirects: monitor.isFalse('follow_redirects') ? 0 : undefined,
    certificateDays: days === undefined || days < 1 ? undefined : within(1, 365, days),
    proxy:
      proxyHost === '' ? undefined : { url: `http://${proxyHost}${proxyPort === undefined ? '' : `:${proxyPort}`}` },
  })
}
