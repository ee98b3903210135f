import { readFileSync } from 'node:fs'
import type { GraphQLField, GraphQLInputType } from 'graphql'
import { getNamedType, isEnumType, isInputObjectType, isInterfaceType, isObjectType, isUnionType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { printedSchema, schema } from '../../src/app/schema.ts'
import { errorCodes } from '../../src/core/errors.ts'

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

test('schema.graphql matches the code', () => {
  const file = readFileSync('schema.graphql', 'utf8')
  expect(file === printedSchema(), 'schema.graphql is out of date: run npm run schema').toBe(true)
})

test('every union error has a code and a message', () => {
  const errorType = schema.getType('Error')
  const unions = types.filter(isUnionType)
  const members = unions.flatMap((union) => union.getTypes()).filter(({ name }) => /Error$/.test(name))
  const others = members.filter((type) => !type.getInterfaces().some((each) => each === errorType))
  // A refused target of a bulk check is an item of the answer, not a failure of the field.
  expect(new Set(others.map(({ name }) => name))).toEqual(new Set(['TargetError']))
  const codes = schema.getType('ErrorCode')
  expect(
    isEnumType(codes) &&
      codes
        .getValues()
        .map(({ name }) => name)
        .sort(),
  ).toEqual([...errorCodes].sort())
})

test('every mutation field has typed errors', () => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(0)
  for (const { name, type } of fields) {
    const named = getNamedType(type)
    expect(isUnionType(named) && named.getTypes().some((member) => /Error$/.test(member.name)), name).toBe(true)
  }
})

test('no type exposes a hash or a secret, except new keys, purchases and webhook secrets', () => {
  const reported = types
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
    .filter((field) => /hash|secret|token|password/i.test(field))
  // Alert channels, monitors and subscribers return it to those who may change them.
  expect(reported.sort()).toEqual([
    'AlertChannel.signingSecret',
    'BuyCheckPlanPayload.secret',
    // A keyed hash of what a plan does.
    'ConfigurationPlan.planHash',
    'CreateApiKeyPayload.secret',
    'CreatePageTokenPayload.id',
    'CreatePageTokenPayload.secret',
    'CreatePageTokenPayload.token',
    'CreatePasswordResetLinkPayload.url',
    // Where a monitor gets tokens, and whether it has passwords, which are never returned.
    'HttpOAuth.tokenUrl',
    'MongodbOptions.hasPassword',
    'MqttOptions.hasPassword',
    'Mutation.createPageToken',
    'Mutation.createPasswordResetLink',
    'Mutation.revokePageToken',
    'Mutation.rotateAlertChannelSecret',
    'Mutation.rotateHeartbeatToken',
    'Mutation.rotateWebhookSecret',
    'MysqlOptions.hasPassword',
    // The token itself is only in the payload that creates it.
    'PageToken.createdAt',
    'PageToken.id',
    'PageToken.lastUsedAt',
    'PageToken.name',
    'PostgresqlOptions.hasPassword',
    'RedisOptions.hasPassword',
    'StatusPage.tokens',
    'Subscriber.signingSecret',
  ])
})

/** Returns everything that a mutation accepts, including nested fields: names with their types. */
function takenBy({ args }: GraphQLField<unknown, unknown>): { name: string; type: string }[] {
  const seen = new Set<string>()
  const within = (name: string, type: GraphQLInputType): { name: string; type: string }[] => {
    const named = getNamedType(type)
    if (!isInputObjectType(named)) return [{ name, type: named.name }]
    if (seen.has(named.name)) return []
    seen.add(named.name)
    return Object.values(named.getFields()).flatMap((field) => within(field.name, field.type))
  }
  return args.flatMap((arg) => within(arg.name, arg.type))
}

/** Returns the members of a field's union; for a bulk mutation, those of its items. */
function membersOf(field: GraphQLField<unknown, unknown>): string[] {
  const type = getNamedType(field.type)
  if (!isUnionType(type)) return []
  return type.getTypes().flatMap((member) => {
    const results = member.getFields()['results']
    const item = results && getNamedType(results.type)
    const result = isObjectType(item) ? item.getFields()['result'] : undefined
    return [member.name, ...(result ? membersOf(result) : [])]
  })
}

describe('the rules of graphql/schema/errors.ts', () => {
  test.each(Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => [field.name, field] as const))(
    '%s has the error members that its arguments require',
    (_, field) => {
      const taken = takenBy(field)
      const demanded = new Set<string>()
      for (const { name, type } of taken) {
        if (type === 'ID' || name === 'token') demanded.add('NotFoundError')
        else demanded.add('ValidationError')
        if (name === 'version' || name === 'idempotencyKey') demanded.add('ConflictError')
      }
      expect(demanded.size).toBeGreaterThan(0)
      expect(membersOf(field)).toEqual(expect.arrayContaining([...demanded]))
    },
  )

  test('queries have no error unions, except for checks', () => {
    const fields = types
      .filter((type) => isObjectType(type) || isInterfaceType(type))
      .filter(({ name }) => name !== 'Mutation' && !name.endsWith('Item'))
      .flatMap((type) =>
        Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })),
      )
    const failing = fields.filter(({ field }) => membersOf(field).some((name) => /(?<!Target)Error$/.test(name)))
    expect(failing.map(({ name }) => name).sort()).toEqual([
      'Query.checkDomain',
      'Query.checkIp',
      'Subscription.checkProgress',
    ])
  })
})
