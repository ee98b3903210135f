import type { Answer } from '../../network/outbound/outbound.ts'

/** Where a document may state its charset, in bytes from its beginning (HTML, "prescan a byte stream"). */
const PRESCAN_BYTES = 1024

/**
 * Decodes a body as browsers do. Its charset is that of its byte order mark, of the header Content-Type, of a `meta`
 * element, or of an XML declaration, in this order (Encoding Standard §6, HTML "encoding sniffing algorithm"). UTF-8
 * if none names one that exists.
 */
export function bodyText({ headers, body }: Pick<Answer, 'headers' | 'body'>): string {
  const type = headers['content-type'] ?? ''
  return decoderOf(type, body).decode(body)
}

function decoderOf(type: string, body: Buffer): TextDecoder {
  const marked = byteOrderMark(body)
  if (marked !== null) return new TextDecoder(marked)
  const stated = /[;\s]charset\s*=\s*["']?([^\s;"',]+)/i.exec(type)?.[1]
  return decoderFor(stated) ?? decoderFor(statedWithin(type, body)) ?? new TextDecoder()
}

function byteOrderMark(body: Buffer): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  return body[0] === 0xff && body[1] === 0xfe ? 'utf-16le' : null
}

/** Returns the decoder for a label; null: there is none. */
function decoderFor(label: string | undefined): TextDecoder | null {
  if (label === undefined) return null
  try {
    return new TextDecoder(label)
  } catch {
    return null
  }
}

/** Returns the charset that a document states. Only HTML and XML can: JSON may contain such a text as a value. */
function statedWithin(type: string, body: Buffer): string | undefined {
  const essence = (type.split(';')[0] ?? '').trim().toLowerCase()
  const isXml = /^(?:text|application)\/xml$|\+xml$/.test(essence)
  const isHtml = essence === '' || essence === 'text/html' || essence === 'application/xhtml+xml'
  if (!isXml && !isHtml) return undefined
  const wide = wideXml(body)
  if (wide !== undefined) return wide
  const text = body.toString('latin1', 0, PRESCAN_BYTES)
  const label = (isHtml ? charsetOfMeta(text) : undefined) ?? charsetOfXml(text)
  // The statement itself could be read, so it is not in UTF-16 (HTML, "prescan a byte stream").
  if (label !== undefined && /^utf-?16/i.test(label)) return 'utf-8'
  return label?.toLowerCase() === 'x-user-defined' ? 'windows-1252' : label
}

/** Returns the charset of a document that begins with `<?` in UTF-16 (XML 1.0 §F.1). */
function wideXml(body: Buffer): string | undefined {
  const first = body.toString('hex', 0, 4)
  if (first === '3c003f00') return 'utf-16le'
  return first === '003c003f' ? 'utf-16be' : undefined
}

const charsetOfXml = (text: string) => /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1]

/** Returns the charset of the first `meta` element that names one, outside comments. */
function charsetOfMeta(text: string): string | undefined {
  const markup = text.replace(/<!--.*?(?:-->|$)/gs, '')
  for (const [, inside = ''] of markup.matchAll(/<meta[\s/]([^>]*)/gi)) {
    const attributes = attributesOf(inside)
    const own = attributes.get('charset')
    if (own !== undefined) return own.trim()
    if (attributes.get('http-equiv')?.toLowerCase() !== 'content-type') continue
    const within = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(attributes.get('content') ?? '')
    const label = within?.[1] ?? within?.[2] ?? within?.[3]
    if (label !== undefined) return label.trim()
  }
  return undefined
}

/** Returns the attributes of an element by lower-case name. The first of several with one name counts. */
function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const match of text.matchAll(/([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) {
    const [, name = '', double, single, bare] = match
    const key = name.toLowerCase()
    if (!found.has(key)) found.set(key, double ?? single ?? bare ?? '')
  }
  return found
}
