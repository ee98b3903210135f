import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { FilledOrganization } from '../support/filled-organization.ts'
import type { Caller, Place } from './input.ts'
import { numbers, shapes, texts } from './values.ts'

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))

/** Mutations that would take away what the other inputs need: they get ids of nothing. */
const destructive = /^(delete|remove|revoke|erase|leave|transfer|merge|close|end|cancel|reset|rotate|set)/

/** A field, and the fields that lead to it. */
interface Reached {
  readonly operation: 'query' | 'mutation' | 'subscription'
  readonly field: GraphQLField<unknown, unknown>
  /** The fields from the root, and the type on which each is. */
  readonly before: readonly { readonly field: GraphQLField<unknown, unknown>; readonly on: string | null }[]
  readonly on: string | null
}

/** Returns every argument of every field, and each member of its input objects. */
export function graphqlPlaces(organization: FilledOrganization): Place[] {
  return reachedFields().flatMap((reached) => reached.field.args.flatMap((arg) => placesOf(reached, arg, organization)))
}

/** A type to visit, and how it is reached. */
interface Visit extends Omit<Reached, 'field'> {
  readonly type: GraphQLObjectType
}

/** Finds a shortest way to each field with arguments. What mutations return is reached by queries. */
function reachedFields(): Reached[] {
  const found: Reached[] = []
  const seen = new Set<string>()
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const
  const queue = roots.flatMap(([operation, type]): Visit[] => (type ? [{ operation, type, before: [], on: null }] : []))
  for (let next = queue.shift(); next; next = queue.shift()) {
    if (seen.has(next.type.name)) continue
    seen.add(next.type.name)
    const { type, ...reached } = next
    const fields = Object.values(type.getFields())
    found.push(...fields.filter(({ args }) => args.length > 0).map((field) => ({ ...reached, field })))
    if (next.operation === 'query') queue.push(...fields.flatMap((field) => visitsBelow(next, field)))
  }
  return found
}

function visitsBelow({ operation, before, on }: Visit, field: GraphQLField<unknown, unknown>): Visit[] {
  const named = getNamedType(field.type)
  const path = [...before, { field, on }]
  if (isObjectType(named)) return [{ operation, type: named, before: path, on: null }]
  if (!isAbstractType(named)) return []
  return schema.getPossibleTypes(named).map((type) => ({ operation, type, before: path, on: type.name }))
}

function placesOf(reached: Reached, arg: GraphQLArgument, organization: FilledOrganization): Place[] {
  const { operation, field, before, on } = reached
  const idsOf = (name: string) => idFor(organization, destructive.test(field.name) ? '' : `${field.name} ${name}`)
  const levels = [...before, { field, on }]
  const declared = levels.flatMap(({ field: { args } }, level) =>
    args
      .filter((each) => isNonNullType(each.type) || each === arg)
      .map((each) => ({ arg: each, variable: `v${level}_${each.name}` })),
  )
  const opened = levels.map(({ field: { name, args }, on: type }, level) => {
    const given = args.filter((each) => declared.some(({ arg: known }) => known === each))
    const list = given.map((each) => `${each.name}: $v${level}_${each.name}`).join(', ')
    return `${type === null ? '' : `... on ${type} { `}${name}${list === '' ? '' : `(${list})`}`
  })
  const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'
  const ends = levels.map(({ on: type }, level) => `${level === 0 ? '' : ' }'}${type === null ? '' : ' }'}`).join('')
  const types = declared.map(({ arg: { type }, variable }) => `$${variable}: ${type}`).join(', ')
  const query = `${operation} F(${types}) { ${opened.join(' { ')}${selection}${ends} }`
  const usual = Object.fromEntries(
    declared.map(({ arg: { name, type }, variable }) => [variable, usualValue(type, name, idsOf, 0)]),
  )
  const variable = `v${before.length}_${arg.name}`
  const path = [...before.map(({ field: { name } }) => name), field.name].join('.')
  const allowed: readonly [Caller, ...Caller[]] = ['ADMIN', 'stranger', 'READ', 'WRITE', 'token']
  return leavesOf(arg.type, arg.name, 0, new Set(), idsOf).map(({ name, type, set }) => ({
    name: `${operation} ${path}(${name})`,
    callers: allowed,
    kinds: [...kindsOf(type), ...shapes],
    put: (value) => ({
      method: 'POST',
      path: '/graphql',
      headers: {
        'content-type': 'application/json',
        accept: operation === 'subscription' ? 'text/event-stream' : 'application/json',
      },
      body: JSON.stringify({ query, variables: { ...usual, [variable]: set(value) } }),
    }),
  }))
}

function kindsOf(type: GraphQLInputType) {
  const named = getNamedType(type)
  return named.name === 'Int' || named.name === 'Float'
    ? [...numbers, ...texts.slice(0, 4)]
    : [...texts, ...numbers.slice(0, 4)]
}

interface Leaf {
  readonly name: string
  readonly type: GraphQLInputType
  /** Returns the argument with a value in this place. */
  set(value: unknown): unknown
}

const MAX_DEPTH = 6

/** Returns the places in an argument: itself, and the members of its objects and lists. */
function leavesOf(
  type: GraphQLInputType,
  name: string,
  depth: number,
  above: ReadonlySet<string>,
  idsOf: (name: string) => string,
): Leaf[] {
  const own: Leaf = { name, type, set: (value) => value }
  const inner = getNullableType(type)
  if (isListType(inner)) {
    const items = leavesOf(inner.ofType, `${name}[]`, depth, above, idsOf)
    return [own, ...items.map((leaf) => ({ ...leaf, set: (value: unknown) => [leaf.set(value)] }))]
  }
  if (!isInputObjectType(inner) || depth > MAX_DEPTH || above.has(inner.name)) return [own]
  const within = new Set([...above, inner.name])
  const members = Object.values(inner.getFields()).flatMap((member) =>
    leavesOf(member.type, `${name}.${member.name}`, depth + 1, within, idsOf).map((leaf) => {
      const usual = inner.isOneOf ? {} : usualValue(inner, name, idsOf, depth)
      return { ...leaf, set: (value: unknown) => ({ ...(usual as object), [member.name]: leaf.set(value) }) }
    }),
  )
  return [own, ...members]
}

/** Returns a valid value: of objects, the required members only. */
function usualValue(type: GraphQLInputType, name: string, idsOf: (name: string) => string, depth: number): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [usualValue(inner.ofType, name, idsOf, depth)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields())
    const given = inner.isOneOf ? fields.slice(0, 1) : fields.filter((field) => isNonNullType(field.type))
    return depth > MAX_DEPTH
      ? {}
      : Object.fromEntries(given.map((field) => [field.name, usualValue(field.type, field.name, idsOf, depth + 1)]))
  }
  if (inner.name === 'ID') return idsOf(name)
  if (inner.name === 'Boolean') return false
  if (inner.name === 'DateTime') return '2026-11-20T12:00:00Z'
  if (inner.name === 'Int' || inner.name === 'Float') return name === 'first' ? 5 : 60
  return usualText(name)
}

function usualText(name: string): string {
  if (/url|webhook/i.test(name)) return 'https://hook.example/in'
  if (/email/i.test(name)) return 'a@people.example'
  if (/slug/i.test(name)) return 'acme'
  if (/zone/i.test(name)) return 'Europe/Berlin'
  if (/target|domain|host/i.test(name)) return 'example.com'
  return /yaml/i.test(name) ? 'allclear: 1' : 'Words'
}

/** Returns the id that a name means; one of nothing, if none is known. */
function idFor({ ids, id }: FilledOrganization, name: string): string {
  if (/organization/i.test(name)) return id
  // The longest name first: `IncidentUpdate` before `Incident`.
  const known = Object.entries(ids).sort(([one], [other]) => other.length - one.length)
  const found = known.find(([type, value]) => value !== '' && name.toLowerCase().includes(type.toLowerCase()))
  return found?.[1] ?? (/page/i.test(name) ? ids.StatusPage : 'svc_000000000000000000000000')
}
