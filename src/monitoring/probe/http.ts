import { Unavailable } from '../../core/errors.ts'
import type { Answer, Certificate, Failure } from '../../network/outbound/outbound.ts'
import { proxyAddress } from '../../network/outbound/proxy.ts'
import type { ProbeDetail, ProbeResult } from '../result/probe-result.ts'
import { oneLine, probeResult } from '../result/probe-result.ts'
import {
  hasKeyword,
  headerFailure,
  isExpectedStatus,
  jsonFailure,
  keywordFailure,
  keywordUncertainty,
} from './assertion.ts'
import { expirySoon } from './certificate-expiry.ts'
import { unreachableResult } from './host.ts'
import type { HttpOptions } from './http-options.ts'
import { httpOptions, httpRefusals } from './http-options.ts'
import { accessToken, forgetToken } from './oauth.ts'
import { PatternRefused } from './pattern.ts'
import type { Probe, ProbeRun } from './probe.ts'

/** The maximum length of a note about a response, in characters. */
const MAX_NOTE = 400

/** Sends a request and judges its response. */
export const http: Probe<typeof httpOptions> = {
  kind: 'HTTP',
  options: httpOptions,
  words: { name: 'Website', about: 'Requests a URL and judges the response.' },
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { url: 'https://example.com' },
  subject: 'url',
  target({ url }) {
    const { hostname, port, protocol } = new URL(url)
    return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
  },
  relays: ({ proxy }) => (proxy ? [proxyAddress(proxy)] : []),
  refusals: httpRefusals,
  sentTexts: ({ body, keyword, json, expectedHeaders, clientCertificate, ...sent }) => sent,
  // Ignores the path, because redirects to other hosts do not send secrets. Includes the proxy, which can read http://
  // requests.
  recipient: ({ url, oauth, proxy }) =>
    [
      ...[url, ...(oauth ? [oauth.tokenUrl] : [])].map((each) => new URL(each).origin),
      ...(proxy ? [`through ${proxy.url}`] : []),
    ].join(' '),
  run: async (given, run) => {
    const asked = await ask(given, run)
    if ('outcome' in asked) return asked
    const { answer } = asked
    if (answer.kind === 'answer') return judge(given, { ...asked, answer }, run)
    return unreachableResult(new URL(given.url).hostname, answer, run.tools.now())
  },
}

/** An answer, and the certificate of the server that issued the token; null: none did, or it has none. */
interface Asked<Answered = Answer | Failure> {
  readonly answer: Answered
  readonly tokenCertificate: Certificate | null
}

/** Sends the request, with a token if OAuth is configured. If the cached token is refused, retries with a new one. */
async function ask(given: HttpOptions, run: ProbeRun): Promise<Asked | ProbeResult> {
  if (given.oauth === undefined) return { answer: await send(given, [], run), tokenCertificate: null }
  const begun = performance.now()
  const token = await accessToken(given.oauth, given.proxy, run)
  if ('outcome' in token) return token
  const within = () => ({ ...run, timeoutMs: Math.max(1, run.timeoutMs - (performance.now() - begun)) })
  const authorization = (value: string) => [{ name: 'Authorization', value: `Bearer ${value}` }]
  const answer = await send(given, authorization(token.value), within())
  const asked = { answer, tokenCertificate: token.certificate }
  if (answer.kind === 'failed' || answer.status !== 401) return asked
  forgetToken(given.oauth, run)
  if (!token.isStored) return asked
  const fresh = await accessToken(given.oauth, given.proxy, within())
  if ('outcome' in fresh) return fresh
  return { answer: await send(given, authorization(fresh.value), within()), tokenCertificate: fresh.certificate }
}

function send(
  given: HttpOptions,
  added: readonly { readonly name: string; readonly value: string }[],
  run: ProbeRun,
): Promise<Answer | Failure> {
  const { url, method, headers, body, maxRedirects, verifyCertificate, ipVersion, clientCertificate, proxy } = given
  const maxBodyBytes = given.keyword || given.json ? given.maxBodyBytes : 0
  return run.tools.outbound.request(
    {
      ...{ url, method, body, maxRedirects, maxBodyBytes, clientCertificate, proxy },
      headers: [...headers, ...added],
      verify: verifyCertificate,
      family: ipVersion,
    },
    run,
  )
}

async function judge(
  given: HttpOptions,
  { answer, tokenCertificate }: Asked<Answer>,
  run: ProbeRun,
): Promise<ProbeResult> {
  const { phases, address, certificate, oddities } = answer
  const latencyMs = phases.total
  const detail: ProbeDetail = {
    phases,
    address,
    status: answer.status,
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
    ...(oddities.length > 0 && { note: oneLine(`Unusual HTTP: ${oddities.join('; ')}`, MAX_NOTE) }),
  }
  if (!isExpectedStatus(given.expectedStatus, answer.status)) {
    const mistake = `HTTP ${answer.status} instead of ${given.expectedStatus.join(', ')}`
    return probeResult('DOWN', mistake, { latencyMs, detail })
  }
  const mismatch = await contentResult(given, answer, run)
  if (mismatch !== null) return { ...mismatch, latencyMs, detail }
  const { certificateDays, url } = given
  const host = new URL(url).hostname
  // The monitor fails when the server of its tokens does.
  const [expiry] = [certificate, tokenCertificate].flatMap(
    (each) => expirySoon({ certificateDays, host }, each, run.tools.now()) ?? [],
  )
  const degradation = slowness(given, latencyMs) ?? expiry ?? null
  if (degradation !== null) return probeResult('DEGRADED', degradation, { latencyMs, detail })
  return probeResult('UP', `HTTP ${answer.status} in ${Math.round(latencyMs)} ms`, { latencyMs, detail })
}

/** Returns the result for a response that fails an assertion or cannot be checked; null: it passes all assertions. */
async function contentResult(
  given: HttpOptions,
  answer: Answer,
  { owner, tools }: ProbeRun,
): Promise<ProbeResult | null> {
  const { expectedHeaders, keyword, json } = given
  // The current assertion, for the message.
  let part = 'whether the headers are as expected'
  try {
    for (const expected of expectedHeaders) {
      const failure = await headerFailure(expected, answer, owner)
      if (failure !== null) return probeResult('DOWN', failure)
    }
    part = 'whether the response has the text'
    const failure = keyword ? keywordFailure(keyword, answer, await hasKeyword(keyword, answer, owner)) : null
    if (failure !== null) return probeResult('DOWN', failure)
    part = `what the response has at ${json?.path ?? ''}`
    const mismatch = json ? await jsonFailure(json, answer, owner) : null
    if (mismatch !== null) return probeResult('DOWN', mismatch)
    const uncertainty = keyword ? keywordUncertainty(keyword, answer) : null
    return uncertainty === null ? null : probeResult('UNKNOWN', uncertainty)
  } catch (error) {
    if (error instanceof PatternRefused)
      return probeResult('UNKNOWN', 'The regular expression is not valid in RE2 syntax.')
    if (!(error instanceof Unavailable)) {
      tools.log.warn({ err: error, organization: owner }, 'monitoring: could not read a response')
    }
    return probeResult('UNKNOWN', `Unknown ${part}: the service was too busy to read it`)
  }
}

function slowness({ degradedAboveMs }: HttpOptions, latencyMs: number): string | null {
  if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs) return null
  return `Answered in ${Math.round(latencyMs)} ms, more than ${degradedAboveMs} ms`
}
