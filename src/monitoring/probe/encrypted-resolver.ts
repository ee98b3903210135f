import { randomInt } from 'node:crypto'
import { parseUrl } from '../../core/url.ts'
import type { DnsFailure, DnsResult, Question } from '../../network/dns/message.ts'
import { answersQuery, encodeQuery, readReply, rejectsEdns } from '../../network/dns/message.ts'
import { readHost } from '../../network/outbound/host.ts'
import type { Certificate } from '../../network/outbound/outbound.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { ConversationError, converse } from './conversation.ts'
import { unreachableResult } from './host.ts'
import type { ProbeRun, Target } from './probe.ts'

/** A resolver over TLS (RFC 7858) or HTTPS (RFC 8484). Its certificate must be trusted. */
export interface EncryptedResolver extends Target {
  readonly transport: 'tls' | 'https'
  /** The normalized URL. */
  readonly url: string
}

/** What a resolver answered, and its certificate. */
interface ResolverAnswer {
  readonly result: DnsResult
  readonly certificate: Certificate | null
}

/** The port of DNS over TLS (RFC 7858 §3.1). */
const TLS_PORT = 853

/** The maximum length of a DNS message, in bytes (RFC 8484 §6). */
const MAX_MESSAGE_BYTES = 65_535

const MEDIA_TYPE = 'application/dns-message'

/** Parses `tls://host`, `tls://host:port` or `https://host/path`; null: the text is invalid. */
export function parseEncryptedResolver(text: string): EncryptedResolver | null {
  const [, scheme = '', rest = ''] = /^(tls|https):\/\/(.+)$/is.exec(text) ?? []
  // The URL parser does not know `tls://`, so both schemes are parsed as https.
  const url = scheme === '' ? null : parseUrl(`https://${rest}`)
  const host = url && readHost(url.hostname)
  if (!url || !host || url.username !== '' || url.password !== '' || url.port === '25') return null
  const name = host.kind === 'address' ? host.address : host.name
  return scheme.toLowerCase() === 'tls' ? overTls(url, name, rest) : overHttps(url, name)
}

function overHttps(url: URL, host: string): EncryptedResolver {
  // The default path is that of the examples in RFC 8484.
  if (url.pathname === '/' && url.search === '') url.pathname = '/dns-query'
  return { transport: 'https', host, port: Number(url.port) || null, url: url.href.replace(/#.*/s, '') }
}

function overTls({ hostname, port: given, pathname, search, hash }: URL, host: string, rest: string) {
  if (pathname !== '/' || search !== '' || hash !== '') return null
  // The URL parser removes port 443, even if it was given.
  const port = Number(given) || (/:0*443\/?$/.test(rest) ? 443 : TLS_PORT)
  return { transport: 'tls', host, port, url: `tls://${hostname}${port === TLS_PORT ? '' : `:${port}`}` } as const
}

/**
 * Queries a resolver, and once more without EDNS if it does not understand the query (RFC 6891 §7) or ends it with a
 * single SERVFAIL. Returns its answer, or a result that explains the failure.
 */
export async function queryEncrypted(
  resolver: EncryptedResolver,
  question: Question,
  run: ProbeRun,
): Promise<ResolverAnswer | ProbeResult> {
  const begun = performance.now()
  const first = await queryOnce(resolver, { ...question, isPlain: false }, run)
  const timeoutMs = run.timeoutMs - (performance.now() - begun)
  const isRepeated = 'result' in first && isRepeatable(first.result)
  if (!isRepeated || timeoutMs <= 0) return first
  return queryOnce(resolver, { ...question, isPlain: true }, { ...run, timeoutMs })
}

const isRepeatable = (result: DnsResult) =>
  rejectsEdns(result) || (result.kind === 'failed' && result.reason === 'servfail')

/** A question, asked without EDNS if it is plain. */
interface PosedQuestion extends Question {
  readonly isPlain: boolean
}

function queryOnce(
  resolver: EncryptedResolver,
  question: PosedQuestion,
  run: ProbeRun,
): Promise<ResolverAnswer | ProbeResult> {
  return resolver.transport === 'tls' ? queryOverTls(resolver, question, run) : queryOverHttps(resolver, question, run)
}

async function queryOverTls(
  { host, port, url }: EncryptedResolver,
  question: PosedQuestion,
  run: ProbeRun,
): Promise<ResolverAnswer | ProbeResult> {
  const { timeoutMs, signal, tools } = run
  const target = { host, port: port ?? TLS_PORT, tls: { verify: true } }
  const connected = await tools.outbound.connect(target, run)
  if (connected.kind === 'failed') return unreachableResult(host, connected, run.tools.now())
  const leftMs = timeoutMs - connected.phases.total
  const conversation = converse(connected.socket, { leftMs, timeoutMs, signal })
  const query = encodeQuery(randomInt(0x10000), question, question.isPlain)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(query.length)
  try {
    conversation.send(Buffer.concat([length, query]))
    const size = (await conversation.bytes(2)).readUInt16BE()
    const result = readAnswer(await conversation.bytes(size), query, question)
    return { result, certificate: connected.certificate }
  } catch (error) {
    if (!(error instanceof ConversationError)) throw error
    return error.isAborted
      ? probeResult('UNKNOWN', error.message)
      : probeResult('DOWN', `The resolver ${url} gave no answer: ${error.message}`)
  } finally {
    conversation.stop()
    connected.socket.destroy()
  }
}

async function queryOverHttps(
  { host, url }: EncryptedResolver,
  question: PosedQuestion,
  run: ProbeRun,
): Promise<ResolverAnswer | ProbeResult> {
  // Answers are matched by connection, not by id (RFC 8484 §4.1).
  const query = encodeQuery(0, question, question.isPlain)
  const headers = [
    { name: 'Accept', value: MEDIA_TYPE },
    { name: 'Content-Type', value: MEDIA_TYPE },
  ]
  const request = { url, method: 'POST', headers, body: query, maxBodyBytes: MAX_MESSAGE_BYTES }
  const response = await run.tools.outbound.request(request, run)
  if (response.kind === 'failed') return unreachableResult(host, response, run.tools.now())
  const { status, body } = response
  const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (status !== 200) return probeResult('DOWN', `The resolver ${url} answered with status ${status}`)
  if (type !== MEDIA_TYPE) return probeResult('DOWN', `The resolver ${url} answered with ${type ?? 'no media type'}`)
  return { result: readAnswer(body, query, question), certificate: response.certificate }
}

/** Decodes an answer. It must not be truncated, because there is no other transport for the rest. */
function readAnswer(message: Buffer, query: Buffer, question: Question): DnsResult {
  const reply = answersQuery(message, query) ? readReply(message, question) : 'truncated'
  return reply === 'truncated' ? malformed : reply
}

const malformed: DnsFailure = { kind: 'failed', reason: 'malformed' }
