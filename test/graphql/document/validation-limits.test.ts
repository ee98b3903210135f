import { buildSchema, GraphQLError, Kind, parse, visit } from 'graphql'
import { expect, test, vi } from 'vitest'
import { parseWithinLimits } from '../../../src/graphql/document/parse.ts'
import { validateWithinLimits } from '../../../src/graphql/document/validation-limits.ts'

const fields = Array.from({ length: 450 }, (_, n) => `a${n}: Int`)
const schema = buildSchema(`type Query { ${fields.join(' ')} }`)
const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(' ')

test('validation ends soon after the tenth unknown field', () => {
  const reached = vi.spyOn(schema.getQueryType() ?? expect.fail(), 'getFields')
  const errors = validateWithinLimits(schema, parse(`{ ${many(450, (n) => `x${n}: nam${n}`)} }`))
  expect(errors).toHaveLength(11)
  expect(errors.at(-1)?.message).toMatch(/^Too many validation errors/)
  const invalid = reached.mock.calls.length
  reached.mockClear()
  expect(validateWithinLimits(schema, parse(`{ ${many(450, (n) => `x${n}: a${n}`)} }`))).toEqual([])
  // Fields with other names are compared with each other before the first is looked up.
  expect(invalid).toBeLessThan(reached.mock.calls.length / 2 + 1)
  reached.mockRestore()
})

test('errors of documents have no stack, and others have one meanwhile and afterwards', () => {
  const limit = Error.stackTraceLimit
  const [error] = validateWithinLimits(schema, parse('{ b }'))
  expect(error).toBeInstanceOf(GraphQLError)
  expect(error?.stack).not.toMatch(/\n +at /)
  expect(Error.stackTraceLimit).toBe(limit)
  const broken = new Proxy(parse('{ a0 }'), {
    get(document, name) {
      if (name === 'kind') throw new Error('a bug')
      return Reflect.get(document, name)
    },
  })
  const fails = () => validateWithinLimits(schema, broken)
  expect(fails).toThrow('a bug')
  expect(Error.stackTraceLimit).toBe(limit)
})

test.each([
  ['itself', '{ ...A } fragment A on Query { ...A }', true],
  ['itself by way of another', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }', true],
  ['itself in an inline fragment of a field', 'fragment A on Query { a0 { ... on Query { ...A } } } { ...A }', true],
  ['another one twice', '{ ...A } fragment A on Query { ...B ...B } fragment B on Query { a0 }', false],
  ['one that is unknown', '{ ...A } fragment A on Query { ...B }', false],
])('a fragment that contains %s is a cycle: %s: %s', (_, source, is) => {
  const messages = validateWithinLimits(schema, parse(source)).map(({ message }) => message)
  expect(messages.some((message) => message.includes('within itself'))).toBe(is)
})

test('the tokens of a parsed document do not hold each other', () => {
  const links: unknown[] = []
  visit(parseWithinLimits('# one\n{ a0 # two\n x: a1 }'), {
    enter({ loc, kind }) {
      if (!loc) expect.fail(kind)
      if (kind === Kind.DOCUMENT || loc.startToken.kind === '<SOF>') return
      links.push(loc.startToken.prev, loc.endToken.prev)
      if (loc.endToken.kind !== '<EOF>') links.push(loc.startToken.next, loc.endToken.next)
    },
  })
  expect(links.length).toBeGreaterThan(10)
  expect(links.every((link) => link === null)).toBe(true)
})
