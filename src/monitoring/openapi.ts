import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { HEARTBEAT_PATH } from './rest.ts'

const ok = z.object({ ok: z.literal(true) }).meta({ id: 'HeartbeatTaken' })
const error = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) })

const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: error } },
})

const token = z.string().meta({ description: 'The secret part of the heartbeat’s URL.' })
const exitCode = z.int().min(0).max(255).meta({ description: 'With which the job ended; 0 is success.' })

const said: ZodOpenApiOperationObject['requestBody'] = {
  description: 'What the job has to say. The first line is kept, up to 200 characters.',
  required: false,
  content: { 'text/plain': { schema: z.string() } },
}

/** The operations of an address that a job calls; each method says the same, and POST can say more. */
function signal(name: string, summary: string, path: z.ZodObject): ZodOpenApiPathsObject[string] {
  const operation = (method: string): ZodOpenApiOperationObject => ({
    operationId: `${method}${name}`,
    tags: ['Heartbeats'],
    summary,
    security: [],
    requestParams: { path },
    responses: {
      200: {
        description: 'It was taken. More than one a second that say the same are taken as one.',
        content: { 'application/json': { schema: ok } },
      },
      404: refusal('NOT_FOUND: no heartbeat has this token.'),
      405: refusal('METHOD_NOT_ALLOWED; Allow names the right ones.'),
      500: refusal('INTERNAL.'),
      503: refusal('UNAVAILABLE: send it again.'),
    },
  })
  return { get: operation('get'), post: { ...operation('post'), requestBody: said } }
}

/** The heartbeat routes as OpenAPI describes them. */
export const heartbeatPaths: ZodOpenApiPathsObject = {
  [`${HEARTBEAT_PATH}/{token}`]: signal('Heartbeat', 'Report that a job has succeeded', z.object({ token })),
  [`${HEARTBEAT_PATH}/{token}/start`]: signal(
    'HeartbeatStart',
    'Report that a job has begun, to have its duration measured',
    z.object({ token }),
  ),
  [`${HEARTBEAT_PATH}/{token}/fail`]: signal('HeartbeatFail', 'Report that a job has failed', z.object({ token })),
  [`${HEARTBEAT_PATH}/{token}/{exitCode}`]: signal(
    'HeartbeatExit',
    'Report how a job has ended',
    z.object({ token, exitCode }),
  ),
}
