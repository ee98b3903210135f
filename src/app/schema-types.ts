import type { GraphQLField, GraphQLInputField, GraphQLNamedType, GraphQLSchema, GraphQLType } from 'graphql'
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  isScalarType,
  isUnionType,
} from 'graphql'
import { ownValue } from '../core/own-value.ts'

/** How JSON carries GraphQL's own scalars. */
const SCALARS: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Float: 'number',
  ID: 'string',
  Int: 'number',
  String: 'string',
}

/** Returns TypeScript declarations of all types of a schema, for users of the client library. */
export function schemaTypes(schema: GraphQLSchema): string {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__') && !(name in SCALARS))
  return `/** The types of the GraphQL schema. Generated. */\n\n${ONE_OF}\n\n${types.map(declaration).join('\n\n')}\n`
}

/** The type of an input of which exactly one member is given (`@oneOf`). */
const ONE_OF = `/** An object with exactly one of the members. */
type OneOf<Members> = {
  [Name in keyof Members]: { readonly [Given in Name]: Members[Name] } & {
    readonly [Absent in Exclude<keyof Members, Name>]?: never
  }
}[keyof Members]`

function declaration(type: GraphQLNamedType): string {
  const head = `${comment(type.description)}export`
  if (isScalarType(type)) return `${head} type ${type.name} = ${type.name === 'JsonValue' ? 'unknown' : 'string'}`
  if (isEnumType(type)) {
    const values = type.getValues().map(({ name }) => `'${name}'`)
    return `${head} type ${type.name} = ${values.join(' | ')}`
  }
  if (isUnionType(type)) {
    const members = type.getTypes().map(({ name }) => name)
    return `${head} type ${type.name} = ${members.join(' | ')}`
  }
  if (isInputObjectType(type) && type.isOneOf) {
    const members = Object.values(type.getFields()).map(
      (field) => `${comment(field.description, '  ')}  readonly ${field.name}: ${nonNull(field.type)}`,
    )
    return `${head} type ${type.name} = OneOf<{\n${members.join('\n')}\n}>`
  }
  const typename = isObjectType(type) ? `  readonly __typename?: '${type.name}'\n` : ''
  const fields = Object.values(isInputObjectType(type) ? type.getFields() : compositeFields(type)).map(member)
  return `${head} interface ${type.name} {\n${typename}${fields.join('\n')}\n}`
}

function compositeFields(type: GraphQLNamedType): Record<string, GraphQLField<unknown, unknown>> {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {}
}

function member(field: GraphQLField<unknown, unknown> | GraphQLInputField): string {
  const isOptional = 'defaultValue' in field && !isRequiredInputField(field)
  return `${comment(field.description, '  ')}  readonly ${field.name}${isOptional ? '?' : ''}: ${reference(field.type)}`
}

function reference(type: GraphQLType): string {
  if (isNonNullType(type)) return nonNull(type.ofType)
  return `${nonNull(type)} | null`
}

function nonNull(type: GraphQLType): string {
  if (isListType(type)) return `readonly (${reference(type.ofType)})[]`
  return ownValue(SCALARS, String(type)) ?? String(type)
}

function comment(text: string | null | undefined, indent = ''): string {
  return text
    ? `${indent}/** ${text
        .replaceAll('*/', '*\\/')
        .split('\n')
        .map((line) => line.trim())
        .join(' ')} */\n`
    : ''
}
