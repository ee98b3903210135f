import { expect, test } from 'vitest'
import { parseMultipart } from '../../../src/http/request/multipart.ts'

/** Reads a form as the Fetch API sends it. */
async function parsed(form: FormData) {
  const response = new Response(form)
  const body = Buffer.from(await response.arrayBuffer())
  return parseMultipart(body, response.headers.get('content-type') ?? '', 2000)
}

test('reads fields and files', async () => {
  const form = new FormData()
  form.append('name', 'Größe 漢字 😀')
  form.append('many', 'a')
  form.append('many', 'b\r\n--c')
  form.append('empty', '')
  const bytes = Buffer.from(Array.from({ length: 2000 }, (_, index) => index % 256))
  form.append('file', new File([bytes], 'überblick "1".png', { type: 'image/png' }))
  form.append('none', new File([], ''))
  const { fields, files } = await parsed(form)
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

test.each([
  ['name', 'a\0', 'x'],
  ['text', 'a', 'x\0y'],
  ['file', 'a', new File(['x'], 'a\0.png')],
])('refuses NUL, which cannot be stored, in a %s', async (_, name, value) => {
  const form = new FormData()
  form.append(name, value)
  await expect(parsed(form)).rejects.toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('NUL') })
})

test('leaves NUL in the bytes of a file', async () => {
  const form = new FormData()
  form.append('file', new File(['\0'], 'a.png'))
  expect((await parsed(form)).files.get('file')?.bytes).toEqual(Buffer.from([0]))
})

test('reads a field of several megabytes', async () => {
  const form = new FormData()
  form.append('text', 'x'.repeat(5_000_000))
  expect((await parsed(form)).fields.get('text')).toHaveLength(5_000_000)
})

test('lets others have their turn while it searches a large file', async () => {
  // Of all bodies that we tried, the slowest to search.
  const returns = Buffer.alloc(15_000_000, '\r')
  const head = '--x\r\ncontent-disposition: form-data; name="a"; filename="b"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), returns, Buffer.from('\r\n--x--')])
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  const { files } = await parseMultipart(body, 'multipart/form-data; boundary=x', 2000)
  clearInterval(timer)
  expect(files.get('a')?.bytes).toHaveLength(15_000_000)
  expect(turns).toBeGreaterThan(1)
})

test('refuses too many parts, however many there are', async () => {
  const one = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n'
  const bodyOf = (count: number) => Buffer.from(`${one.repeat(count)}--x--\r\n`)
  const type = 'multipart/form-data; boundary=x'
  expect((await parseMultipart(bodyOf(2000), type, 2000)).fields.size).toBe(2000)
  for (const count of [2001, 200_000])
    await expect(parseMultipart(bodyOf(count), type, 2000)).rejects.toThrow('at most 2000 fields')
})

/** A part whose content is a text. */
const part = (headers: string, content: string) => `--x\r\n${headers}\r\n\r\n${content}\r\n`
const named = (name: string, content: string) => part(`content-disposition: form-data; name="${name}"`, content)
const TYPE = 'multipart/form-data; boundary=x'
const DASHES = '-'.repeat(70)

const read = (body: string, type = TYPE) => parseMultipart(Buffer.from(body), type, 2000)

test.each([
  ['no boundary', 'multipart/form-data', '--x\r\n\r\n'],
  ['an empty boundary', 'multipart/form-data; boundary=', named('a', 'b')],
  ['an empty quoted boundary', 'multipart/form-data; boundary=""', named('a', 'b')],
  ['a boundary of 71 characters', `multipart/form-data; boundary=${'x'.repeat(71)}`, `--${'x'.repeat(71)}--`],
  ['a boundary of a megabyte', `multipart/form-data; boundary=${'x'.repeat(2 ** 20)}`, named('a', 'b')],
  ['a boundary with a line break', 'multipart/form-data; boundary="a\r\nb"', named('a', 'b')],
  ['an unfinished quoted boundary', 'multipart/form-data; boundary="x', named('a', 'b')],
  ['a type of a megabyte of semicolons', `multipart/form-data${'; '.repeat(2 ** 19)}boundary=x`, named('a', 'b')],
  ['no end', TYPE, named('a', 'b')],
  ['an unfinished field', TYPE, '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb'],
  ['an unfinished file', TYPE, '--x\r\ncontent-disposition: form-data; name="a"; filename="b"\r\n\r\nc'],
  ['nothing', TYPE, ''],
  ['another boundary', TYPE, '--y\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--y--\r\n'],
  ['zeros', TYPE, '\0'.repeat(100_000)],
  ['a boundary of dashes, and dashes', `multipart/form-data; boundary=${DASHES}`, '-'.repeat(100_000)],
  [
    'a boundary of dashes, and its beginnings',
    `multipart/form-data; boundary=${DASHES}`,
    `\r\n--${'-'.repeat(69)}x`.repeat(3000),
  ],
  ['headers without an end', TYPE, `--x\r\n${'a: b\r\n'.repeat(100_000)}`],
  ['headers of 100 kB', TYPE, `${part(`a: ${'b'.repeat(100_000)}`, 'c')}--x--\r\n`],
  ['a text behind a boundary', TYPE, `${named('a', 'b')}--xy\r\n\r\n--x--\r\n`],
])('refuses a form with %s', async (_, type, body) => {
  await expect(read(body, type)).rejects.toThrow('malformed')
})

test('refuses a form that ends anywhere before its end', async () => {
  const body = `preamble\r\n${named('a', 'b')}${part('content-disposition: form-data; name="f"; filename="g"', 'h')}--x--`
  for (let length = 0; length < body.length; length++)
    await expect(read(body.slice(0, length)), `the first ${length} bytes`).rejects.toThrow('malformed')
  expect([...(await read(body)).fields]).toEqual([['a', 'b']])
})

test('ignores what stands before and behind the form', async () => {
  const around = 'x--x\r\n\r\n'.repeat(20_000)
  const { fields } = await read(`${around}\r\n${named('a', 'b')}--x--\r\n${around}`)
  expect([...fields]).toEqual([['a', 'b']])
})

test.each([
  ['quoted', 'multipart/form-data; boundary="a b:c"', 'a b:c'],
  ['behind other parameters', 'multipart/form-data; charset=utf-8;boundary=a', 'a'],
  ['of 70 dashes', `multipart/form-data; boundary=${DASHES}`, DASHES],
  ['in capitals', 'Multipart/Form-Data; BOUNDARY=a', 'a'],
])('reads a form whose boundary is %s', async (_, type, boundary) => {
  const body = `--${boundary} \t\r\nContent-Disposition: form-data; name=a\r\n\r\n-\r\n--\r\n--${boundary}--`
  expect((await read(body, type)).fields.get('a')).toBe('-\r\n--')
})

test('reads names as browsers and curl write them', async () => {
  const file = (name: string) => part(`content-disposition: form-data; name="${name}"; filename="${name}"`, 'c')
  const { fields, files } = await read(
    `${named('%22a%0D%0Ab%25', '1')}${named('\\"c\\"', '2')}${file('C:\\\\d\\e.png')}${file('/f/漢字😀.png')}--x--`,
  )
  expect([...fields]).toEqual([
    ['"a\r\nb%25', '1'],
    ['"c"', '2'],
  ])
  expect([...files.values()].map(({ name }) => name)).toEqual(['e.png', '漢字😀.png'])
})

test('reads a part within a part as its content', async () => {
  const nested = '--y\r\ncontent-disposition: form-data; name="b"\r\n\r\nc\r\n--y--'
  const headers = 'content-disposition: form-data; name="a"\r\ncontent-type: multipart/mixed; boundary=y'
  expect([...(await read(`${part(headers, nested)}--x--`)).fields]).toEqual([['a', nested]])
})

test('bounds the names of fields, and the processor time of a header', async () => {
  const long = 'n'.repeat(201)
  await expect(read(`${named(long, 'a')}--x--`)).rejects.toThrow('malformed')
  const bombs = [';a="\\"', '; ', ';a=', ';"', '=', 'name="', ';name*=', '\t', ';filename="\\']
  for (const bomb of bombs) {
    const headers = `content-disposition: form-data${bomb.repeat(15_000 / bomb.length)}`
    expect([...(await read(`${part(headers, 'a').repeat(100)}--x--`)).fields]).toEqual([])
  }
})

test('ignores what cannot be a field, and never sets inherited members', async () => {
  const body = [
    part('content-disposition: form-data', 'unnamed'),
    part('content-type: text/plain', 'without disposition'),
    part('content-disposition: form-data; name="__proto__"', 'polluted'),
    part('content-disposition: form-data; name="a"', 'kept'),
  ].join('')
  const { fields } = await parseMultipart(Buffer.from(`${body}--x--\r\n`), 'multipart/form-data; boundary=x', 2000)
  expect(fields.get('a')).toBe('kept')
  expect(Object.getPrototypeOf({})).toBe(Object.prototype)
})
