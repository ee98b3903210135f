import { z } from 'zod'
import { described } from '../../core/described.ts'
import { varint } from '../../core/varint.ts'
import { callHttp2, type Http2Answer } from '../../network/http2/call.ts'
import type { Http2FailureReason } from '../../network/http2/http2-failure.ts'
import { oneLine } from '../result/probe-result.ts'
import { ConversationError } from './conversation.ts'
import { clientProbe, serverOptions, tlsOptions } from './server-probe.ts'

/** The maximum length of an answer, in bytes. A usual one has about ten. */
const MAX_BODY_BYTES = 1024

const service = z
  .string()
  .trim()
  .max(200)
  .regex(/^[\x21-\x7e]*$/, 'must have neither spaces nor letters beyond ASCII')

const options = z.strictObject({
  ...serverOptions(50_051),
  ...tlsOptions,
  service: described(service.default(''), {
    label: 'Service',
    description: 'The name of the service to check, such as shop.v1.Cart. Default: the whole server.',
    hint: 'For example, shop.v1.Cart. Empty: the whole server.',
  }),
})

/** The states of a service by number (grpc.health.v1, `HealthCheckResponse.ServingStatus`). */
const states = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

/** The status codes of gRPC by number (grpc/doc/statuscodes.md). */
const codes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
]

/** Checks the health of a service with gRPC's health checking protocol (grpc/doc/health-checking.md). */
export const grpc = clientProbe({
  kind: 'GRPC',
  options,
  words: {
    name: 'gRPC',
    about: 'Checks the health of a gRPC server (grpc.health.v1).',
  },
  protocols: ['h2'],
  async talk({ socket, leftMs }, { host, port, tls, service }) {
    const answer = await callHttp2(socket, {
      headers: [
        [':method', 'POST'],
        [':scheme', tls ? 'https' : 'http'],
        [':authority', `${host.includes(':') ? `[${host}]` : host}:${port}`],
        [':path', '/grpc.health.v1.Health/Check'],
        ['content-type', 'application/grpc'],
        ['user-agent', 'Allclear'],
        ['te', 'trailers'],
        ['grpc-timeout', `${Math.ceil(leftMs)}m`],
      ],
      body: requestOf(service),
      maxBodyBytes: MAX_BODY_BYTES,
    })
    if (typeof answer === 'string') throw new ConversationError(failures[answer])
    return judge(answer, service)
  },
})

const failures: Readonly<Record<Http2FailureReason, string>> = {
  closed: 'The server closed the connection',
  protocol: 'The server does not speak HTTP/2',
  'too long': 'The server does not speak gRPC: its answer is too long',
  'too much': 'The server sent too much data',
}

/** Encodes an uncompressed gRPC message: `HealthCheckRequest` with the service in field 1. */
function requestOf(service: string): Buffer {
  const name = Buffer.from(service)
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name])
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** Returns the message of a healthy answer. @throws ConversationError for any other answer. */
function judge({ headers, trailers, body }: Http2Answer, service: string): string {
  const httpStatus = headers.get(':status')
  if (httpStatus !== '200') throw new ConversationError(`HTTP ${oneLine(httpStatus ?? '', 20)} instead of 200`)
  if (!headers.get('content-type')?.startsWith('application/grpc'))
    throw new ConversationError('The server does not speak gRPC')
  // A response without a body has them in its headers.
  const ending = trailers.has('grpc-status') ? trailers : headers
  const status = Number(ending.get('grpc-status') ?? Number.NaN)
  if (status !== 0) throw new ConversationError(refusal(status, ending.get('grpc-message') ?? '', service))
  const state = stateOf(body)
  if (state === 1) return 'SERVING'
  const name = states[state] ?? `in the unknown state ${state}`
  throw new ConversationError(service === '' ? `The server is ${name}` : `${service} is ${name}`)
}

function refusal(status: number, message: string, service: string): string {
  if (Number.isNaN(status)) return 'The server does not speak gRPC: it sent no status'
  if (status === 5) return `The server has no service ${service}`
  if (status === 12) return 'The server has no health service (grpc.health.v1)'
  return oneLine(`The server refused: ${codes[status] ?? `code ${status}`} ${decoded(message)}`, 300)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Decodes `HealthCheckResponse.status`, field 1; absent: 0. @throws ConversationError for any other message. */
function stateOf(body: Buffer): number {
  const length = body.length < 5 ? -1 : body.readUInt32BE(1)
  if (body[0] !== 0 || length !== body.length - 5) throw new ConversationError('The server does not speak gRPC')
  if (length === 0) return 0
  const [, , , , , tag, state = 128] = body
  if (tag !== 0x08 || state > 127) throw new ConversationError('The server does not answer a health check')
  return state
}
