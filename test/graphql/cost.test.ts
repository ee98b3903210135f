import { readFileSync } from 'node:fs'
import { getIntrospectionQuery, getOperationAST, parse, specifiedRules } from 'graphql'
import { expect, test } from 'vitest'
import { validateInTime } from '../../src/graphql/breadth.ts'
import { costOf, MOST_COST, STATEMENT } from '../../src/graphql/cost.ts'
import { schema } from '../../src/graphql/schema.ts'

/** What the only operation of a document costs. */
function cost(source: string, variables: Record<string, unknown> = {}, limit: number = MOST_COST.withKey): number {
  const document = parse(source)
  const operation = getOperationAST(document)
  if (!operation) throw new Error('There is more than one operation.')
  return costOf({ schema, document, operation, variables, limit })
}

const page = (fields: string) => `{ statusPage(slug: "acme") { ${fields} } }`

test.each([
  ['a field', '{ __typename }', 1],
  ['aliases', '{ a: __typename b: __typename }', 2],
  ['a fragment, each time it is spread', 'query { ...F a: __typename ...F } fragment F on Query { __typename }', 3],
  ['a statement', page('name'), STATEMENT + 1],
  ['a page of the usual size', page('pastIncidents { nodes { id } }'), 2 * STATEMENT + 20 * 2],
  ['a page of a size', page('pastIncidents(first: 3) { edges { node { id } } }'), 2 * STATEMENT + 3 * 3],
  ['a page of more than the most', page('pastIncidents(last: 5000) { nodes { id } }'), 2 * STATEMENT + 100 * 2],
  ['a list that is given whole', page('incidents { id }'), STATEMENT + 1 + 100],
  [
    'a long text',
    page('pastIncidents(first: 1) { nodes { updates(first: 1) { nodes { message } } } }'),
    3 * STATEMENT + 12,
  ],
  ['what is asked for by ids', '{ nodes(ids: ["a", "b"]) { id } }', STATEMENT + 2 + 2],
  ['the items of an input', 'mutation { reorderServices(input: { ids: ["a", "b"] }) { __typename } }', 1 + 2 + 1],
])('%s costs what it may take', (_, source, expected) => {
  expect(cost(source)).toBe(expected)
})

test('sizes and ids count from variables and their defaults too', () => {
  const sized = 'query ($n: Int = 7) { statusPage(slug: "a") { pastIncidents(first: $n) { nodes { id } } } }'
  expect([cost(sized), cost(sized, { n: 50 })]).toEqual([2 * STATEMENT + 14, 2 * STATEMENT + 100])
  const ids = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
  expect(cost(ids, { ids: Array(100).fill('x') })).toBe(STATEMENT + 200)
})

test('the introspection that tools send costs less than what is allowed without a key', () => {
  const all = {
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
  }
  for (const options of [{}, all, { ...all, oneOf: true }, { descriptions: false }]) {
    const source = getIntrospectionQuery(options)
    expect(cost(source)).toBeLessThan(MOST_COST.withoutKey)
    expect(validateInTime(schema, parse(source), specifiedRules)).toEqual([])
  }
  expect(MOST_COST.withoutKey).toBeLessThan(MOST_COST.withKey)
})

const times = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => each(index)).join(' ')

test.each([
  [
    'aliases of all types',
    `{ __schema { ${times(40, (n) => `a${n}: types { fields { args { type { fields { name } } } } }`)} } }`,
  ],
  [
    'possible types of possible types',
    `{ __schema { ${times(4, (n) => `a${n}: types { interfaces { possibleTypes { interfaces { possibleTypes { fields { name } } } } } }`)} } }`,
  ],
  [
    'a hundred whole timelines',
    page('pastIncidents(first: 100) { nodes { updates(first: 100) { nodes { message } } } }'),
  ],
  ['many statements', `{ ${times(1200, (n) => `a${n}: statusPage(slug: "a") { pastIncidents { totalCount } }`)} }`],
])('%s cost too much', (_, source) => {
  expect(cost(source)).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  [
    'a fragment on every type, three hundred fields long',
    `{ __schema { ${times(60, (n) => `a${n}: types { ...F }`)} } }
      fragment F on __Type { fields { type { fields { ${times(300, (n) => `b${n}: name`)} } } } }`,
  ],
  ['fields of one name', `{ blacklists { ${'name '.repeat(990)} } }`],
  ['objects of one name', `{ ${'blacklists { name } '.repeat(900)} }`],
  [
    'fragments by the hundred',
    `{ ${times(400, (n) => `...F${n}`)} } ${times(400, (n) => `fragment F${n} on Query { __typename }`)}`,
  ],
  [
    'fragments that unfold',
    `{ ...F0 } ${times(40, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F40 on Query { __typename }`,
  ],
  [
    'operations that share a fragment',
    `${times(400, (n) => `query A${n} { ...F }`)} fragment F on Query { ${times(300, (n) => `a${n}: __typename`)} }`,
  ],
])('%s are refused before they are validated', (_, source) => {
  const errors = validateInTime(schema, parse(source), specifiedRules)
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['OPERATION_TOO_LARGE'])
})

test('fragments in a circle are told as such, and at most twenty errors of a document', () => {
  const circle = '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'
  expect(validateInTime(schema, parse(circle), specifiedRules)[0]?.message).toMatch(/within itself/)
  const unknown = parse(`{ ${times(1000, (n) => `x${n}`)} }`)
  expect(validateInTime(schema, unknown, specifiedRules).length).toBeLessThanOrEqual(21)
})

test('the queries of the README cost less than what is allowed without a key', () => {
  const blocks = readFileSync('README.md', 'utf8').matchAll(/```graphql\n([^`]*)```/g)
  for (const [, source = ''] of blocks) {
    const document = parse(source)
    for (const operation of document.definitions) {
      if (operation.kind !== 'OperationDefinition') continue
      const limit = MOST_COST.withoutKey
      expect(costOf({ schema, document, operation, variables: {}, limit })).toBeLessThanOrEqual(limit)
    }
  }
})
