import { isUtf8 } from 'node:buffer'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
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

/** How much is searched for a boundary without a pause, in bytes: at most 2 ms for any boundary. */
const SEARCHED_AT_ONCE = 64 * 1024

/**
 * Parses a multipart form (RFC 7578) whose body has arrived. Searches a piece at a time, so that other requests have
 * their turn in between. It waits for nothing else, so it ends for every body. The files are parts of the body, not
 * copies. Texts are UTF-8, whatever a part says.
 * @param type the media type, with the boundary.
 * @throws Invalid when the form is malformed or has more than `maxParts` parts.
 */
export async function parseMultipart(
  body: Buffer<ArrayBuffer>,
  type: string,
  maxParts: number,
): Promise<MultipartForm> {
  const boundary = boundaryOf(type)
  if (boundary === null) throw malformed()
  const form: MultipartForm = { fields: new URLSearchParams(), files: new Map() }
  let parts = 0
  for (let at = await firstPart(body, boundary); at !== null; ) {
    parts += 1
    if (parts > maxParts) throw new Invalid('INVALID_INPUT', `A form must have at most ${maxParts} fields.`)
    const end = await search(body, `\r\n--${boundary}`, at)
    if (end === null) throw malformed()
    add(form, body.subarray(at, end))
    at = afterDelimiter(body, end + boundary.length + 4)
  }
  return form
}

/** A boundary has at most 70 characters, and does not end with a space (RFC 2046 §5.1.1). */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/
/** A type is a name and a boundary, and perhaps another parameter. */
const MAX_TYPE_LENGTH = 200

/** Returns the boundary in a media type; null: there is none that is valid. */
function boundaryOf(type: string): string | null {
  if (type.length > MAX_TYPE_LENGTH) return null
  const boundary = parametersOf(type).get('boundary') ?? ''
  return BOUNDARY.test(boundary) ? boundary : null
}

/** Returns where the first part begins, after a preamble, which is ignored; null: there is none. */
async function firstPart(body: Buffer, boundary: string): Promise<number | null> {
  const delimiter = `--${boundary}`
  if (body.subarray(0, delimiter.length).equals(Buffer.from(delimiter))) return afterDelimiter(body, delimiter.length)
  const found = await search(body, `\r\n${delimiter}`, 0)
  if (found === null) throw malformed()
  return afterDelimiter(body, found + 2 + delimiter.length)
}

/** Returns where the part behind a delimiter begins; null: it was the last delimiter. */
function afterDelimiter(body: Buffer, at: number): number | null {
  const isLast = body[at] === DASH && body[at + 1] === DASH
  let next = isLast ? at + 2 : at
  while (body[next] === SPACE || body[next] === TAB) next += 1
  if (isLast && next === body.length) return null
  if (body[next] !== CR || body[next + 1] !== LF) throw malformed()
  return isLast ? null : next + 2
}

const [TAB, LF, CR, SPACE, DASH] = [9, 10, 13, 32, 45] as const

/** Returns where a text begins in a body, from a position on; null: nowhere. Takes turns with others. */
async function search(body: Buffer, text: string, from: number): Promise<number | null> {
  const sought = Buffer.from(text)
  for (let at = from; at < body.length; at += SEARCHED_AT_ONCE) {
    // A piece ends with the beginning of the next one, in case the text lies across both.
    const found = body.subarray(at, at + SEARCHED_AT_ONCE + sought.length - 1).indexOf(sought)
    await yieldAfterTimeSlice(body)
    if (found !== -1) return at + found
  }
  return null
}

/** The maximum length of the headers of a part, in bytes: a name of 255 characters has at most 3 kB when escaped. */
const MAX_HEADER_BYTES = 16 * 1024

/** Adds a part to a form. Ignores a part without a name. */
function add({ fields, files }: MultipartForm, part: Buffer<ArrayBuffer>): void {
  const length = part.subarray(0, MAX_HEADER_BYTES).indexOf('\r\n\r\n')
  if (length === -1) throw malformed()
  const headers = textIn(part.subarray(0, length)).split('\r\n')
  const disposition = dispositionOf(headers)
  const name = disposition.get('name')
  if (name === undefined) return
  if (name.length > formLimits.fieldName.most) throw malformed()
  const bytes = part.subarray(length + 4)
  const fileName = disposition.get('filename') ?? (headers.some((line) => UNNAMED_FILE.test(line)) ? '' : undefined)
  const text = fileName === undefined ? textIn(bytes) : fileName
  if (`${name}${text}`.includes('\0'))
    throw new Invalid('INVALID_INPUT', 'A field of the form contains the character NUL.')
  if (fileName === undefined) fields.append(name, text)
  else if (bytes.length > 0) files.set(name, { name: fileName.split(/[/\\]/).at(-1) ?? '', bytes })
}

/** @throws Invalid for bytes that are not UTF-8, which a form has unless its page says otherwise. */
function textIn(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Invalid('INVALID_INPUT', 'A field of the form is not UTF-8.')
  return bytes.toString('utf8')
}

/** Node.js sends a file without a name like this. */
const UNNAMED_FILE = /^content-type:[ \t]*application\/octet-stream[ \t]*$/i

/** Returns the parameters of the content disposition in headers; none unless it is `form-data`. */
function dispositionOf(headers: readonly string[]): ReadonlyMap<string, string> {
  const found = headers.find((line) => /^content-disposition:[ \t]*form-data[ \t]*(?:;|$)/i.test(line))
  return parametersOf(found ?? '')
}

/** One parameter of a header (RFC 9110 §5.6.6). The kinds of characters are disjoint, so that it takes linear time. */
const PARAMETER = /;[ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]+))[ \t]*/y

/** Returns the parameters of a header up to one that is malformed, by their names in lower case. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = header.includes(';') ? header.indexOf(';') : header.length
  for (let found = PARAMETER.exec(header); found !== null; found = PARAMETER.exec(header)) {
    const [, name = '', quoted, token = ''] = found
    parameters.set(name.toLowerCase(), quoted === undefined ? token : unescaped(quoted))
  }
  return parameters
}

/**
 * Returns a quoted text as it was. Browsers escape only these three characters, with percent signs (HTML §4.10.22.8);
 * curl escapes quotes and backslashes with a backslash.
 */
const unescaped = (text: string) =>
  text.replace(/\\(["\\])/g, '$1').replace(/%(?:22|0D|0A)/gi, (escaped) => decodeURIComponent(escaped))

const malformed = () => new Invalid('INVALID_INPUT', 'The form is malformed.')
