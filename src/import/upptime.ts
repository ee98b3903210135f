import type { ObjectFields } from '../configuration/format.ts'
import { Fields } from './fields.ts'
import { slugOf } from './incident-fields.ts'
import { type KnownKeys, noLossOf, noteLosses, unless } from './losses.ts'
import { Draft, type Drafted, keyOf, lineOf, nameOf, present, Unreadable, within } from './translation.ts'
import { readYamlObject } from './yaml-object.ts'

const PREFIX = 'upptime'

const GITHUB = 'This is a setting of Upptime’s repository.'
const LOOK = 'The look of pages is not imported.'

const known: KnownKeys = {
  ...noLossOf(['owner', 'repo', 'user-agent', 'verbose']),
  ...{ PAT: GITHUB, runner: GITHUB, commitMessages: GITHUB, repos: GITHUB, robotsText: GITHUB, delay: GITHUB },
  ...{ skipDescriptionUpdate: GITHUB, skipTopicsUpdate: GITHUB, skipHomepageUpdate: GITHUB, skipDeleteIssues: GITHUB },
  ...{ skipPoweredByReadme: GITHUB, summaryStartHtmlComment: GITHUB, summaryEndHtmlComment: GITHUB },
  ...{ liveStatusHtmlComment: GITHUB, commitPrefixStatusUp: GITHUB, commitPrefixStatusDown: GITHUB },
  ...{ commitPrefixStatusDegraded: GITHUB, customStatusWebsitePackage: GITHUB },
  'workflowSchedule.uptime': 'Its schedule is not imported: monitors here have an interval of five minutes.',
  'workflowSchedule.*': GITHUB,
  i18n: 'Its texts are not imported. Pages here have ten languages.',
  assignees: 'Its assignees are not imported.',
  notifications: 'Its notifications are not imported. Choose channels here.',
  icon: LOOK,
  tags: 'Tags are not imported.',
  'status-website.cname': 'Set up its domain here.',
  ...noLossOf(['baseUrl', 'publish', 'singleCommit', 'apiBaseUrl', 'userContentBaseUrl'], 'status-website'),
  'status-website.*': LOOK,
  __dangerous__body_degraded: 'It is not degraded by a text here.',
  __dangerous__body_degraded_if_text_missing: 'It is not degraded by a missing text here.',
  __dangerous__body_down: 'It is not down by this text, because another one decides already.',
  __dangerous__disable_verify_host: unless('The name in its certificate must be right here.', false),
  ipv6: unless('Its IP version is not imported for this kind.', false),
}

/** The interval of Upptime’s workflow unless it is changed, in seconds (workflowSchedule.uptime: every five minutes). */
const INTERVAL = 300

/** The statuses that Upptime accepts unless a site names others (src/update.ts of upptime/uptime-monitor). */
const STATUSES = ['200-208', '226', '300-308']

/** Translates `.upptimerc.yml`. Its `$NAME` become `${NAME}`. @throws Unreadable. */
export function translateUpptime(text: string): Drafted {
  const file = readYamlObject(text)
  const sites = file.list('sites').map((each) => new Fields(each))
  if (sites.length === 0) throw new Unreadable('This isn’t a configuration of Upptime: it has no sites.')
  const draft = new Draft()
  for (const site of sites) addSite(draft, site)
  addPage(draft, file.fields('status-website'))
  file.fields('workflowSchedule')
  noteLosses(draft, [file], known)
  return { ...draft, hasVariables: true }
}

function addSite(draft: Draft, site: Fields): void {
  const name = nameOf(site.text('name'), 'Site')
  const key = keyOf(PREFIX, site.text('slug') || (lineOf(site.text('name')) || name).toLowerCase())
  if (draft.objects.monitors.has(key)) {
    draft.skip('monitors', name, 'Another site has this name or slug.', site)
    return
  }
  const options = optionsOf(draft, name, site)
  if (options === null) {
    draft.skip('monitors', name, `Allclear has no monitors for the check ${nameOf(site.text('check'), '')}.`, site)
    return
  }
  draft.objects.services.set(key, { name })
  draft.objects.monitors.set(key, {
    ...{ name, service: key, intervalSeconds: INTERVAL, timeoutMs: 30_000 },
    // Upptime tries three times before it calls a site down.
    failureThreshold: 3,
    ...options,
  })
}

function optionsOf(draft: Draft, name: string, site: Fields): ObjectFields | null {
  const url = placeholdersIn(site.text('url'))
  const { host, port } = addressOf(url)
  const degradedAboveMs = limitOf(site)
  switch (site.text('check') || 'http') {
    case 'http':
      return { http: httpOptions(draft, name, site, url) }
    case 'tcp-ping':
      return { tcp: present({ host, port: site.number('port') ?? port, degradedAboveMs }) }
    case 'icmp-ping':
      return { ping: present({ host, degradedAboveMs, ipVersion: site.isTrue('ipv6') ? 6 : undefined }) }
    case 'ws':
      return { websocket: socketOptions(site, url) }
    default:
      return null
  }
}

function addressOf(url: string): { readonly host: string; readonly port: number | undefined } {
  // A placeholder may stand for a whole address.
  if (url.startsWith('$')) return { host: url, port: undefined }
  const [, host = '', port] = /^(?:\w+:\/\/)?(\[[^\]]*\]|[^/:]*)(?::(\d{1,5}))?/.exec(url) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? undefined : Number(port) }
}

function socketOptions(site: Fields, url: string): ObjectFields {
  const { host, port } = addressOf(url)
  const path = url.replace(/^\w+:\/\/[^/]*/, '').split('#', 1)[0] ?? ''
  const isPlain = url.startsWith('ws://')
  return present({
    ...{ host, port: port ?? (isPlain ? 80 : 443), tls: isPlain ? false : undefined, path: path === '/' ? '' : path },
    send: placeholdersIn(site.text('body')),
    verifyCertificate: site.isTrue('__dangerous__insecure') ? false : undefined,
    degradedAboveMs: limitOf(site),
  })
}

/** Upptime replaces `$NAME` by a secret of the repository. */
const placeholdersIn = (text: string): string =>
  text.replace(/\$([A-Z][A-Z0-9_]*)/g, (_, variable: string) => `\${${variable}}`)

function limitOf(site: Fields): number | undefined {
  const limit = site.number('maxResponseTime')
  return limit === undefined ? undefined : within(1, 30_000, limit)
}

function httpOptions(draft: Draft, name: string, site: Fields, url: string): ObjectFields {
  const method = site.text('method').toUpperCase() || 'GET'
  const headers = site.list('headers').flatMap((each) => headerOf(each) ?? noHeader(draft, name))
  const statuses = site
    .list('expectedStatusCodes')
    .map(String)
    .filter((status) => /^[1-5]\d\d$/.test(status))
  if (statuses.length < site.list('expectedStatusCodes').length)
    draft.partly('monitors', name, 'Some of its expected status codes are not codes and are not imported.')
  const redirects = site.number('maxRedirects')
  const isUnverified = ['__dangerous__insecure', '__dangerous__disable_verify_peer'].some((each) => site.isTrue(each))
  for (const each of ['__dangerous__insecure', '__dangerous__disable_verify_peer']) site.isFalse(each)
  return present({
    url,
    method: method === 'GET' ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    body: /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : placeholdersIn(site.text('body')),
    expectedStatus: statuses.length > 0 ? statuses : STATUSES,
    maxRedirects: redirects === undefined ? undefined : within(0, 10, redirects),
    verifyCertificate: isUnverified ? false : undefined,
    degradedAboveMs: limitOf(site),
    ipVersion: site.isTrue('ipv6') ? 6 : undefined,
    keyword: keywordOf(site),
  })
}

/** Returns the text that decides whether a site is down. A monitor has one. */
function keywordOf(site: Fields): ObjectFields | undefined {
  const missing = site.text('__dangerous__body_down_if_text_missing')
  if (missing !== '') return { text: placeholdersIn(missing) }
  const found = site.text('__dangerous__body_down')
  return found === '' ? undefined : { text: placeholdersIn(found), absent: true }
}

function headerOf(line: unknown): { readonly name: string; readonly value: string } | null {
  const text = String(line)
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(colon, 0)).trimEnd()
  if (name === '' || /\s/.test(name)) return null
  return { name, value: placeholdersIn(text.slice(colon + 1).trim()) }
}

function noHeader(draft: Draft, name: string): [] {
  draft.partly('monitors', name, 'One of its headers is not “name: value” and is not imported.')
  return []
}

/** Adds the page, if the file has one and a site for it. */
function addPage(draft: Draft, page: Fields): void {
  const services = [...draft.objects.services.keys()]
  if (page.isEmpty() || services.length === 0) return
  const name = nameOf(page.text('name'), 'Status')
  const description = [page.text('introTitle'), page.text('introMessage')].filter(Boolean).join('\n\n').slice(0, 2000)
  draft.objects.pages.set(keyOf(PREFIX, 'page'), present({ slug: slugOf(name), name, description, services }))
}
