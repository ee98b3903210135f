import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { formLimits } from '../../../src/core/input-limits.ts'
import { fieldLimit, readFields, requireWithinLimits } from '../../../src/http/request/form-fields.ts'

const refused = (fields: readonly (readonly [string, string])[]) => {
  try {
    requireWithinLimits(new URLSearchParams(fields.map((field) => [...field])))
    return null
  } catch (error) {
    return error instanceof Invalid ? error.message : error
  }
}

test('a form has at most 2,000 fields', () => {
  const fields = (count: number) => Array.from({ length: count }, () => ['a', '1'] as const)
  expect(refused(fields(2000))).toBeNull()
  expect(refused(fields(2001))).toContain('at most 2000 fields')
})

test('every field has a limit by its name', () => {
  const { fieldText, prose, list, file } = formLimits
  const limits = ['title', 'translations.2.message', 'http.headers.value', 'csv', 'toString', 'held.x'].map(fieldLimit)
  expect(limits).toEqual([fieldText, prose, list, file, fieldText, fieldText])
})

test('a field that is too long is named', () => {
  expect(refused([['title', 'x'.repeat(4096)]])).toBeNull()
  expect(refused([['title', 'x'.repeat(4097)]])).toContain('title: must have at most 4096 characters')
  expect(refused([['http.url', 'x'.repeat(5000)]])).toContain('http.url: must have at most 4096 characters')
  expect(refused([['x'.repeat(201), '']])).toContain('at most 200 characters')
})

/** A request with a form as its body. */
const requestOf = (text: string) =>
  Object.assign(Readable.from([Buffer.from(text)]), { headers: {}, url: '/' }) as unknown as IncomingMessage

test('a form with bytes that are not UTF-8 is refused, the character for such bytes is not', async () => {
  for (const text of ['a=%ff', '%c3=1', 'a=%EF%BF%BD&b=%ff', 'a=\uFFFD%ff'])
    await expect(readFields(requestOf(text), 1000), text).rejects.toThrow('not UTF-8')
  for (const text of ['a=%EF%BF%BD', 'a=\uFFFD&%ef%bf%bd=%c3%bc'])
    expect((await readFields(requestOf(text), 1000)).get('a'), text).toBe('\uFFFD')
})

test('a form of too many fields is refused before it is parsed', async () => {
  const parse = vi.spyOn(globalThis, 'URLSearchParams')
  const sent = (fields: number) => requestOf(Array(fields).fill('a=1').join('&'))
  await expect(readFields(sent(2001), 10_000)).rejects.toThrow('at most 2000 fields')
  expect(parse).toHaveBeenCalledTimes(0)
  parse.mockRestore()
  expect((await readFields(sent(2000), 10_000)).size).toBe(2000)
})
