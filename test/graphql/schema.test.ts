import { readFileSync } from 'node:fs'
import { getNamedType, isEnumType, isInterfaceType, isObjectType, isUnionType } from 'graphql'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/errors.ts'
import { printedSchema, schema } from '../../src/graphql/schema.ts'

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

test('schema.graphql says what the code says', () => {
  const file = readFileSync('schema.graphql', 'utf8')
  expect(file === printedSchema(), 'schema.graphql is out of date: run npm run schema').toBe(true)
})

test('every error of a union has a code and a message for people', () => {
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

test('every field of a mutation can fail in a typed way', () => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(0)
  for (const { name, type } of fields) {
    const named = getNamedType(type)
    expect(isUnionType(named) && named.getTypes().some((member) => /Error$/.test(member.name)), name).toBe(true)
  }
})

test('no type tells a hash or a secret, but the key or the purchase that was just made, and a webhook’s to its holder', () => {
  const told = types
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
    .filter((field) => /hash|secret|token|password/i.test(field))
  // The mutations give a monitor and a subscriber, which tell it to whom may change them.
  expect(told).toEqual([
    'BuyCheckPlanPayload.secret',
    'CreateApiKeyPayload.secret',
    'Mutation.rotateHeartbeatToken',
    'Mutation.rotateWebhookSecret',
    'Subscriber.signingSecret',
  ])
})
