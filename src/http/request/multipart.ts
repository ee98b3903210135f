import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { Busboy } from '@fastify/busboy'
import { Invalid } from '../../core/errors.ts'
import { formLimits } from '../../core/input-limits.ts'

/** A file that was sent in a form. */
export interface SentFile {
  readonly name: string
  readonly bytes: Buffer<ArrayBuffer>
}

/** A form that may have files. */
export interface MultipartForm {
  readonly fields: URLSearchParams
  /** The files that are not empty, by field. */
  readonly files: Map<string, SentFile>
}

/**
 * Parses a multipart form (RFC 7578), piece by piece: other requests have their turn in between, and each file is copied
 * only once. `formData()` of the Fetch API copies the whole body five times without a pause.
 * @param type the media type, with the boundary.
 * @throws Invalid when the form is malformed or has more than `maxParts` parts.
 */
export async function parseMultipart(
  chunks: readonly Buffer[],
  type: string,
  maxParts: number,
): Promise<MultipartForm> {
  const form: MultipartForm = { fields: new URLSearchParams(), files: new Map() }
  const tooMany = new Invalid('INVALID_INPUT', `A form must have at most ${maxParts} fields.`)
  try {
    const parser = new Busboy({
      headers: { 'content-type': type },
      limits: { parts: maxParts, fieldNameSize: formLimits.fieldName.most, fieldSize: Infinity },
    })
    parser.on('field', (name, value) => form.fields.append(name, value))
    parser.on('file', (field, stream, name) => {
      const pieces: Buffer[] = []
      stream.on('error', (error) => parser.destroy(error))
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        const bytes = Buffer.concat(pieces)
        if (bytes.length > 0) form.files.set(field, { name, bytes })
      })
    })
    parser.on('partsLimit', () => parser.destroy(tooMany))
    await pipeline(Readable.from(inTurns(chunks), { objectMode: false }), parser)
    return form
  } catch (error) {
    // The parser reports malformed forms as plain errors.
    throw error === tooMany ? tooMany : new Invalid('INVALID_INPUT', 'The form is malformed.')
  }
}

async function* inTurns(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    yield chunk
    await setImmediate()
  }
}
