import { readFileSync } from 'node:fs'
import {
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  parse,
} from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import type { Sizes } from '../../../src/graphql/document/cost.ts'
import {
  costOf,
  INTROSPECTION_FIELD_COST,
  MAX_COST,
  organizationsOf,
  STATEMENT_COST,
} from '../../../src/graphql/document/cost.ts'
import { validateWithinLimits } from '../../../src/graphql/document/validation-limits.ts'
import { coerceVariables } from '../../../src/graphql/document/variables.ts'
import { TIMELINE_SEARCH_COST } from '../../../src/graphql/list/filter.ts'
import { tabs } from '../../../src/http/api-tools/graphiql-tabs.ts'

/** Returns the cost of the only operation of a document. */
function cost(
  source: string,
  variables: Record<string, unknown> = {},
  limit: number = MAX_COST.withKey,
  sizes?: Sizes,
): number {
  const document = parse(source)
  const operation = getOperationAST(document)
  if (!operation) throw new Error('There is more than one operation.')
  const { values } = coerceVariables({ schema, document, variableValues: variables })
  return costOf({ schema, document, operation, variables: values ?? {}, limit, sizes })
}

const page = (fields: string) => `{ statusPage(slug: "acme") { ${fields} } }`

const ROW = 10
const MUTATION = 500
const SERVICES = 1000

/** Typical queries of clients for a page. */
const ordinary = [
  page(`name description status { indicator description } links { label url }
    serviceGroups { id name services { id name description status uptime { percentage } days(n: 90) { date percentage } } }
    services { id name status uptime { percentage } days(n: 90) { date percentage downSeconds } }
    incidents { id title status impact startedAt services { status service { id name } }
      updates { nodes { id status message createdAt services { status service { name } } } } }
    maintenances { id title status startsAt endsAt services { id name } updates { nodes { message createdAt } } }`),
  page(
    'pastIncidents { nodes { title status impact startedAt resolvedAt updates { nodes { status message createdAt } } } }',
  ),
]

test.each([
  ['a field', '{ __typename }', 1],
  ['aliases', '{ a: __typename b: __typename }', 2],
  ['a fragment, each time it is spread', 'query { ...F a: __typename ...F } fragment F on Query { __typename }', 3],
  ['a statement', page('name'), STATEMENT_COST + 1],
  ['a page of the usual size', page('pastIncidents { nodes { id } }'), 2 * STATEMENT_COST + 20 * (ROW + 2)],
  ['a page of a size', page('pastIncidents(first: 3) { edges { node { id } } }'), 2 * STATEMENT_COST + 3 * (ROW + 3)],
  [
    'a page larger than the maximum',
    page('pastIncidents(last: 5000) { nodes { id } }'),
    2 * STATEMENT_COST + 100 * (ROW + 2),
  ],
  ['a list of rows, by its bound', page('services { id }'), STATEMENT_COST + 1 + SERVICES * (ROW + 1)],
  ['rows that are read for a field', page('status { indicator }'), STATEMENT_COST + 1 + SERVICES * ROW + 1],
  ['days', page('services { days(n: 90) { date } }'), STATEMENT_COST + 1 + SERVICES * (ROW + 10 + 90)],
  ['bars of a year', page('services { bars(range: YEAR) { from } }'), STATEMENT_COST + 1 + SERVICES * (ROW + 50 + 53)],
  [
    'a long text',
    page('pastIncidents(first: 1) { nodes { updates(first: 1) { nodes { message } } } }'),
    3 * STATEMENT_COST + ROW + 1 + ROW + 1 + 25,
  ],
  [
    'a search of messages',
    page('pastIncidents(first: 1, filter: { text: "x" }) { totalCount }'),
    2 * STATEMENT_COST + ROW + TIMELINE_SEARCH_COST + 1,
  ],
  [
    'a search for an empty text',
    page('pastIncidents(first: 1, filter: { text: " " }) { totalCount }'),
    2 * STATEMENT_COST + ROW + 1,
  ],
  [
    'a search of names',
    '{ organization { monitors(filter: { text: "x" }, first: 1) { totalCount } } }',
    2 * STATEMENT_COST + ROW + 1000 + 1,
  ],
  [
    'an order by a computed value',
    '{ organization { services(orderBy: { field: STATUS, direction: ASC }, first: 1) { totalCount } } }',
    2 * STATEMENT_COST + ROW + 1500 + 1,
  ],
  [
    'a long list in a filter',
    page('pastIncidents(first: 1, filter: { impact: [NONE, MINOR] }) { totalCount }'),
    2 * STATEMENT_COST + ROW + 3,
  ],
  ['a description', page('description'), STATEMENT_COST + 5],
  ['objects by id', '{ nodes(ids: ["a", "b"]) { id } }', STATEMENT_COST + 2 + 2 * (STATEMENT_COST + 1)],
  [
    'a mutation and its input',
    'mutation { reorderServices(input: { ids: ["a", "b"] }) { __typename } }',
    MUTATION + 1 + 2 + 1,
  ],
  [
    'a mutation of many things',
    'mutation { pauseMonitors(input: { ids: ["a", "b"] }) { ... on PauseMonitorsPayload { results { index } } } }',
    1 + 2 + 2 * (MUTATION + 2),
  ],
  ['a part of the schema', '{ __type(name: "Query") { name kind } }', 3 * INTROSPECTION_FIELD_COST],
])('%s costs as expected', (_, source, expected) => {
  expect(cost(source)).toBe(expected)
})

test('counts sizes and ids from variables and their defaults', () => {
  const sized = 'query ($n: Int = 7) { statusPage(slug: "a") { pastIncidents(first: $n) { nodes { id } } } }'
  const of = (count: number) => 2 * STATEMENT_COST + count * (ROW + 2)
  expect([cost(sized), cost(sized, { n: 50 })]).toEqual([of(7), of(50)])
  const ids = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
  expect(cost(ids, { ids: Array(100).fill('x') })).toBe(STATEMENT_COST + 100 + 100 * (STATEMENT_COST + 1))
})

/** Of an organization with some objects of each kind. */
const small = {
  ...{ pages: 1, services: 40, serviceGroups: 8, servicesOfGroup: 10, openIncidents: 2, plannedMaintenances: 2 },
  ...{ servicesOfIncident: 5, servicesOfUpdate: 5, servicesOfMaintenance: 10 },
}

test('uses an organization’s actual sizes where they are known', () => {
  const source = page('services { id } incidents { services { status } }')
  expect(cost(source, {}, 10 ** 7)).toBe(
    STATEMENT_COST + 1 + SERVICES * (ROW + 1) + 1 + 100 * (ROW + 1 + SERVICES * (ROW + 1)),
  )
  const expected = STATEMENT_COST + 1 + 40 * (ROW + 1) + 1 + 2 * (ROW + 1 + 5 * (ROW + 1))
  expect(cost(source, {}, 10 ** 7, small)).toBe(expected)
})

test.each([
  [
    'query ($s: String!) { ...F } fragment F on Query { a: statusPage(slug: $s) { name } ... { b: statusPage(slug: "b") { name } } }',
    [{ slug: 'x' }, { slug: 'b' }],
  ],
  ['{ organization { name } __typename }', ['own']],
  ['mutation { deleteService(id: "x") { __typename } }', ['own']],
  ['{ statusPage(slug: "a") { name } node(id: "x") { id } }', [{ slug: 'a' }, { objects: ['x'] }]],
  ['{ nodes(ids: ["x", "y"]) { id } }', [{ objects: ['x', 'y'] }]],
  ['subscription { statusPageEvents(slug: "a") { __typename } }', [{ slug: 'a' }]],
  ['{ blacklists { name } node(id: "x") { id } }', null],
])('the organizations of %s are known if all are', (source, expected) => {
  const document = parse(source)
  const operation = getOperationAST(document)
  expect(operation && organizationsOf(schema, document, operation, { s: 'x' })).toEqual(expected)
})

test('every list of objects declares a maximum number of items', () => {
  const unbounded = Object.values(schema.getTypeMap())
    .filter((type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__'))
    .flatMap((type) => ('getFields' in type ? Object.values(type.getFields()) : []).map((field) => ({ type, field })))
    .filter(({ field: { type, extensions } }) => {
      const isList = isListType(getNullableType(type)) && isCompositeType(getNamedType(type))
      return isList && (extensions?.['cost'] as { items?: unknown } | undefined)?.items === undefined
    })
  expect(unbounded.map(({ type, field }) => `${type.name}.${field.name}`)).toEqual([])
})

test('the limit without a key is two thirds of the limit with a key', () => {
  expect(MAX_COST.withoutKey * 1.5).toBeLessThanOrEqual(MAX_COST.withKey)
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
  ['many searches', page(times(4, (n) => `a${n}: pastIncidents(filter: { text: "x" }) { totalCount }`))],
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
])('%s are rejected before validation', (_, source) => {
  const errors = validateWithinLimits(schema, parse(source))
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['OPERATION_TOO_LARGE'])
})

test('reports fragment cycles, and at most ten errors per document', () => {
  const circle = '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'
  expect(validateWithinLimits(schema, parse(circle))[0]?.message).toMatch(/within itself/)
  const unknown = parse(`{ ${times(1000, (n) => `x${n}`)} }`)
  expect(validateWithinLimits(schema, unknown)).toHaveLength(11)
})

const readme = [...readFileSync('README.md', 'utf8').matchAll(/```graphql\n([^`]*)```/g)].map(
  ([, source = '']) => source,
)

test.each([...readme, ...tabs.map(({ query }) => query), ...ordinary])(
  '%s costs less than what is allowed without a key',
  (source) => {
    const document = parse(source)
    const limit = MAX_COST.withoutKey
    for (const operation of document.definitions) {
      if (operation.kind !== 'OperationDefinition') continue
      expect(costOf({ schema, document, operation, variables: {}, limit, sizes: small })).toBeLessThanOrEqual(limit)
    }
  },
)
