import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { described, named } from '../../core/described.ts'
import type { Issue } from '../../core/errors.ts'
import { issueMessage } from '../../core/issue-message.ts'
import { parseUrl } from '../../core/url.ts'
import { cappedText, trimmedText } from '../../core/validation.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { urlHostProblem } from '../../network/outbound/host.ts'
import { certificateDays, certificateDaysWords, verifyCertificate } from './certificate-expiry.ts'
import { responseOptions } from './common.ts'
import { hostRefusals, ipVersion } from './host.ts'
import { isSingularPath } from './json-assertion.ts'
import { patternText } from './pattern.ts'

const MAX_BYTES = 1024 * 1024
/** The maximum size of the body that a probe sends. */
const MAX_SENT_BYTES = 64 * 1024

const webAddress = trimmedText(2048).transform((text, ctx) => {
  const problem = urlProblem(text)
  if (problem === null) return new URL(text).href.replace(/#.*/s, '')
  ctx.addIssue({ code: 'custom', message: problem })
  return z.NEVER
})

function urlProblem(text: string): string | null {
  const url = parseUrl(text)
  const problem = urlHostProblem(text)
  if (url === null && problem !== null) return problem
  if (!/^https?:\/\//i.test(text) || url === null) return 'must be an http:// or https:// URL'
  if (problem !== null) return problem
  const { username, password, port } = url
  if (username !== '' || password !== '') return 'must not contain credentials: use an Authorization header'
  return port === '25' ? 'must not use port 25, which is for mail' : null
}

/** Headers that belong to the connection (RFC 9110 §7.6.1) or that the URL and the body determine. */
const reserved = /^(?:host|content-length|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/i

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')

/** What the secrets of the request are kept for. */
const RECIPIENT = 'the scheme, host or port of the URL'

const header = named(
  z.strictObject({
    name: described(
      headerName.refine((name) => !reserved.test(name), 'must not be a header that is set automatically'),
      { label: 'Name', description: 'The header’s name.' },
    ),
    value: described(
      z
        .string()
        .max(4096)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must not have line breaks, control characters or letters beyond Latin-1'),
      {
        label: 'Value',
        description: 'The header’s value, which is not sent to other hosts after a redirect.',
        secret: RECIPIENT,
      },
    ),
  }),
  { name: 'HttpHeader', about: 'A request header.' },
)

const status = named(z.string().regex(/^[1-5](?:\d\d|xx|\d\d-[1-5]\d\d)$/, 'must be like 200, 2xx or 200-299'), {
  name: 'StatusRange',
})

const keywordShape = z.strictObject({
  text: described(z.string().min(1, 'must not be empty').max(500), {
    label: 'Text in the response',
    description: 'The text to look for, or a regular expression.',
  }),
  absent: described(z.boolean().default(false), {
    label: 'The response must not contain this text',
    description: 'Whether the response must not contain it.',
  }),
  isRegex: described(z.boolean().default(false), {
    label: 'This text is a regular expression',
    description: 'Whether the text is a regular expression in the syntax of RE2, at most 200 characters.',
    hint: 'In the syntax of RE2.',
  }),
})

const keyword = named(keywordShape, {
  name: 'HttpKeyword',
  about: 'A text that the response must contain.',
}).superRefine(({ text, isRegex }, ctx) => {
  if (!isRegex) return
  for (const issue of patternText.safeParse(text, { error: issueMessage }).error?.issues ?? [])
    ctx.addIssue({ code: 'custom', path: ['text'], message: issue.message })
})

const expectedHeader = named(
  z.strictObject({
    name: described(headerName, { label: 'Name', description: 'The header’s name.' }),
    equals: described(z.string().max(1000).optional(), {
      label: 'Value',
      description: 'The expected value. Default: any.',
    }),
    matches: described(patternText.optional(), {
      label: 'Matches',
      description: 'A regular expression (RE2) that must match the value. Default: none.',
    }),
    absent: described(z.boolean().default(false), {
      label: 'Absent',
      description: 'Whether the response must not have the header.',
    }),
  }),
  { name: 'HttpExpectedHeader', about: 'A header that the response must have.' },
)

const pem = z.string().max(16 * 1024)

const clientCertificate = named(
  z.strictObject({
    certificate: described(pem.trim(), {
      label: 'Client certificate',
      description: 'The certificate in PEM, followed by those of its authorities if needed.',
      hint: 'In PEM, with those of its authorities if needed.',
      field: 'prose',
    }),
    key: described(pem, {
      label: 'Its private key',
      description: 'Its private key in PEM, without a passphrase.',
      hint: 'In PEM.',
      secret: RECIPIENT,
    }),
  }),
  { name: 'HttpClientCertificate', about: 'A TLS client certificate.' },
).superRefine(({ certificate, key }, ctx) => {
  const problem = identityProblem(certificate, key)
  if (problem !== null) ctx.addIssue({ code: 'custom', ...problem })
})

/** Checks a certificate and its key. An empty key stands for a redacted one. */
function identityProblem(certificate: string, key: string): { path: string[]; message: string } | null {
  let parsed: X509Certificate
  try {
    parsed = new X509Certificate(certificate)
  } catch {
    return { path: ['certificate'], message: 'must be a certificate in PEM' }
  }
  if (key === '') return null
  try {
    const fits = parsed.checkPrivateKey(createPrivateKey(key))
    return fits ? null : { path: ['key'], message: 'must be the key of the certificate' }
  } catch {
    return { path: ['key'], message: 'must be a private key in PEM, without a passphrase' }
  }
}

const visible = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .regex(/^[\x20-\x7e]*$/, 'must not have letters beyond ASCII')

const authentication = named(z.enum(['BASIC', 'POST']), {
  name: 'OAuthAuthentication',
  about: 'How a client authenticates at the token URL.',
  values: { BASIC: 'In the Authorization header.', POST: 'In the request body.' },
  texts: { BASIC: 'In a header', POST: 'In the body' },
})

const oauth = named(
  z.strictObject({
    tokenUrl: described(webAddress, {
      label: 'OAuth: token URL',
      description: 'The token URL: https:// without a port, or on the host of the URL.',
      hint: 'The monitor gets a token there as a client, and uses it until it expires.',
      field: 'url',
    }),
    clientId: described(visible(200), { label: 'OAuth: client id', description: 'The client’s id.' }),
    clientSecret: described(z.string().max(1000), {
      label: 'OAuth: client secret',
      description: 'The client’s secret.',
      secret: 'the scheme, host or port of either URL',
    }),
    scope: described(visible(500).optional(), {
      label: 'OAuth: scopes',
      description: 'The scopes to request, separated by spaces. Default: none.',
      hint: 'Separated by spaces.',
    }),
    audience: described(visible(500).optional(), {
      label: 'OAuth: audience',
      description: 'The audience to request. Default: none.',
    }),
    authentication: described(authentication.default('BASIC'), {
      label: 'OAuth: client signs in',
      description: 'How the client authenticates at the token URL.',
    }),
  }),
  { name: 'HttpOAuth', about: 'OAuth 2.0 client credentials. The monitor gets access tokens with them.' },
)

const proxyAddress = trimmedText(2048).transform((text, ctx) => {
  const url = parseUrl(text.replace(/^socks5h:/i, 'socks5:'))
  const problem = urlHostProblem(text) ?? proxyProblem(url)
  if (url !== null && problem === null) return `${url.protocol}//${url.host}`
  ctx.addIssue({ code: 'custom', message: problem ?? 'must be a URL' })
  return z.NEVER
})

function proxyProblem(url: URL | null): string | null {
  if (url === null || !/^(?:https?|socks5):$/.test(url.protocol)) return 'must be an http://, https:// or socks5:// URL'
  const { username, password, pathname, search, port } = url
  if (username !== '' || password !== '') return 'must not contain credentials: give a username and a password'
  if (port === '25') return 'must not use port 25, which is for mail'
  return /^\/?$/.test(pathname) && search === '' ? null : 'must not have a path'
}

/** The maximum length of a proxy's user name and password. RFC 1929 stores it in one byte. */
const MAX_PROXY_CREDENTIAL = 255

const proxy = named(
  z.strictObject({
    url: described(proxyAddress, {
      label: 'Proxy',
      description: 'An http://, https:// or socks5:// URL without credentials.',
      hint: 'http://, https:// or socks5:// and a host, with a port if needed.',
    }),
    username: described(
      visible(MAX_PROXY_CREDENTIAL)
        .refine((name) => !name.includes(':'), 'must not contain a colon')
        .optional(),
      { label: 'Proxy: user name', description: 'The user name for the proxy. Default: none.' },
    ),
    password: described(z.string().max(MAX_PROXY_CREDENTIAL).optional(), {
      label: 'Proxy: password',
      description: 'The password for the proxy.',
      secret: 'the scheme, host or port of the proxy or of the URL',
    }),
  }),
  { name: 'HttpProxy', about: 'A proxy for requests.' },
).superRefine(({ username, password }, ctx) => {
  if (password !== undefined && username === undefined)
    ctx.addIssue({ code: 'custom', path: ['username'], message: 'must be given with a password' })
})

const jsonValue = z.union([z.string().max(1000), z.number(), z.boolean()])

const jsonPath = cappedText(200).refine(
  isSingularPath,
  "must be a JSONPath to a single value, such as $.checks[0].status or $['a b']",
)

const json = named(
  z.strictObject({
    path: described(jsonPath, {
      label: 'JSONPath',
      description: 'A JSONPath to a single value, such as $.checks[0].status.',
      hint: 'A single value of a JSON response, such as $.status.',
    }),
    equals: described(jsonValue.optional(), {
      label: 'Its value',
      description: 'The expected value. Default: any.',
      hint: 'A text, a number, true or false. A number in quotes is a text. Empty: any.',
    }),
    notEquals: described(jsonValue.optional(), {
      label: 'Not this value',
      description: 'A value that it must not have. Default: none.',
    }),
    lessThan: described(z.number().optional(), {
      label: 'Less than',
      description: 'A limit that the value must stay below. Default: no limit.',
    }),
    atMost: described(z.number().optional(), {
      label: 'At most',
      description: 'The largest allowed value. Default: no limit.',
    }),
    greaterThan: described(z.number().optional(), {
      label: 'Greater than',
      description: 'A limit that the value must exceed. Default: no limit.',
    }),
    atLeast: described(z.number().optional(), {
      label: 'At least',
      description: 'The smallest allowed value. Default: no limit.',
    }),
    matches: described(patternText.optional(), {
      label: 'Matches',
      description: 'A regular expression (RE2) that must match the value. Default: none.',
      hint: 'A regular expression in the syntax of RE2.',
    }),
    length: described(z.boolean().default(false), {
      label: 'Compare its length',
      description: 'Whether the length of the value is compared: characters, items or members.',
    }),
    absent: described(z.boolean().default(false), {
      label: 'The path must not exist',
      description: 'Whether the path must not exist.',
    }),
  }),
  { name: 'HttpJson', about: 'What a JSON response must contain.' },
)

const method = named(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']), {
  name: 'HttpMethod',
  about: 'An HTTP request method.',
})

const body = cappedText(MAX_SENT_BYTES).refine(
  (text) => Buffer.byteLength(text) <= MAX_SENT_BYTES,
  'must have at most 64 KiB',
)

const request = { section: 'Request' } as const
const response = { section: 'Response' } as const
const signingIn = { section: 'Signing in' } as const
const tls = { section: 'TLS' } as const

/** The options of an HTTP monitor. */
export const httpOptions = z
  .strictObject({
    url: described(webAddress, {
      label: 'URL',
      description: 'An http:// or https:// URL.',
      hint: 'https:// or http://',
      field: 'url',
    }),
    method: described(method.default('GET'), { ...request, label: 'Method', description: 'The request method.' }),
    headers: described(z.array(header).max(20).default([]), {
      ...request,
      label: 'Headers',
      description: 'The request headers, at most 20.',
      hint: 'Values are secret: they are never shown again. Empty a name to remove its header.',
      field: 'headers',
    }),
    body: described(body.optional(), {
      ...request,
      label: 'Body',
      description: 'The request body. A redirect that would send it to another host is not followed.',
      secret: RECIPIENT,
    }),
    proxy: described(proxy.optional(), { ...request, description: 'The proxy for requests. Default: none.' }),
    maxRedirects: described(z.int().min(0).max(10).default(5), {
      ...request,
      label: 'Redirects',
      description: 'The maximum number of redirects, 0 to 10; 0: they are not followed.',
      hint: 'How many are followed.',
    }),
    ipVersion: described(ipVersion, {
      ...request,
      label: 'IP version',
      description: 'The IP version, 4 or 6. Default: whichever connects.',
      none: 'Whichever connects',
    }),
    expectedStatus: described(z.array(status).min(1, 'must not be empty').max(20).default(['2xx']), {
      ...response,
      label: 'Expected status',
      description: 'The expected status after redirects.',
      hint: 'After redirects. Such as 200, 2xx or 200-299; several separated by commas.',
      field: 'words',
    }),
    keyword: described(keyword.optional(), {
      ...response,
      description: 'A text that the response must contain. Default: none.',
    }),
    json: described(json.optional(), {
      ...response,
      description: 'What a JSON response must contain. Default: anything.',
    }),
    expectedHeaders: described(z.array(expectedHeader).max(10).default([]), {
      ...response,
      label: 'Expected headers',
      description: 'Assertions about response headers, at most 10.',
      hint: 'One per line: “Name: value”, “Name” for any value, “Name ~ expression” for a regular expression, “!Name” for none.',
      field: 'expectations',
    }),
    maxBodyBytes: described(z.int().min(1).max(MAX_BYTES).default(MAX_BYTES), {
      ...response,
      label: 'Bytes searched',
      description: 'The number of bytes of a response to search for the keyword and the JSON value. Default: 1 MiB.',
      hint: 'How much of a response is searched for the text and the value.',
    }),
    clientCertificate: described(clientCertificate.optional(), {
      ...signingIn,
      description: 'The client certificate. Default: none.',
    }),
    oauth: described(oauth.optional(), { ...signingIn, description: 'The OAuth client. Default: none.' }),
    verifyCertificate: described(verifyCertificate, {
      ...tls,
      label: 'The certificate must be valid',
      description: 'Whether the certificate must be trusted.',
    }),
    certificateDays: described(certificateDays, { ...certificateDaysWords, ...tls }),
    ...responseOptions,
  })
  .superRefine(
    ({ method, url, body, headers, keyword: word, json: assertion, clientCertificate: own, oauth: token }, ctx) => {
      const bodiless = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
      if (bodiless && body !== undefined) {
        ctx.addIssue({ code: 'custom', path: ['body'], message: `must be left out for ${method}` })
      }
      if (own !== undefined && !url.startsWith('https:')) {
        ctx.addIssue({ code: 'custom', path: ['clientCertificate'], message: 'must be left out for http://' })
      }
      if (token !== undefined && headers.some(({ name }) => name.toLowerCase() === 'authorization')) {
        ctx.addIssue({
          code: 'custom',
          path: ['oauth'],
          message: 'must be left out if there is an Authorization header',
        })
      }
      for (const [name, given] of Object.entries({ keyword: word, json: assertion })) {
        if (method !== 'HEAD' || given === undefined) continue
        ctx.addIssue({
          code: 'custom',
          path: [name],
          message: 'must be left out for HEAD, whose responses have no body',
        })
      }
    },
  )

export type HttpOptions = z.output<typeof httpOptions>

/** Returns the issues of addresses that are not allowed, and of missing secrets. */
export function httpRefusals(
  { url, clientCertificate: own, oauth: token, proxy: via }: HttpOptions,
  rule: PrivateTargetRule,
): Issue[] {
  const issues = hostRefusals('url', new URL(url).hostname, rule, via !== undefined)
  const proxyIssues = via ? hostRefusals('url', new URL(via.url).hostname, rule) : []
  issues.push(...proxyIssues.map((issue) => ({ ...issue, path: ['proxy', 'url'] })))
  if (own?.key === '') issues.push({ path: ['clientCertificate', 'key'], message: 'must not be empty' })
  if (token === undefined) return issues
  if (token.clientSecret === '') issues.push({ path: ['oauth', 'clientSecret'], message: 'must not be empty' })
  const { origin, hostname, port, protocol } = new URL(token.tokenUrl)
  const path = ['oauth', 'tokenUrl']
  issues.push(...hostRefusals('tokenUrl', hostname, rule, via !== undefined).map((issue) => ({ ...issue, path })))
  // Restricted, because the quota that prevents port scans does not count the port of the token URL.
  const isUsual = rule.isAllowed || (protocol === 'https:' && port === '') || origin === new URL(url).origin
  if (!isUsual) issues.push({ path, message: 'must be an https:// URL without a port, or on the host of the URL' })
  return issues
}
