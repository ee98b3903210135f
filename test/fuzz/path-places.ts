import { servedPaths } from '../../src/app/router.ts'
import type { FilledOrganization } from '../support/filled-organization.ts'
import { asText, type Caller, type FuzzInput, type Place, percentEncoded } from './input.ts'
import { all, shapes, texts } from './values.ts'

/** Parameters that paths read beside those that the description names. */
const alsoRead = [
  'language',
  'token',
  'target',
  'page',
  'q',
  'since',
  'at',
  'before',
  'after',
  'range',
  'theme',
  'domain',
]
const headers = ['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'cookie', 'host']
const moreHeaders = ['if-none-match', 'x-api-key', 'x-forwarded-for', 'x-organization', 'origin', 'range', 'referer']

/** The ends of secret addresses. */
export interface Secrets {
  /** The path of an integration. */
  readonly integration: string
}

/** Returns every part of every path, every parameter, header and body of REST, pages and documents. */
export function pathPlaces(organization: FilledOrganization, secrets: Secrets): Place[] {
  const described = Object.entries(servedPaths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'delete'] as const).flatMap((method) => (item[method] ? [{ path, method }] : [])),
  )
  const integration = { path: secrets.integration, method: 'post' as const }
  return [...described, integration].flatMap(({ path, method }) => placesOf(path, method, organization))
}

function placesOf(template: string, method: string, organization: FilledOrganization): Place[] {
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pathWith = (name: string, value: string) =>
    template.replace(/\{(\w+)\}/g, (_, each: string) =>
      percentEncoded(each === name ? value : usual(each, template, organization)),
    )
  const own = pathWith('', '')
  const request = (path: string, more: Readonly<Record<string, string>> = {}, body: FuzzInput['body'] = null) => ({
    method: method.toUpperCase(),
    path: path === '' ? '/' : path,
    headers: { accept: 'text/html,application/json;q=0.9,*/*;q=0.8', ...more },
    body,
  })
  const callers: readonly [Caller, ...Caller[]] = ['stranger', 'ADMIN', 'READ', 'WRITE', 'person']
  const title = `${method.toUpperCase()} ${template || '/'}`
  const place = (name: string, kinds: Place['kinds'], put: Place['put']): Place => ({
    name: `${title} ${name}`,
    callers,
    kinds,
    put,
  })
  const isGet = method === 'get'
  return [
    ...parameters.map((name) => place(`{${name}}`, texts, (value) => request(pathWith(name, asText(value))))),
    ...(isGet ? alsoRead : ['token']).map((name) =>
      place(`?${name}`, texts, (value) => request(`${own}?${name}=${percentEncoded(asText(value))}`)),
    ),
    ...(isGet ? [...headers, ...moreHeaders] : ['authorization', 'content-type']).map((name) =>
      place(`header ${name}`, texts, (value) => request(own, { [name]: headerText(asText(value)) })),
    ),
    ...(isGet
      ? []
      : [
          place('JSON', [...shapes, ...all], (value) =>
            request(own, { 'content-type': 'application/json' }, JSON.stringify(value) ?? ''),
          ),
          place('a member of JSON', all, (value) =>
            request(
              own,
              { 'content-type': 'application/json' },
              JSON.stringify({
                ...{
                  targets: [value],
                  target: value,
                  status: value,
                  title: value,
                  alerts: [{ labels: value, status: value }],
                },
                ...{ event_action: value, payload: { summary: value }, dedup_key: value, message: value, id: value },
              }),
            ),
          ),
          place('a body', texts, (value) => request(own, { 'content-type': 'text/plain' }, asText(value))),
        ]),
  ]
}

/** A header as the protocol allows it: Node.js refuses to send others. */
const headerText = (text: string) =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, 15_000)

function usual(name: string, template: string, { slug, ids }: FilledOrganization): string {
  if (name === 'slug') return slug
  if (name === 'language') return 'de'
  if (name === 'month') return '2026-10'
  if (name === 'guide') return 'graphql'
  if (name === 'target') return '192.0.2.1'
  if (name === 'id') return template.includes('incidents') ? ids.Incident : ids.Service
  return 'x'
}
