import type { GraphQLField, GraphQLNamedType, GraphQLSchema } from 'graphql'
import { isInputObjectType, isInterfaceType, isObjectType, isUnionType } from 'graphql'
import { ownValue } from '../../core/own-value.ts'

/** Returns enum values with their descriptions. The record must cover all values of the enum. */
export function describedValues<const Value extends string>(
  descriptions: Readonly<Record<Value, string>>,
): Record<Value, { readonly description: string }> {
  const entries = Object.entries<string>(descriptions).map(([value, description]) => [value, { description }])
  return Object.fromEntries(entries) as Record<Value, { readonly description: string }>
}

/**
 * Adds the common descriptions of fields and types with the same meaning everywhere, such as ids and cursors, where the
 * code has none.
 */
export function describeCommon(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue
    type.description ??= commonType(type)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) describeField(type.name, field)
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) field.description ??= ownValue(inputFields, field.name)
  }
  return schema
}

function describeField(type: string, field: GraphQLField<unknown, unknown>): void {
  field.description ??= commonField(type, field.name)
  for (const arg of field.args) arg.description ??= ownValue(args, arg.name)
}

function commonType(type: GraphQLNamedType): string | undefined {
  const field = /^(?:Query|Mutation|Subscription)(\w+)Result$/.exec(type.name)?.[1]
  if (isUnionType(type) && field) return `The result of \`${lowerFirst(field)}\`, or why it failed.`
  if (type.name.endsWith('Connection')) return 'One page of a list.'
  if (type.name.endsWith('Edge')) return 'An item of a page, with its cursor.'
  return ownValue(types, type.name)
}

function commonField(type: string, field: string): string | undefined {
  if (/Connection$|Edge$|^PageInfo$/.test(type)) return ownValue(pageFields, field)
  if (type.endsWith('Error') && field === 'code') return 'A stable, machine-readable code.'
  if (/^Delete\w+Payload$/.test(type) && field === 'id') return 'The id of the deleted object.'
  return ownValue(fields, field)
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const types: Readonly<Record<string, string>> = {
  Node: 'An object with an id.',
  PageInfo: 'The position of a page in its list.',
}

const fields: Readonly<Record<string, string>> = {
  id: 'The object’s id.',
  createdAt: 'When it was created.',
  message: 'A human-readable message.',
}

const pageFields: Readonly<Record<string, string>> = {
  edges: 'The items of the page, with their cursors.',
  nodes: 'The items of the page.',
  pageInfo: 'The position of the page in the list.',
  totalCount: 'How many items the whole list has.',
  node: 'The item.',
  cursor: 'The item’s position in the list.',
  startCursor: 'The cursor of the first item; null: the page is empty.',
  endCursor: 'The cursor of the last item; null: the page is empty.',
  hasNextPage: 'Whether items follow.',
  hasPreviousPage: 'Whether items precede.',
}

const inputFields: Readonly<Record<string, string>> = {
  idempotencyKey:
    'A key of your choice. For 24 hours, repeating the request with the same key returns the first result.',
}

const args: Readonly<Record<string, string>> = {
  input: 'The input of the mutation.',
  first: 'How many items to return from the start, at most 100.',
  last: 'How many items to return from the end, at most 100.',
  after: 'Return items after this cursor.',
  before: 'Return items before this cursor.',
  filter: 'Which items to return. Default: all.',
  order: 'The order of the items.',
  orderBy: 'The order of the items.',
  ids: 'The ids of the objects, at most 100.',
  id: 'The object’s id.',
  target: 'The IP address or domain name to check.',
  token: 'The last part of the link in each message.',
}
