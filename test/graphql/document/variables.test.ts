import { buildSchema, GraphQLError, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema as ownSchema } from '../../../src/app/schema.ts'
import { graphqlLimits } from '../../../src/core/input-limits.ts'
import { coerceVariables, weighVariables } from '../../../src/graphql/document/variables.ts'

const most = graphqlLimits.variableMembers.most
const widest = graphqlLimits.variableWidth.most
const longest = graphqlLimits.variableName.most
const deepest = graphqlLimits.variableDepth.most

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, n]))
const list = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, n) => of(n))
/** Lists within each other; as a variable, the innermost is at this depth. */
function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

describe('the weight of variables', () => {
  test.each([
    ['none', {}],
    ['as many variables as may be', members(most)],
    ['an object of as many members as may be', { a: members(widest) }],
    ['as many objects in lists', { a: list(most - 1, () => ({})) }],
    ['as many lists in lists', { a: list(most - 1, () => []) }],
    ['65,000 numbers', { a: list(65_000, (n) => n) }],
    ['4,000 ids', { a: list(4000, (n) => `svc_${n}`) }],
    ['a text of 128 KiB', { a: 'x'.repeat(128 * 1024) }],
    ['the longest name', { ['n'.repeat(longest)]: 1 }],
    ['the deepest nesting', { a: nested(deepest) }],
    ['null, truth values and numbers', { a: null, b: [true, null, 0.5], c: undefined }],
    ['emoji', { a: '💥', 'é💥': ['\ufffd'] }],
  ])('%s may pass', (_, variables) => expect(weighVariables(variables)).toBeNull())

  test.each([
    ['one member more in an object', { a: [members(widest + 1)] }],
    ['one variable more', members(most + 1)],
    ['one object more', { a: list(most, () => ({})) }],
    ['one list more', { a: list(most, () => []) }],
    ['many objects of few members', { a: list(most / 2, () => ({ b: 1 })) }],
    ['many wide objects', { a: list(most / widest, () => members(widest)) }],
    ['one level more', { a: nested(deepest + 1) }],
    ['30,000 levels', { a: JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) }],
  ])('%s is too much', (_, variables) => {
    expect(weighVariables(variables)).toMatchObject({
      extensions: { code: 'OPERATION_TOO_LARGE', limit: expect.any(Number) },
    })
  })

  test.each([
    ['a longer name', { a: { ['n'.repeat(longest + 1)]: 1 } }, /^The variable \$a has a member whose name has more/],
    ['a long name of a variable', { ['n'.repeat(120_000)]: 1 }, /^The object of all variables has a member whose name/],
    ['NUL', { a: { b: ['x', 'a\0b'] } }, 'The variable $a.b[1] contains the character NUL.'],
    ['half of a pair', { a: '\ud83d' }, /^The variable \$a contains half of a surrogate pair/],
    ['NUL in a name', { a: { 'x\0y': 1 } }, 'The variable $a has a member whose name contains the character NUL.'],
    ['half of a pair in a name of a variable', { '\udfff': 1 }, /^The object of all variables has a member whose name/],
    ['NUL below an unprintable name', { a: { 'é\n': '\0' } }, 'The variable $a.?? contains the character NUL.'],
  ])('%s is refused', (_, variables, message) => {
    const error = weighVariables(variables)
    expect(error).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
    expect(error?.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    expect(error?.message.length).toBeLessThan(200)
  })
})

const schema = buildSchema(`
  type Query { find(filter: Filter, kinds: [Kind!]): Int }
  input Filter { name: String at: [Int!] kind: Kind inner: Filter only: Only }
  input Only @oneOf { a: Int b: Int }
  enum Kind { INCIDENT MAINTENANCE }
`)
const document = parse('query ($filter: Filter, $kinds: [Kind!]) { find(filter: $filter, kinds: $kinds) }')
const coerced = (variableValues: Record<string, unknown>) => coerceVariables({ schema, document, variableValues })

describe('coercion', () => {
  test('returns values, with single ones as lists', () => {
    const variables = { filter: { name: 'x', at: 1 }, kinds: 'INCIDENT', more: 7 }
    expect(coerced(variables)).toEqual({ values: { filter: { name: 'x', at: [1] }, kinds: ['INCIDENT'] } })
  })

  test('happens once for the same operation and variables', () => {
    const variables = { filter: { at: [1] } }
    expect(coerced(variables)).toBe(coerced(variables))
    expect(coerced({ ...variables })).not.toBe(coerced(variables))
    const none = { schema, document: parse('{ find }') }
    expect(coerceVariables(none)).toBe(coerceVariables({ ...none, variableValues: undefined }))
  })

  test.each([
    ['unknown members', { filter: { nam: 1, kin: 2, inne: {} } }],
    ['names like those of every object', { filter: JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') }],
    ['unknown values', { kinds: ['INCIDEN', 'MAINTENANC', 'X'] }],
    ['values of another type', { filter: { at: ['x', 'y'] } }],
    ['what is no object', { filter: 'x', kinds: 7 }],
    ['two members instead of one', { filter: { only: { a: 1, b: 2 } } }],
  ])('of %s stops at the first, without suggestions', (_, variables) => {
    const { error } = coerced(variables)
    expect(error).toBeInstanceOf(GraphQLError)
    expect(error?.extensions['code']).toBe('BAD_USER_INPUT')
    expect(error?.message).toMatch(/^Variable "\$(filter|kinds)" got invalid value/)
    expect(error?.message).not.toContain('Did you mean')
    expect(error?.locations).toHaveLength(1)
  })

  test('of a long text reports its beginning and the reason', () => {
    const { error } = coerced({ filter: { ['n'.repeat(longest)]: 'x'.repeat(120_000) } })
    expect(error?.message.length).toBeLessThanOrEqual(800)
    expect(error?.message).toMatch(/^Variable "\$filter" got invalid value .*…/)
    expect(error?.message).toMatch(/is not defined by type "Filter"\.$/)
  })

  test('reads no member of an object that weighs too much', () => {
    const reads: PropertyKey[] = []
    const items = list(most + 1, () => ({}))
    const first = new Proxy({}, { get: (_target, name) => void reads.push(name) })
    const { error } = coerced({ filter: { at: [...items, first] } })
    expect(error?.extensions['code']).toBe('OPERATION_TOO_LARGE')
    expect(reads).toEqual([])
  })
})

describe('the largest inputs that people send', () => {
  const monitor = (n: number) => ({
    name: `Monitor ${n}`,
    description: 'What it watches.',
    intervalSeconds: 60,
    regions: ['eu', 'us', 'ap'],
    dependsOnIds: list(5, (id) => `mon_${String(id).padStart(24, '0')}`),
    probe: {
      http: {
        url: 'https://example.org/health',
        headers: list(5, (id) => ({ name: `X-${id}`, value: 'a' })),
        expectedStatus: ['2xx', 301],
        expectedHeaders: [{ name: 'X', value: 'y' }],
        json: [{ path: 'a.b', equals: 'x' }],
      },
    },
  })

  test.each([
    ['createMonitors', 'CreateMonitorsInput', { items: list(100, monitor) }],
    ['deleteServices', 'DeleteServicesInput', { ids: list(100, (n) => `svc_${n}`) }],
    ['planConfiguration', 'PlanConfigurationInput', { yaml: 'x'.repeat(120_000) }],
  ])('%s passes', (field, type, input) => {
    const document = parse(`mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`)
    expect(weighVariables({ input })).toBeNull()
    expect(coerceVariables({ schema: ownSchema, document, variableValues: { input } }).error).not.toMatchObject({
      extensions: { code: 'OPERATION_TOO_LARGE' },
    })
  })
})
