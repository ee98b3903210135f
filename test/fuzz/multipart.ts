import { gzipSync } from 'node:zlib'
import type { FuzzInput } from './input.ts'
import { asText } from './input.ts'
import { pick, type Random } from './random.ts'
import type { Kind } from './values.ts'
import { texts } from './values.ts'

/** A part of a form: a field, or a file if it has a name or a type. */
export interface Part {
  readonly name: string
  readonly content: string | Buffer
  readonly fileName?: string
  readonly type?: string
}

/** A body, and the header that describes it. */
export type Encoded = Pick<FuzzInput, 'body'> & { readonly type: string }

const BOUNDARY = 'a-boundary-of-the-fuzzer'

/** A text as a browser writes it between quotes. */
const quoted = (text: string) => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

/** Writes a part; `isRaw` leaves in its names what browsers escape. */
function partOf({ name, content, fileName, type }: Part, boundary: string, isRaw: boolean): Buffer {
  const written = isRaw ? (text: string) => text : quoted
  const file = fileName === undefined ? '' : `; filename="${written(fileName)}"`
  const header = `--${boundary}\r\nContent-Disposition: form-data; name="${written(name)}"${file}\r\n`
  const typed = type === undefined ? '' : `Content-Type: ${written(type)}\r\n`
  return Buffer.concat([Buffer.from(`${header}${typed}\r\n`), Buffer.from(content), Buffer.from('\r\n')])
}

/** Writes a form as browsers do. */
export function multipart(parts: readonly Part[], { boundary = BOUNDARY, isRaw = false } = {}): Encoded {
  const body = Buffer.concat([
    ...parts.map((part) => partOf(part, boundary, isRaw)),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  return { body, type: `multipart/form-data; boundary=${boundary}` }
}

const bytes = (name: string, make: (random: Random) => Buffer): Kind => ({ name, make })

/** The start of a PNG of this size, without its pixels. */
function pngHeader(width: number, height: number): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), size, Buffer.from('\b\x06\0\0\0aaaa')])
}

const svg = (inner: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${inner}</svg>`)

/** Contents of files that claim to be large, are something else, or take long to read. */
export const contents: readonly Kind[] = [
  bytes('nothing', () => Buffer.alloc(0)),
  bytes('zeros', (random) => Buffer.alloc(pick(random, [1, 1000, 600_000]))),
  bytes('a huge PNG', (random) => pngHeader(pick(random, [1, 2 ** 31, 2 ** 32 - 1]), 2 ** 32 - 1)),
  bytes('a PNG that ends early', () => pngHeader(10, 10).subarray(0, 20)),
  bytes('a GIF that is a page', () => Buffer.from('GIF89a<script>alert(1)</script>', 'latin1')),
  bytes('a JPEG of many segments', () => Buffer.from(`\xff\xd8${'\xff\xe0\0\x02'.repeat(100_000)}`, 'latin1')),
  bytes('a WebP of chunks', () => Buffer.from(`RIFF\xff\xff\xff\xffWEBP${'VP8 \0\0\0\0'.repeat(50_000)}`, 'latin1')),
  bytes('an SVG with a script', () => svg('<script>alert(1)</script>')),
  bytes('an SVG with entities', () =>
    Buffer.concat([Buffer.from('<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>'), svg('&c;')]),
  ),
  bytes('a deep SVG', () => svg('<g>'.repeat(50_000))),
  bytes('a gzip of zeros', () => gzipSync(Buffer.alloc(2 ** 24))),
  bytes('a ZIP', () => Buffer.from('PK\x03\x04\x14\0\0\0\b\0../../etc/passwd', 'latin1')),
  bytes('a PDF', () => Buffer.from('%PDF-1.7\n%\xff\xff\xff\xff\n', 'latin1')),
  bytes('empty lines', (random) => Buffer.from('\r\n'.repeat(pick(random, [1000, 200_000])))),
  bytes('many columns', (random) => Buffer.from(`email${','.repeat(pick(random, [1000, 200_000]))}\n`)),
  bytes('open quotes', () => Buffer.from(`email\n"${'""'.repeat(100_000)}`)),
  bytes('formulas', () => Buffer.from('email,label\n=cmd|a!A1,@SUM(A1)\n'.repeat(1000))),
  bytes('UTF-16', () => Buffer.from(`\ufeff${'email,a\n'.repeat(1000)}`, 'utf16le')),
  bytes('half of UTF-8', () => Buffer.from([0xc3, 0x28, 0xe2, 0x82, 0xed, 0xa0, 0x80])),
  bytes('deep JSON', (random) => Buffer.from('[{"a":'.repeat(pick(random, [100, 50_000])))),
  bytes('YAML that repeats itself', () =>
    Buffer.from(
      `a: &a [x]\n${'bcdefghij'.replace(/./g, (key, at: number) => `${key}: &${key} [${`*${'abcdefghij'[at]},`.repeat(9)}]\n`)}`,
    ),
  ),
  bytes('SQLite', () => Buffer.from(`SQLite format 3\0${'\xff'.repeat(4096)}`, 'latin1')),
  ...texts.slice(0, 12),
]

const shape = (name: string, make: (parts: readonly Part[], random: Random) => Encoded) => ({ name, make })
const withBoundary =
  (boundary: string, written = boundary) =>
  (parts: readonly Part[]): Encoded => ({
    ...multipart(parts, { boundary }),
    type: `multipart/form-data; boundary=${written}`,
  })
const raw = (text: (boundary: string) => string): Encoded => ({
  body: Buffer.from(text(BOUNDARY), 'latin1'),
  type: `multipart/form-data; boundary=${BOUNDARY}`,
})
const several = (random: Random) => pick(random, [10, 1000, 20_000])

/** Bodies whose boundaries, headers and ends are not as a browser writes them. */
const bodyShapes = [
  shape('a boundary of dashes', (_, random) => ({
    body: Buffer.alloc(several(random) * 20, '-'),
    type: `multipart/form-data; boundary=${'-'.repeat(70)}`,
  })),
  shape('a long boundary', withBoundary('b'.repeat(71))),
  shape('a very long boundary', withBoundary('b'.repeat(8000))),
  shape('a quoted boundary', withBoundary('a b', '"a b"')),
  shape('an escaped boundary', withBoundary('a"b', '"a\\"b"')),
  shape('an open quote', withBoundary('a', '"a')),
  shape('no boundary', (parts) => ({ ...multipart(parts), type: 'multipart/form-data' })),
  shape('an empty boundary', withBoundary('')),
  shape('two boundaries', withBoundary('a', 'b; boundary=a')),
  shape('another boundary', withBoundary('a', 'b')),
  shape('a boundary that begins like the end', withBoundary('--', '--')),
  shape('a body without an end', (parts) => {
    const { body, type } = multipart(parts)
    return { body: Buffer.from(body ?? '').subarray(0, -(BOUNDARY.length + 9)), type }
  }),
  shape('bytes after the end', (parts, random) => {
    const { body, type } = multipart(parts)
    return { body: Buffer.concat([Buffer.from(body ?? ''), Buffer.alloc(several(random), '\r\n-')]), type }
  }),
  shape('almost boundaries', (_, random) =>
    raw((boundary) => `\r\n--${boundary.slice(0, -1)}`.repeat(several(random))),
  ),
  shape('empty parts', (_, random) => raw((boundary) => `--${boundary}\r\n\r\n\r\n`.repeat(several(random)))),
  shape('parts without a name', (_, random) =>
    raw((boundary) => `--${boundary}\r\nContent-Disposition: form-data\r\n\r\na\r\n`.repeat(several(random))),
  ),
  shape('many fields', (_, random) =>
    multipart(Array.from({ length: several(random) }, (__, at) => ({ name: `n${at}`, content: '' }))),
  ),
  shape('the same field many times', (parts, random) =>
    multipart([...parts, ...Array<Part>(several(random)).fill(parts[0] ?? { name: 'a', content: '' })]),
  ),
  shape('many files', (_, random) =>
    multipart(Array.from({ length: several(random) }, () => ({ name: 'files', fileName: 'a.txt', content: 'a' }))),
  ),
  shape('many headers', (_, random) =>
    raw((boundary) => `--${boundary}\r\n${'X-A: b\r\n'.repeat(several(random))}\r\na\r\n--${boundary}--`),
  ),
  shape('a long header', (_, random) =>
    raw((boundary) => `--${boundary}\r\nContent-Disposition: form-data; ${'a="'.repeat(several(random))}`),
  ),
  shape('a header that folds', () =>
    raw((boundary) => `--${boundary}\r\nContent-Disposition: form-data;\r\n name="a"\r\n\r\na\r\n--${boundary}--`),
  ),
  shape('forms in forms', (parts) => {
    const inner = multipart(parts, { boundary: 'inner' })
    return multipart([{ name: 'a', type: inner.type, content: Buffer.from(inner.body ?? '') }])
  }),
  shape('encoded parts', () =>
    raw(
      (boundary) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n====\r\n--${boundary}--`,
    ),
  ),
  shape('a charset', (parts) => multipart([{ name: '_charset_', content: 'utf-7' }, ...parts])),
  shape('fields as files', (parts) => multipart(parts.map((part) => ({ ...part, fileName: 'a', type: 'text/html' })))),
  shape('files as fields', (parts) => multipart(parts.map(({ name, content }) => ({ name, content })))),
] as const

/** The kinds of a place whose value is a whole body. */
export const bodyKinds = (parts: readonly Part[]): readonly Kind[] =>
  bodyShapes.map(({ name, make }) => ({ name, make: (random) => make(parts, random) }))

/** Puts a hostile name, type or content into a file. */
export const fileWith = {
  name: (field: string, value: unknown): Part => ({ name: field, fileName: asText(value), content: 'Words.' }),
  type: (field: string, value: unknown): Part => ({
    name: field,
    fileName: 'a.png',
    type: asText(value),
    content: pngHeader(4, 4),
  }),
  content: (field: string, value: unknown): Part => ({
    name: field,
    fileName: 'a.csv',
    type: 'text/csv',
    content: Buffer.isBuffer(value) ? value : asText(value),
  }),
}
