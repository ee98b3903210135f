import { expect, test } from 'vitest'
import { parseMultipart } from '../../../src/http/request/multipart.ts'

/** A form as the Fetch API sends it, in pieces of this length. */
async function sent(form: FormData, length = 65_536): Promise<{ chunks: Buffer[]; type: string }> {
  const response = new Response(form)
  const body = Buffer.from(await response.arrayBuffer())
  return { chunks: piecesOf(body, length), type: response.headers.get('content-type') ?? '' }
}

function piecesOf(body: Buffer, length: number): Buffer[] {
  const starts = Array.from({ length: Math.ceil(body.length / length) }, (_, index) => index * length)
  return starts.map((start) => body.subarray(start, start + length))
}

const parsed = async (form: FormData, length?: number) => {
  const { chunks, type } = await sent(form, length)
  return parseMultipart(chunks, type, 2000)
}

test.each([1, 7, 64, 65_536])('reads fields and files that arrive in pieces of %d bytes', async (length) => {
  const form = new FormData()
  form.append('name', 'Größe 漢字 😀')
  form.append('many', 'a')
  form.append('many', 'b\r\n--c')
  form.append('empty', '')
  const bytes = Buffer.from(Array.from({ length: 2000 }, (_, index) => index % 256))
  form.append('file', new File([bytes], 'überblick "1".png', { type: 'image/png' }))
  form.append('none', new File([], ''))
  const { fields, files } = await parsed(form, length)
  expect([...fields]).toEqual([
    ['name', 'Größe 漢字 😀'],
    ['many', 'a'],
    ['many', 'b\r\n--c'],
    ['empty', ''],
  ])
  expect([...files.keys()]).toEqual(['file'])
  expect(files.get('file')?.bytes.equals(bytes)).toBe(true)
  expect(files.get('file')?.name).toContain('überblick')
})

test('reads a field of several megabytes', async () => {
  const form = new FormData()
  form.append('text', 'x'.repeat(5_000_000))
  expect((await parsed(form)).fields.get('text')).toHaveLength(5_000_000)
})

test('lets others have their turn while it reads a large file', async () => {
  const form = new FormData()
  form.append('file', new Blob([Buffer.alloc(5_000_000)]), 'zeros')
  const { chunks, type } = await sent(form)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  const { files } = await parseMultipart(chunks, type, 2000)
  clearInterval(timer)
  expect(files.get('file')?.bytes).toHaveLength(5_000_000)
  expect(turns).toBeGreaterThan(1)
})

test('refuses too many parts, however many there are', async () => {
  const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n'
  const bodyOf = (count: number) => piecesOf(Buffer.from(`${part.repeat(count)}--x--\r\n`), 65_536)
  const type = 'multipart/form-data; boundary=x'
  expect((await parseMultipart(bodyOf(2000), type, 2000)).fields.size).toBe(2000)
  for (const count of [2001, 200_000])
    await expect(parseMultipart(bodyOf(count), type, 2000)).rejects.toThrow('at most 2000 fields')
})

test.each([
  ['no boundary', 'multipart/form-data', '--x\r\n\r\n'],
  ['no end', 'multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb'],
  [
    'an unfinished file',
    'multipart/form-data; boundary=x',
    '--x\r\ncontent-disposition: form-data; name="a"; filename="b"\r\n\r\nc',
  ],
  ['nothing', 'multipart/form-data; boundary=x', ''],
  [
    'another boundary',
    'multipart/form-data; boundary=x',
    '--y\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--y--\r\n',
  ],
  ['zeros', 'multipart/form-data; boundary=x', '\0'.repeat(100_000)],
])('refuses a form with %s', async (_, type, body) => {
  await expect(parseMultipart(body === '' ? [] : [Buffer.from(body)], type, 2000)).rejects.toThrow('malformed')
})

test('ignores what cannot be a field, and never sets inherited members', async () => {
  const part = (headers: string, content: string) => `--x\r\n${headers}\r\n\r\n${content}\r\n`
  const body = [
    part('content-disposition: form-data', 'unnamed'),
    part('content-type: text/plain', 'without disposition'),
    part('content-disposition: form-data; name="__proto__"', 'polluted'),
    part('content-disposition: form-data; name="a"', 'kept'),
  ].join('')
  const { fields } = await parseMultipart([Buffer.from(`${body}--x--\r\n`)], 'multipart/form-data; boundary=x', 2000)
  expect(fields.get('a')).toBe('kept')
  expect(Object.getPrototypeOf({})).toBe(Object.prototype)
})
