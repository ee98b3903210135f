import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { parseUrl } from '../core/url.ts'
import { Fields } from './fields.ts'
import { oauthOf } from './oauth-client.ts'
import { type Draft, present, within } from './translation.ts'

/** A target and the module that probes it. */
interface Probed {
  readonly name: string
  readonly target: string
  readonly module: Fields
}

type Read = (draft: Draft, probed: Probed, options: Fields) => ObjectFields | null

/** Returns the options of a monitor, under the field of its kind. Null if the prober or the target is not supported. */
export function blackboxOptions(draft: Draft, probed: Probed): ObjectFields | null {
  const prober = probed.module.text('prober')
  return ownValue(probers, prober)?.(draft, probed, probed.module.fields(prober)) ?? null
}

/** Returns the host and port of a target such as host:9000 or [::1]:9000. */
function addressOf(target: string): { readonly host: string; readonly port: number | undefined } {
  const [, host = target, port] = /^(?:\w+:\/\/)?(\[[^\]]*\]|[^:/]*)(?::(\d{1,5}))?$/.exec(target) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? undefined : Number(port) }
}

const isUnverified = (options: Fields): false | undefined =>
  options.fields('tls_config').isTrue('insecure_skip_verify') ? false : undefined

/** The exporter prefers an IP version, and falls back to the other one unless it may not. */
const ipVersionOf = (options: Fields): number | undefined =>
  options.isFalse('ip_protocol_fallback')
    ? ownValue({ ip4: 4, ip6: 6 }, options.text('preferred_ip_protocol') || 'ip6')
    : undefined

const http: Read = (draft, { name, target }, options) => {
  const method = options.text('method').toUpperCase() || 'GET'
  const statuses = options.list('valid_status_codes').map(String)
  const headers = options.fields('headers').entries()
  const signedIn = authorizationOf(options)
  return {
    http: present({
      // The exporter adds http:// to a target without a scheme.
      url: /^https?:\/\//i.test(target) ? target : `http://${target}`,
      method: method === 'GET' ? undefined : method,
      headers: headersOf(headers, signedIn),
      body: /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : options.text('body'),
      expectedStatus: statuses.length > 0 ? statuses : undefined,
      maxRedirects: options.isFalse('follow_redirects') || options.isTrue('no_follow_redirects') ? 0 : undefined,
      verifyCertificate: isUnverified(options),
      ipVersion: ipVersionOf(options),
      proxy: options.text('proxy_url') === '' ? undefined : proxyOf(options.text('proxy_url')),
      oauth: oauthOf(options.fields('oauth2'), '_'),
      keyword: keywordOf(draft, name, options),
      expectedHeaders: expectedHeadersOf(options),
    }),
  }
}

function headersOf(entries: readonly (readonly [string, unknown])[], signedIn: string) {
  const headers = entries.map(([name, value]) => ({ name, value: String(value) }))
  const has = headers.some((each) => each.name.toLowerCase() === 'authorization')
  if (signedIn !== '' && !has) headers.push({ name: 'Authorization', value: signedIn })
  return headers.length > 0 ? headers : undefined
}

/** Returns the value of the header Authorization; empty if there is none. */
function authorizationOf(options: Fields): string {
  const basic = options.fields('basic_auth')
  if (basic.text('username') !== '')
    return `Basic ${Buffer.from(`${basic.text('username')}:${basic.text('password')}`).toString('base64')}`
  const { type, credentials } = {
    type: options.fields('authorization').text('type') || 'Bearer',
    credentials: options.fields('authorization').text('credentials') || options.text('bearer_token'),
  }
  return credentials === '' ? '' : `${type} ${credentials}`
}

function proxyOf(address: string): ObjectFields {
  const url = parseUrl(address)
  if (url === null) return { url: address }
  const { username, password } = url
  url.username = ''
  url.password = ''
  return present({ url: url.origin === 'null' ? url.href : url.origin, username, password })
}

/** Returns the pattern that decides about the body. A monitor has one. */
function keywordOf(draft: Draft, name: string, options: Fields): ObjectFields | undefined {
  const required = options.list('fail_if_body_not_matches_regexp').map(String)
  const forbidden = options.list('fail_if_body_matches_regexp').map(String)
  const [first] = [
    ...required.map((text) => ({ text, isRegex: true })),
    ...forbidden.map((text) => ({ text, isRegex: true, absent: true })),
  ]
  for (const left of [...required, ...forbidden].slice(1))
    draft.partly('monitors', name, `It is probed without the pattern ${left.slice(0, 200)}.`)
  return first
}

function expectedHeadersOf(options: Fields): readonly ObjectFields[] | undefined {
  const required = options.list('fail_if_header_not_matches').map((each) => {
    const header = new Fields(each)
    return { name: header.text('header'), matches: header.text('regexp') }
  })
  return required.length > 0 ? required : undefined
}

const tcp: Read = (draft, { name, target }, options) => {
  const { host, port } = addressOf(target)
  if (port === undefined) return null
  const steps = options.list('query_response').map((each) => new Fields(each))
  const [first] = steps
  const isPlain = steps.length === 1 && first !== undefined && first.has('send') !== first.has('expect')
  const banner = isPlain ? plainOf(first.text('expect')) : null
  const send = isPlain ? first.text('send') : ''
  if (steps.length > 0 && banner === null && send === '') {
    for (const step of steps) step.settle()
    draft.partly('monitors', name, 'It is probed without its dialogue of texts to send and expect.')
  }
  const tls = options.isTrue('tls') ? true : undefined
  return {
    tcp: present({ host, port, tls, verifyCertificate: isUnverified(options), expect: banner ?? '', send }),
  }
}

/** Returns the text that a regular expression looks for at the start. Null if it is not plain. */
function plainOf(pattern: string): string | null {
  const text = pattern.replace(/^\^/, '').replace(/\\([+.\-*?()[\]{}|^$])/g, '$1')
  const isPlain = !/[*?()[\]{}|^$\\]|(?<!^)[.+]/.test(pattern.replace(/^\^/, '').replace(/\\[+.\-*?()[\]{}|^$]/g, ''))
  return isPlain && text !== '' ? text : null
}

const dns: Read = (draft, { name, target }, options) => {
  const types = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT']
  const type = options.text('query_type').toUpperCase() || 'ANY'
  if (!types.includes(type)) return null
  const codes = options.list('valid_rcodes').map(String)
  if (codes.some((code) => code !== 'NOERROR')) draft.partly('monitors', name, 'Only the answer NOERROR counts as up.')
  if (options.has('validate_answer_rrs')) {
    options.fields('validate_answer_rrs').settle()
    draft.partly('monitors', name, 'It is probed without its patterns of records.')
  }
  const isTls = options.isTrue('dns_over_tls')
  return {
    dns: {
      ...{ name: options.text('query_name').replace(/\.$/, ''), recordType: type },
      resolver: isTls ? `tls://${target}` : target,
    },
  }
}

const icmp: Read = (_draft, { target }, options) => {
  const size = options.number('payload_size')
  const packetSize = size === undefined ? undefined : within(16, 8972, size)
  return { ping: present({ host: addressOf(target).host, packetSize, ipVersion: ipVersionOf(options) }) }
}

const grpc: Read = (_draft, { target }, options) => {
  const { host, port } = addressOf(target)
  const tls = options.isTrue('tls') ? true : undefined
  return {
    grpc: present({ host, port, tls, service: options.text('service'), verifyCertificate: isUnverified(options) }),
  }
}

const probers: Readonly<Record<string, Read>> = { http, tcp, dns, icmp, grpc }
