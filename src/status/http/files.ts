import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { NotFound, Unavailable } from '../../core/errors.ts'
import { invalid } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { readForm } from '../../http/page/form.tsx'
import { tryUpload } from '../../http/request/large-uploads.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { errorResponse } from '../../http/response/errors.ts'
import { sendFile } from '../../http/response/send-file.ts'
import { isPicture, MAX_FILE_BYTES } from '../incident/file-content.ts'
import { filePath, INCIDENTS_PATH } from '../incident/file-path.ts'
import { type FileInfo, readFileContent } from '../incident/file-store.ts'
import { uploadIncidentFiles } from '../incident/incident-file.ts'

/** A form has one file, and a few short fields. */
const MAX_FORM_BYTES = MAX_FILE_BYTES + 16 * 1024

/** The dependencies of the routes of files. */
export interface FileRouteOptions {
  readonly site: { readonly baseUrl: string }
  /** @throws Unauthenticated when the credential in the headers is invalid. */
  contextOf(c: HttpContext): Promise<ChangeContext>
  visitorOf(c: HttpContext): Context
}

/** Creates the routes for uploading and reading the files of incidents, with a key of the organization. */
export function fileRoutes({ site, contextOf, visitorOf }: FileRouteOptions): Hono {
  const app = new Hono()

  app.all(`${INCIDENTS_PATH}/:id/files`, (c) =>
    answer(c, ['POST'], async () => {
      const ctx = await contextOf(c)
      const end = tryUpload(requireScope(ctx, 'WRITE'), ctx.clientAddress)
      if (end === null) throw new Unavailable('Too many files are being uploaded. Try again soon.')
      try {
        return c.json({ file: toJson(await upload(c, ctx), site.baseUrl) }, 201)
      } finally {
        end()
      }
    }),
  )

  app.all(`${INCIDENTS_PATH}/:id/files/:file`, (c) =>
    answer(c, ['GET', 'HEAD'], async () => {
      const ctx = await contextOf(c)
      const file = await readFileContent(ctx.db, requireScope(ctx, 'READ'), c.req.param('file') ?? '')
      if (file.incidentId !== c.req.param('id')) throw new NotFound('File not found.')
      return sendFile(c, { ...file, isShown: isPicture(file) }, 'private, no-cache')
    }),
  )

  async function answer(c: HttpContext, methods: readonly string[], work: () => Promise<Response>): Promise<Response> {
    try {
      if (methods.includes(c.req.method)) return await work()
      c.header('Allow', methods.join(', '))
      throw new HTTPException(405, { message: `This path accepts ${methods[0]} only.` })
    } catch (error) {
      const { log, now } = visitorOf(c)
      return errorResponse(c, error, now(), log)
    }
  }

  return app
}

async function upload(c: HttpContext, ctx: ChangeContext): Promise<FileInfo> {
  const type = nodeRequest(c).headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data'))
    throw new HTTPException(415, { message: 'Send the file as multipart/form-data, in the field file.' })
  const { fields, files } = await readForm(c, MAX_FORM_BYTES)
  const file = files.get('file')
  if (file === undefined) throw invalid([{ path: ['file'], message: 'must be given' }])
  const place = { updateId: fields.get('update_id'), noteId: fields.get('note_id') }
  const sent = { name: fields.get('name') ?? file.name, content: file.bytes, alt: fields.get('alt') }
  const [stored] = await uploadIncidentFiles(ctx, { incidentId: c.req.param('id') ?? '', ...place }, [sent])
  if (stored === undefined) throw new Error('The file was not stored.')
  return stored
}

function toJson(file: FileInfo, baseUrl: string) {
  const { id, incidentId, updateId, noteId, name, type, size, alt, createdAt } = file
  return {
    ...{ id, incident_id: incidentId, update_id: updateId, note_id: noteId, name, type, size, alt },
    ...{ created_at: createdAt.toISOString(), url: baseUrl + filePath(file) },
  }
}
