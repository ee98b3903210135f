import { z } from 'zod'
import type { ZodOpenApiObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { errorJson } from '../../http/response/error-schema.ts'
import { MAX_ALT_LENGTH, MAX_FILE_BYTES } from '../incident/file-content.ts'
import { INCIDENTS_PATH } from '../incident/file-path.ts'

const tags = ['Incidents']
const security: NonNullable<ZodOpenApiObject['security']> = [{ bearer: [] }, { header: [] }]
const errors = (responses: Readonly<Record<number, string>>) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, description]): [string, ZodOpenApiResponseObject] => [
      status,
      { description, content: { 'application/json': { schema: errorJson } } },
    ]),
  )

const incident = z.string().meta({ description: 'The id of the incident.' })
const file = z
  .object({
    id: z.string(),
    incident_id: z.string(),
    update_id: z.string().nullable(),
    note_id: z.string().nullable(),
    name: z.string(),
    type: z.string().meta({ description: 'The media type found in the content.', example: 'image/png' }),
    size: z.int().meta({ description: 'In bytes.' }),
    alt: z.string(),
    created_at: z.iso.datetime(),
    url: z.url().meta({ description: 'The URL to read it with a key.' }),
  })
  .meta({ id: 'IncidentFile' })

const upload = z.object({
  file: z.string().meta({ format: 'binary', description: `At most ${MAX_FILE_BYTES / 1024 / 1024} MiB.` }),
  name: z.string().optional().meta({ description: 'Its name. Default: the name in the form.' }),
  alt: z.string().max(MAX_ALT_LENGTH).optional().meta({
    description: 'What a picture shows. Required for PNG, JPEG, WebP and GIF.',
  }),
  update_id: z.string().optional().meta({ description: 'The update to add it to.' }),
  note_id: z.string().optional().meta({ description: 'The note to add it to.' }),
})

/** The routes of the files of incidents, in OpenAPI. */
export const filePaths: ZodOpenApiPathsObject = {
  [`${INCIDENTS_PATH}/{id}/files`]: {
    post: {
      operationId: 'uploadIncidentFile',
      tags,
      summary: 'Add a file to an update or a note of an incident',
      description:
        'Without update_id and note_id, only members see the file until postIncidentUpdate or createIncidentNote names it in fileIds. Requires a key with scope WRITE.',
      security,
      requestParams: { path: z.object({ id: incident }) },
      requestBody: { required: true, content: { 'multipart/form-data': { schema: upload } } },
      responses: {
        201: { description: 'The file is stored.', content: { 'application/json': { schema: z.object({ file }) } } },
        ...errors({
          400: 'INVALID_INPUT.',
          401: 'UNAUTHENTICATED or INVALID_API_KEY.',
          403: 'FORBIDDEN.',
          404: 'NOT_FOUND.',
          405: 'METHOD_NOT_ALLOWED.',
          409: 'TIMELINE_FULL, TIER_LIMIT_REACHED or CONFLICT.',
          413: 'PAYLOAD_TOO_LARGE.',
          415: 'UNSUPPORTED_MEDIA_TYPE.',
          500: 'INTERNAL.',
          503: 'UNAVAILABLE.',
        }),
      },
    },
  },
  [`${INCIDENTS_PATH}/{id}/files/{file}`]: {
    get: {
      operationId: 'readIncidentFile',
      tags,
      summary: 'Read a file of an incident',
      security,
      requestParams: { path: z.object({ id: incident, file: z.string() }) },
      responses: {
        200: { description: 'The file.', content: { 'application/octet-stream': { schema: { type: 'string' } } } },
        304: { description: 'The file matches If-None-Match.' },
        ...errors({
          401: 'UNAUTHENTICATED or INVALID_API_KEY.',
          404: 'NOT_FOUND.',
          405: 'METHOD_NOT_ALLOWED.',
          500: 'INTERNAL.',
        }),
      },
    },
  },
}
