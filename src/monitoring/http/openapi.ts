import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { HEARTBEAT_PATH } from '../heartbeat/heartbeat.ts'
import { heartbeatQuery } from './heartbeat-query.ts'

const ok = z.object({ ok: z.literal(true) }).meta({ id: 'HeartbeatTaken' })
const error = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) })

const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: error } },
})

const token = z.string().meta({ description: 'The secret part of the heartbeat’s URL.' })
const exitCode = z.int().min(0).max(255).meta({ description: 'The exit code of the job; 0 is success.' })

const requestBody: ZodOpenApiOperationObject['requestBody'] = {
  description: 'Output of the job, of any type and length. Its first line is kept, up to 200 characters.',
  required: false,
  content: { 'text/plain': { schema: z.string() } },
}

/** Creates the operations of a path that jobs call. POST and PUT may have a text as body. HEAD is like GET. */
function signal(
  name: string,
  summary: string,
  path: z.ZodObject,
  query: z.ZodObject = heartbeatQuery.pick({ rid: true, msg: true }),
): ZodOpenApiPathsObject[string] {
  const operation = (method: string): ZodOpenApiOperationObject => ({
    operationId: `${method}${name}`,
    tags: ['Heartbeats'],
    summary,
    security: [],
    requestParams: { path, query },
    responses: {
      200: {
        description: 'Recorded. Repeated signals within a second count as one.',
        content: { 'application/json': { schema: ok } },
      },
      400: refusal('INVALID_INPUT: `rid` is not a UUID.'),
      404: refusal('NOT_FOUND: no heartbeat has this token.'),
      405: refusal('METHOD_NOT_ALLOWED. The Allow header names the allowed methods.'),
      500: refusal('INTERNAL.'),
      503: refusal('UNAVAILABLE: send it again.'),
    },
  })
  const withBody = (method: string) => ({ ...operation(method), requestBody })
  return { get: operation('get'), post: withBody('post'), put: withBody('put') }
}

/** The OpenAPI paths of the heartbeat routes. */
export const heartbeatPaths: ZodOpenApiPathsObject = {
  [`${HEARTBEAT_PATH}/{token}`]: signal(
    'Heartbeat',
    'Report that a job has succeeded or, with a `status` other than `up`, failed',
    z.object({ token }),
    heartbeatQuery,
  ),
  [`${HEARTBEAT_PATH}/{token}/start`]: signal(
    'HeartbeatStart',
    'Report that a job has started, to measure and limit its duration',
    z.object({ token }),
    heartbeatQuery.pick({ rid: true }),
  ),
  [`${HEARTBEAT_PATH}/{token}/log`]: signal(
    'HeartbeatLog',
    'Send output of a job, which is accepted and not kept',
    z.object({ token }),
    heartbeatQuery.pick({ rid: true }),
  ),
  [`${HEARTBEAT_PATH}/{token}/fail`]: signal('HeartbeatFail', 'Report that a job has failed', z.object({ token })),
  [`${HEARTBEAT_PATH}/{token}/{exitCode}`]: signal(
    'HeartbeatExit',
    'Report how a job has ended',
    z.object({ token, exitCode }),
  ),
}
