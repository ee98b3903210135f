import { executeSync, getIntrospectionQuery, lexicographicSortSchema, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { post, transports } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns })

/** Everything that an introspection can select. */
const everything = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
}

describe.each(transports)('introspection over $name', ({ run }) => {
  test('returns the executed schema, also from the cache', async () => {
    const expected = executeSync({
      schema: lexicographicSortSchema(schema),
      document: parse(getIntrospectionQuery(everything)),
    }).data
    for (let time = 0; time < 2; time++) {
      const [result] = await run(url, { query: getIntrospectionQuery(everything) })
      expect(result?.errors).toBeUndefined()
      expect(inOrder(result?.data)).toEqual(inOrder(JSON.parse(JSON.stringify(expected))))
    }
  })

  test('supports operation names and variables', async () => {
    const query = 'query ($name: String!) { ...T } fragment T on Query { __type(name: $name) { name } }'
    const [incident] = await run(url, { query, variables: { name: 'Incident' } })
    expect(incident?.data).toEqual({ __type: { name: 'Incident' } })
    const [monitor] = await run(url, { query, variables: { name: 'Monitor' } })
    expect(monitor?.data).toEqual({ __type: { name: 'Monitor' } })
    const [missing] = await run(url, { query })
    expect(missing?.errors?.[0]?.message).toMatch(/\$name/)
  })

  test('that multiplies is rejected', async () => {
    const types = Array.from({ length: 60 }, (_, index) => `a${index}: types { ...F }`).join(' ')
    const names = Array.from({ length: 50 }, (_, index) => `b${index}: name`).join(' ')
    const query = `{ __schema { ${types} } } fragment F on __Type { fields { type { fields { ${names} } } } }`
    const [result] = await run(url, { query })
    expect(result?.errors?.[0]?.extensions?.['code']).toBe('OPERATION_TOO_LARGE')
  })
})

test('introspection with other fields counts towards the cost', async () => {
  const query = getIntrospectionQuery().replace('__schema {', 'blacklists { name } __schema {')
  const { errors } = await post(url, { query })
  expect(errors?.[0]?.extensions?.['code']).toBe('OPERATION_TOO_LARGE')
})

interface Named {
  readonly name: string
  readonly locations?: string[]
}

/** Sorts what every schema has, whose order differs in the schema's file. */
function inOrder(data: unknown): unknown {
  const { __schema: given } = data as { readonly __schema: { readonly [list in 'directives' | 'types']: Named[] } }
  const byName = (one: Named, other: Named) => one.name.localeCompare(other.name)
  return {
    ...given,
    directives: given.directives.map((each) => ({ ...each, locations: each.locations?.toSorted() })).toSorted(byName),
    types: given.types.filter(({ name }) => !name.startsWith('__')).toSorted(byName),
  }
}
