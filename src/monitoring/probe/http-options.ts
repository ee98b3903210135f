import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import type { Issue } from '../../core/errors.ts'
import { issueMessage } from '../../core/issue-message.ts'
import { parseUrl } from '../../core/url.ts'
import { cappedText, trimmedText } from '../../core/validation.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { urlHostProblem } from '../../network/outbound/host.ts'
import { certificateDays } from './certificate-expiry.ts'
import { commonOptions } from './common.ts'
import { hostRefusals } from './host.ts'
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

const header = z.strictObject({
  name: headerName.refine((name) => !reserved.test(name), 'must not be a header that is set automatically'),
  /** A secret. */
  value: z
    .string()
    .max(4096)
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must not have line breaks, control characters or letters beyond Latin-1'),
})

const status = z.string().regex(/^[1-5](?:\d\d|xx|\d\d-[1-5]\d\d)$/, 'must be like 200, 2xx or 200-299')

const keyword = z
  .strictObject({
    /** A text, or a regular expression. */
    text: z.string().min(1, 'must not be empty').max(500),
    absent: z.boolean().default(false),
    isRegex: z.boolean().default(false),
  })
  .superRefine(({ text, isRegex }, ctx) => {
    if (!isRegex) return
    for (const issue of patternText.safeParse(text, { error: issueMessage }).error?.issues ?? [])
      ctx.addIssue({ code: 'custom', path: ['text'], message: issue.message })
  })

const expectedHeader = z.strictObject({
  name: headerName,
  /** The expected value; absent: any. */
  equals: z.string().max(1000).optional(),
  /** A regular expression that must match the value. */
  matches: patternText.optional(),
  absent: z.boolean().default(false),
})

const clientCertificate = z
  .strictObject({
    /** The certificate in PEM, followed by those of its authorities if the server needs them. */
    certificate: z
      .string()
      .trim()
      .max(16 * 1024),
    /** A secret: the private key in PEM, without a passphrase. */
    key: z.string().max(16 * 1024),
  })
  .superRefine(({ certificate, key }, ctx) => {
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

const oauth = z.strictObject({
  tokenUrl: webAddress,
  clientId: visible(200),
  /** A secret. */
  clientSecret: z.string().max(1000),
  /** The scopes, separated by spaces. */
  scope: visible(500).optional(),
  audience: visible(500).optional(),
  /** How the client authenticates at the token URL: in a header or in the body. */
  authentication: z.enum(['BASIC', 'POST']).default('BASIC'),
})

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

const proxy = z
  .strictObject({
    url: proxyAddress,
    username: visible(MAX_PROXY_CREDENTIAL)
      .refine((name) => !name.includes(':'), 'must not contain a colon')
      .optional(),
    /** A secret. */
    password: z.string().max(MAX_PROXY_CREDENTIAL).optional(),
  })
  .superRefine(({ username, password }, ctx) => {
    if (password !== undefined && username === undefined)
      ctx.addIssue({ code: 'custom', path: ['username'], message: 'must be given with a password' })
  })

const jsonValue = z.union([z.string().max(1000), z.number(), z.boolean()])

const json = z.strictObject({
  path: cappedText(200).refine(
    isSingularPath,
    "must be a JSONPath to a single value, such as $.checks[0].status or $['a b']",
  ),
  equals: jsonValue.optional(),
  notEquals: jsonValue.optional(),
  lessThan: z.number().optional(),
  atMost: z.number().optional(),
  greaterThan: z.number().optional(),
  atLeast: z.number().optional(),
  matches: patternText.optional(),
  /** Whether to compare the length of the value. */
  length: z.boolean().default(false),
  absent: z.boolean().default(false),
})

/** The options of an HTTP monitor. */
export const httpOptions = z
  .strictObject({
    url: webAddress,
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    headers: z.array(header).max(20).default([]),
    /** A secret. */
    body: cappedText(MAX_SENT_BYTES)
      .refine((text) => Buffer.byteLength(text) <= MAX_SENT_BYTES, 'must have at most 64 KiB')
      .optional(),
    /** The expected status codes after redirects, such as `200`, `2xx` or `200-299`. */
    expectedStatus: z.array(status).min(1, 'must not be empty').max(20).default(['2xx']),
    /** The maximum number of redirects; 0: they are not followed. */
    maxRedirects: z.int().min(0).max(10).default(5),
    keyword: keyword.optional(),
    json: json.optional(),
    /** The number of bytes of a response to search for the keyword and the JSON value. */
    maxBodyBytes: z.int().min(1).max(MAX_BYTES).default(MAX_BYTES),
    /** Whether the certificate must be trusted. */
    verifyCertificate: z.boolean().default(true),
    certificateDays,
    degradedAboveMs: z.int().min(1).max(30_000).optional(),
    ...commonOptions,
    /** Assertions about response headers. */
    expectedHeaders: z.array(expectedHeader).max(10).default([]),
    clientCertificate: clientCertificate.optional(),
    oauth: oauth.optional(),
    /** The proxy for requests; absent: none. */
    proxy: proxy.optional(),
    /** The IP version; absent: whichever connects. */
    ipVersion: z.union([z.literal(4), z.literal(6)]).optional(),
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
