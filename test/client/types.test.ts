import { readFileSync } from 'node:fs'
import type { GraphQLOutputType, SelectionSetNode } from 'graphql'
import { buildSchema, getNamedType, isEnumType, isNonNullType, isObjectType, Kind, parse } from 'graphql'
import { expect, test } from 'vitest'
import { ORGANIZATION_EVENTS, PAGE_EVENTS } from '../../src/client/index.ts'

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
const source = readFileSync('src/client/index.ts', 'utf8')

/** Writes the type of what a subscription selects, on one line. */
function typeSelected(query: string): string {
  const [definition] = parse(query).definitions
  if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error('There is no operation')
  const [root] = definition.selectionSet.selections
  if (root?.kind !== Kind.FIELD) throw new Error('There is no field')
  return objectType(schema.getSubscriptionType()?.getFields()[root.name.value]?.type, root.selectionSet)
}

function objectType(type: GraphQLOutputType | undefined, set: SelectionSetNode | undefined): string {
  const named = type && getNamedType(type)
  if (!isObjectType(named) || set === undefined) throw new Error(`${named} has no members`)
  const members = set.selections.map((selection) => {
    if (selection.kind !== Kind.FIELD) throw new Error('Fragments are not read here')
    const name = selection.name.value
    const of = named.getFields()[name]?.type
    if (of === undefined) throw new Error(`${named.name} has no ${name}`)
    const value = selection.selectionSet ? objectType(of, selection.selectionSet) : leafType(of, name)
    return `${name}: ${value}${isNonNullType(of) ? '' : ' | null'}`
  })
  return `{ ${members.join(' ')} }`
}

/**
 * Kinds grow with versions, so the client declares them as texts. JSON carries all other scalars of events as texts.
 */
function leafType(type: GraphQLOutputType, name: string): string {
  const named = getNamedType(type)
  if (!isEnumType(named) || name === 'kind') return 'string'
  return sorted(
    named
      .getValues()
      .map((value) => `'${value.name}'`)
      .join(' | '),
  )
}

const sorted = (union: string) => union.split(' | ').sort().join(' | ')

/** Returns an interface of the client, on one line. */
function typeDeclared(name: string): string {
  const [, body = ''] = new RegExp(`export interface ${name} (\\{.*?\\n\\})`, 's').exec(source) ?? []
  return body
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/\breadonly |;/g, '')
    .replace(/\s+/g, ' ')
    .replace(/'\w+'(?: \| '\w+')+/g, sorted)
}

test.each([
  ['PageEvent', PAGE_EVENTS],
  ['OrganizationEvent', ORGANIZATION_EVENTS],
])('%s is what the schema returns for its subscription', (name, query) => {
  expect(typeDeclared(name)).toBe(typeSelected(query))
})
