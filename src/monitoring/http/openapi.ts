import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { HEARTBEAT_PATH } from '../heartbeat/heartbeat.ts'

const ok = z.object({ ok: z.literal(true) }).meta({ id: 'HeartbeatTaken' })
const error = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) })

const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: error } },
})

const token = z.string().meta({ description: 'The secret part of the heartbeat’s URL.' })
const exitCode = z.int().min(0).max(255).meta({ description: 'The exit code of the job; 0 is success.' })

const requestBody: ZodOpenApiOperationObject['requestBody'] = {
  description: 'Output of the job. Its first line is kept, up to 200 characters.',
  required: false,
  content: { 'text/plain': { schema: z.string() } },
}

/** Creates the operations of a path that jobs call. POST and PUT may have a text as body. */
function signal(name: string, summary: string, path: z.ZodObject): ZodOpenApiPathsObject[string] {
  const operation = (method: string): ZodOpenApiOperationObject => ({
    operationId: `${method}${name}`,
    tags: ['Heartbeats'],
    summary,
    security: [],
    requestParams: { path },
    responses: {
      200: {
        description: 'Recorded. Repeated signals within a second count as one.',
        content: { 'application/json': { schema: ok } },
      },
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
  [`${HEARTBEAT_PATH}/{token}`]: signal('Heartbeat', 'Report that a job has succeeded', z.object({ token })),
  [`${HEARTBEAT_PATH}/{token}/start`]: signal(
    'HeartbeatStart',
    'Report that a job has started, to measure and limit its duration',
    z.object({ token }),
  ),
  [`${HEARTBEAT_PATH}/{token}/fail`]: signal('HeartbeatFail', 'Report that a job has failed', z.object({ token })),
  [`${HEARTBEAT_PATH}/{token}/{exitCode}`]: signal(
    'HeartbeatExit',
    'Report how a job has ended',
    z.object({ token, exitCode }),
  ),
}
