import { z } from 'zod'
import { Unavailable } from '../../core/errors.ts'
import { DAY } from '../../core/time.ts'
import { readHost } from '../../network/outbound/host.ts'
import type { Answer, Certificate } from '../../network/outbound.ts'
import type { ProbeDetail, ProbeResult } from '../probe-result.ts'
import { probeResult } from '../probe-result.ts'
import { isExpectedStatus, jsonFailure, keywordFailure, keywordUncertainty } from './assertion.ts'
import { unreachableResult } from './host.ts'
import type { JsonAssertion } from './json-assertion.ts'
import { isSingularPath } from './json-assertion.ts'
import type { Probe, ProbeRun } from './probe.ts'

/** How much of a response is read without assertions: enough to see that it arrives. */
const UNASSERTED_BYTES = 64 * 1024
const MAX_BYTES = 1024 * 1024

const webAddress = z
  .string()
  .trim()
  .max(2048, 'must have at most 2048 characters')
  .transform((text, ctx) => {
    const problem = urlProblem(text)
    if (problem === null) return new URL(text).href.replace(/#.*$/, '')
    ctx.addIssue({ code: 'custom', message: problem })
    return z.NEVER
  })

function urlProblem(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'must be an http:// or https:// URL'
  const { hostname, username, password, port } = new URL(text)
  if (readHost(hostname) === null) return 'must contain a host name or an IP address'
  if (username !== '' || password !== '') return 'must not contain credentials: use an Authorization header'
  return port === '25' ? 'must not use port 25, which is for mail' : null
}

/** Headers that belong to the connection (RFC 9110 §7.6.1) or follow from the URL and the body. */
const reserved = /^(?:host|content-length|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/i

const header = z.strictObject({
  name: z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')
    .refine((name) => !reserved.test(name), 'must not be a header that is set automatically'),
  /** A secret. */
  value: z
    .string()
    .max(4096)
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must not have line breaks, control characters or letters beyond Latin-1'),
})

const status = z.string().regex(/^[1-5](?:\d\d|xx|\d\d-[1-5]\d\d)$/, 'must be like 200, 2xx or 200-299')

const keyword = z.strictObject({
  text: z.string().min(1, 'must not be empty').max(500),
  absent: z.boolean().default(false),
})

const json = z.strictObject({
  path: z
    .string()
    .max(200)
    .refine(isSingularPath, "must be a JSONPath to a single value, such as $.checks[0].status or $['a b']"),
  equals: z.union([z.string().max(1000), z.number(), z.boolean()]).optional(),
  absent: z.boolean().default(false),
})

const options = z
  .strictObject({
    url: webAddress,
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    headers: z.array(header).max(20).default([]),
    /** A secret. */
    body: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= 64 * 1024, 'must have at most 64 KiB')
      .optional(),
    /** Each like `200`, `2xx` or `200-299`; after redirects. */
    expectedStatus: z.array(status).min(1, 'must not be empty').max(20).default(['2xx']),
    /** 0: redirects are not followed. */
    maxRedirects: z.int().min(0).max(10).default(5),
    keyword: keyword.optional(),
    json: json.optional(),
    /** How much of a response is searched for the keyword and the JSON value. */
    maxBodyBytes: z.int().min(1).max(MAX_BYTES).default(MAX_BYTES),
    /** Whether the certificate must be trusted. */
    verifyCertificate: z.boolean().default(true),
    /** The monitor is DEGRADED this many days before the certificate expires; 0: never. */
    certificateDays: z.int().min(0).max(365).default(14),
    degradedAboveMs: z.int().min(1).max(30_000).optional(),
    /** Absent: whichever connects. */
    ipVersion: z.union([z.literal(4), z.literal(6)]).optional(),
  })
  .superRefine(({ method, body, keyword: word, json: assertion }, ctx) => {
    const bodiless = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    if (bodiless && body !== undefined) {
      ctx.addIssue({ code: 'custom', path: ['body'], message: `must be left out for ${method}` })
    }
    for (const [name, given] of Object.entries({ keyword: word, json: assertion })) {
      if (method !== 'HEAD' || given === undefined) continue
      ctx.addIssue({ code: 'custom', path: [name], message: 'must be left out for HEAD, whose responses have no body' })
    }
  })

export type HttpOptions = z.output<typeof options>

/** Sends a request and judges its response. */
export const http: Probe<typeof options> = {
  kind: 'HTTP',
  options,
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { url: 'https://example.com' },
  subject: 'url',
  target({ url }) {
    const { hostname, port, protocol } = new URL(url)
    return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
  },
  secrets: [['headers', '*', 'value'], ['body']],
  // The path does not matter, and redirects to other hosts carry no secrets.
  recipient: ({ url }) => new URL(url).origin,
  run: async (given, run) => {
    const { url, method, headers, body, maxRedirects, verifyCertificate, ipVersion } = given
    const maxBodyBytes = given.keyword || given.json ? given.maxBodyBytes : UNASSERTED_BYTES
    const answer = await run.tools.outbound.request(
      { url, method, headers, body, maxRedirects, maxBodyBytes, verify: verifyCertificate, family: ipVersion },
      run,
    )
    if (answer.kind === 'answer') return judge(given, answer, run)
    const result = unreachableResult(new URL(url).hostname, answer)
    const expiry = answer.reason === 'certificate' ? expired(answer.certificate, run) : null
    return expiry === null ? result : { ...result, message: expiry }
  },
}

async function judge(given: HttpOptions, answer: Answer, run: ProbeRun): Promise<ProbeResult> {
  const { phases, address, certificate } = answer
  const latencyMs = phases.total
  const detail: ProbeDetail = {
    phases,
    address,
    status: answer.status,
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
  const mistake = failureOf(given, answer)
  if (mistake !== null) return probeResult('DOWN', mistake, { latencyMs, detail })
  const mismatch = given.json ? await jsonResult(given.json, answer, run) : null
  if (mismatch !== null) return { ...mismatch, latencyMs, detail }
  const uncertainty = given.keyword ? keywordUncertainty(given.keyword, answer) : null
  if (uncertainty !== null) return probeResult('UNKNOWN', uncertainty, { latencyMs, detail })
  const degradation = slowness(given, latencyMs) ?? expirySoon(given, certificate, run)
  if (degradation !== null) return probeResult('DEGRADED', degradation, { latencyMs, detail })
  return probeResult('UP', `HTTP ${answer.status} in ${Math.round(latencyMs)} ms`, { latencyMs, detail })
}

/** Returns the result of a response that fails the JSON assertion, or that we had no time to read; null: it passes. */
async function jsonResult(
  assertion: JsonAssertion,
  answer: Answer,
  { owner, tools }: ProbeRun,
): Promise<ProbeResult | null> {
  try {
    const mismatch = await jsonFailure(assertion, answer, owner)
    return mismatch === null ? null : probeResult('DOWN', mismatch)
  } catch (error) {
    if (!(error instanceof Unavailable)) {
      tools.log.warn({ err: error, organization: owner }, 'monitoring: could not read a response as JSON')
    }
    return probeResult(
      'UNKNOWN',
      `Unknown what the response has at ${assertion.path}: the service had no time to read it`,
    )
  }
}

function failureOf({ expectedStatus, keyword: word }: HttpOptions, answer: Answer): string | null {
  if (!isExpectedStatus(expectedStatus, answer.status)) {
    return `HTTP ${answer.status} instead of ${expectedStatus.join(', ')}`
  }
  return word ? keywordFailure(word, answer) : null
}

function slowness({ degradedAboveMs }: HttpOptions, latencyMs: number): string | null {
  if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs) return null
  return `Answered in ${Math.round(latencyMs)} ms, more than ${degradedAboveMs} ms`
}

function expirySoon(
  { verifyCertificate, certificateDays }: HttpOptions,
  certificate: Certificate | null,
  { tools }: ProbeRun,
): string | null {
  if (certificate === null || !verifyCertificate) return null
  const leftMs = certificate.validTo.getTime() - tools.now().getTime()
  return leftMs < certificateDays * DAY ? `${CERTIFICATE} expires ${inDays(leftMs)}` : null
}

const CERTIFICATE = 'TLS certificate'

/** Returns whether the message of a probe is about a certificate that has expired or will soon. */
export const isCertificateProblem = (message: string): boolean => message.startsWith(`${CERTIFICATE} expire`)

/** Returns how long ago the certificate expired; null when it has another problem. */
function expired(certificate: Certificate | null, { tools }: ProbeRun): string | null {
  const agoMs = tools.now().getTime() - (certificate?.validTo.getTime() ?? Number.POSITIVE_INFINITY)
  if (certificate?.problem !== 'CERT_HAS_EXPIRED' || agoMs < 0) return null
  return `${CERTIFICATE} expired ${agoMs < DAY ? 'today' : `${days(agoMs)} ago`}`
}

function inDays(ms: number): string {
  return ms < DAY ? 'within a day' : `in ${days(ms)}`
}

function days(ms: number): string {
  const count = Math.floor(ms / DAY)
  return count === 1 ? '1 day' : `${count} days`
}
