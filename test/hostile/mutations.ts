import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
} from 'graphql'
import { doorsOf } from '../support/runs.ts'
import { operatorToken } from '../support/service-data.ts'
import { ask, type HostileCase, mutate, query, type Target } from './case.ts'
import { owned } from './inputs.ts'

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))

/** A way to fill every member of an input at once. */
interface Filling {
  readonly name: string
  readonly text: string
  /** How many items a list has. */
  readonly items: number
  readonly number: number
}

/** Texts of a kind and length that something behind the limits could read for long. */
const fillings = [
  { name: 'long letters with marks', text: 'a\u0301\u0302'.repeat(1500), items: 20, number: 2 ** 31 - 1 },
  { name: 'dashes and a line separator', text: `${'-'.repeat(3000)}\u2028x`, items: 100, number: -1 },
  { name: 'ids of nothing', text: 'svc_000000000000000000000000', items: 100, number: 0 },
] as const satisfies readonly Filling[]

const MAX_DEPTH = 5

/** Returns a value with every member, lists of many items, and ids of nothing: it can delete nothing. */
function filled(type: GraphQLInputType, filling: Filling, depth = 0): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    const items = isLeafType(getNamedType(inner)) || depth === 1 ? filling.items : 2
    return Array.from({ length: items }, () => filled(inner.ofType, filling, depth + 1))
  }
  if (isEnumType(inner)) return inner.getValues().at(-1)?.name
  if (isInputObjectType(inner)) {
    if (depth > MAX_DEPTH) return {}
    const fields = Object.values(inner.getFields())
    const given = inner.isOneOf ? fields.slice(-1) : fields
    return Object.fromEntries(given.map(({ name, type: member }) => [name, filled(member, filling, depth + 1)]))
  }
  if (inner.name === 'Boolean') return true
  if (inner.name === 'DateTime') return '9999-12-31T23:59:59.999Z'
  if (inner.name === 'Int' || inner.name === 'Float') return filling.number
  return inner.name === 'ID' ? 'svc_000000000000000000000000' : filling.text
}

const callers = {
  'the organization’s key': {},
  'the operator': { authorization: `Bearer ${operatorToken}` },
  'a stranger': { authorization: '' },
} as const

function caseOf(
  { name, args }: GraphQLField<unknown, unknown>,
  filling: Filling,
  caller: keyof typeof callers,
): HostileCase {
  const types = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const document = `mutation${types && ` (${types})`} { ${name}${given && `(${given})`} { __typename } }`
  const variables = Object.fromEntries(args.map((arg) => [arg.name, filled(arg.type, filling)]))
  const statuses = [200, 400, 401, 403, 413, 429]
  return owned(
    `${name} with every member: ${filling.name}, by ${caller}`,
    statuses,
    () => ({ query: document, variables }),
    callers[caller],
  )
}

const ways = [
  { filling: fillings[0], caller: 'the organization’s key' },
  { filling: fillings[1], caller: 'the operator' },
  { filling: fillings[2], caller: 'a stranger' },
] as const

/** Every mutation, with all members of its input at their worst. A mutation that is added gets its cases by itself. */
const ofEach: readonly HostileCase[] = doorsOf(
  Object.values(schema.getMutationType()?.getFields() ?? {}).filter(({ type }) => !isLeafType(getNamedType(type))),
  ways,
).flatMap(([field, chosen]) => chosen.map(({ filling, caller }) => caseOf(field, filling, caller)))

const asOperator = (target: Target, document: string, variables: object) =>
  ask(target.url, '/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
    body: JSON.stringify({ query: document, variables }),
  })

/** Allows and withdraws private targets many times at once, for an organization and for all, while probes of them run. */
async function toggle(target: Target): Promise<number> {
  const set = `mutation ($input: SetPrivateTargetsInput!) { setPrivateTargets(input: $input) { __typename } }`
  const change = (allowed: boolean, organizationId: string | null) =>
    asOperator(target, set, { input: { allowed, organizationId } })
  const probe = { http: { url: new URL('/healthz', target.url).href } }
  const monitor = await mutate<{ id: string }>(
    target,
    'createMonitor',
    { name: 'Hostile', probe },
    '... on Monitor { id }',
  )
  const test = 'mutation ($id: ID!) { testMonitor(id: $id) { __typename } }'
  const statuses = await Promise.all([
    ...Array.from({ length: 60 }, (_, nth) => change(nth % 2 === 0, nth % 3 === 0 ? null : target.organizationId)),
    ...Array.from({ length: 5 }, () => query(target, test, { id: monitor.id }).then(() => 200)),
  ])
  await mutate(target, 'deleteMonitors', { ids: [monitor.id] }, '__typename')
  await Promise.all([change(false, null), change(false, target.organizationId)])
  return statuses.find((status) => status >= 500) ?? 200
}

export const mutations: readonly HostileCase[] = [
  ...ofEach,
  {
    name: 'private targets are allowed and withdrawn 60 times at once, while probes run',
    statuses: [200],
    send: toggle,
  },
]
