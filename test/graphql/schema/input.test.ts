import { isInputObjectType, printSchema, validateSchema } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'

test('every mutation takes a single `input`, or only an id', () => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(0)
  for (const { name, args } of fields) {
    const names = args.map((arg) => arg.name)
    expect([['input'], ['id']], `${name}(${names.join(', ')})`).toContainEqual(names)
  }
})

test('nothing is deprecated before the first release: a name that is wrong is replaced', () => {
  expect(printSchema(schema).match(/.*@deprecated\(.*/g) ?? []).toEqual([])
})

test('what is one of several is an input with `@oneOf`, all of whose members may be absent', () => {
  const types = Object.values(schema.getTypeMap()).filter(isInputObjectType)
  expect(
    types
      .filter(({ isOneOf }) => isOneOf)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['AlertAddressInput', 'MonitorProbeInput', 'SubscriberAddressInput'])
  expect(validateSchema(schema)).toEqual([])
})
