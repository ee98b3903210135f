import { buildSchema, GraphQLError } from 'graphql'
import { expect, test } from 'vitest'
import { createDocumentCache } from '../../../src/graphql/document/document-cache.ts'

const schema = buildSchema('type Query { a: Int }')
const documentOf = (number: number, length: number) => `query Q${number} { a } #${'x'.repeat(length)}`

function cacheWith(...texts: readonly string[]) {
  const documents = createDocumentCache()
  const judge = (text: string) => documents.validate(schema, documents.parse(text))
  for (const text of texts) judge(text)
  return {
    documents,
    judge,
    isKept: (text: string) => new Set([documents.parse(text), documents.parse(text)]).size === 1,
  }
}

test('keeps valid documents of a limited total length', () => {
  const texts = Array.from({ length: 300 }, (_, number) => documentOf(number, 1000))
  const { isKept } = cacheWith(...texts)
  const kept = texts.filter(isKept).reduce((length, text) => length + text.length, 0)
  expect(kept).toBeGreaterThan(150_000)
  expect(kept).toBeLessThanOrEqual(200_000)
})

test('a very long document displaces no other', () => {
  const [short, long] = [documentOf(1, 10), documentOf(2, 20_000)]
  const { isKept } = cacheWith(short, long)
  expect([isKept(short), isKept(long)]).toEqual([true, false])
})

test('a document is kept once it is known to be valid', () => {
  const { documents, isKept } = cacheWith()
  expect(isKept('{ a }')).toBe(false)
  documents.validate(schema, documents.parse('{ a }'))
  expect(isKept('{ a }')).toBe(true)
})

test('of an invalid document its errors are kept, which the next ones share, and the names of its operations', () => {
  const text = '# of a visitor\nquery One { b } query Two { a }'
  const { documents, judge } = cacheWith(text)
  const { definitions } = documents.parse(text)
  expect(definitions).toEqual([operation('One'), operation('Two')])
  expect(judge(text)).toBe(judge(text))
  expect(judge(text).map((error) => error.toJSON())).toEqual([
    { message: 'Cannot query field "b" on type "Query".', locations: [{ line: 2, column: 13 }] },
  ])
})

test('errors do not hold the tree of their document', () => {
  const { judge } = cacheWith()
  expect(judge('{ b }').map(({ nodes }) => nodes)).toEqual([undefined])
})

test('syntax errors are kept', () => {
  const { documents } = cacheWith()
  const errorOf = () => {
    try {
      return documents.parse('{')
    } catch (error) {
      return error
    }
  }
  expect(errorOf()).toBeInstanceOf(GraphQLError)
  expect(errorOf()).toBe(errorOf())
})

const operation = (name: string) => ({
  kind: 'OperationDefinition',
  operation: 'query',
  name: { kind: 'Name', value: name },
  selectionSet: { kind: 'SelectionSet', selections: [] },
})
