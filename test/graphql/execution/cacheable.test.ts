import { isObjectType, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { isCacheable } from '../../../src/graphql/execution/cacheable.ts'

const types = Object.values(schema.getTypeMap()).filter(isObjectType)
const declared = types.flatMap((type) =>
  ((type.extensions['cacheable'] ?? []) as readonly string[]).map((name) => ({ type, name })),
)
const is = (query: string, operationName?: string) => isCacheable(schema, parse(query), operationName)

describe('the declared fields', () => {
  test('exist', () => {
    expect(declared.length).toBeGreaterThan(50)
    expect(
      declared.filter(({ type, name }) => !type.getFields()[name]).map(({ type, name }) => `${type}.${name}`),
    ).toEqual([])
  })

  test('require no key: fields with an access condition are never cacheable', () => {
    const conditional = (extensions: object) => {
      const { pothosOptions } = extensions as { pothosOptions?: { authScopes?: unknown } }
      return pothosOptions?.authScopes !== undefined
    }
    expect(conditional(schema.getType('Organization')?.extensions ?? {})).toBe(true)
    expect(
      conditional((schema.getType('Service') as (typeof types)[number]).getFields()['version']?.extensions ?? {}),
    ).toBe(true)
    const offences = types.flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => declared.some((each) => each.type === type && each.name === field.name))
        .filter((field) => conditional(type.extensions) || conditional(field.extensions))
        .map((field) => `${type}.${field.name}`),
    )
    expect(offences).toEqual([])
  })
})

describe('cacheable', () => {
  test.each([
    ['{ statusPage(slug: "a") { name cursor } }'],
    [
      '{ __typename a: statusPage(slug: "a") { ...P } b: statusPage(slug: "a") { ...P } } fragment P on StatusPage { name }',
    ],
    [
      'query ($s: String!, $i: Boolean!) { statusPage(slug: $s) { name @include(if: $i) services { name days(n: 3) { percentage } } } }',
    ],
    [
      '{ statusPage(slug: "a") { pastIncidents(first: 3) { edges { cursor node { updates { nodes { message } } } } pageInfo { endCursor } totalCount } } }',
    ],
  ])('%s', (query) => expect(is(query)).toBe(true))

  test('depends on the named operation', () => {
    const both = 'query A { statusPage(slug: "a") { name } } query B { organization { name } }'
    expect(is(both, 'A')).toBe(true)
    expect(is(both, 'B')).toBe(false)
    expect(is(both)).toBe(false)
  })
})

describe('not cacheable', () => {
  test.each([
    ['what costs a check', '{ checkIp(target: "192.0.2.1") { __typename } }'],
    ['what needs a key', '{ organization { name } }'],
    ['a field that needs a key', '{ statusPage(slug: "a") { services { version } } }'],
    [
      'a field that needs a key, in a fragment of a fragment',
      '{ statusPage(slug: "a") { ...A } } fragment A on StatusPage { ...B } fragment B on StatusPage { domain { name } }',
    ],
    ['what belongs to a token', '{ subscriber(token: "t") { id } }'],
    ['a field that is not cacheable, among others', '{ statusPage(slug: "a") { name } blacklists { name } }'],
    ['the schema', '{ __schema { types { name } } statusPage(slug: "a") { name } }'],
    ['a mutation', 'mutation { confirmSubscription(input: { token: "t" }) { __typename } }'],
    ['a subscription', 'subscription { statusPageEvents(slug: "a") { __typename } }'],
    ['a fragment that is missing', '{ statusPage(slug: "a") { ...A } }'],
    ['a field that is missing', '{ statusPage(slug: "a") { nothing } }'],
  ])('%s', (_name, query) => expect(is(query)).toBe(false))
})
