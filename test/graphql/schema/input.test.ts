import { isInputObjectType, printSchema, validateSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { Invalid } from '../../../src/core/errors.ts'
import { inputOf } from '../../../src/graphql/schema/input.ts'

interface Claim {
  readonly invoiceId: string
  readonly secret: string
  readonly note?: string | null
}
const read = (args: Parameters<typeof inputOf<Claim>>[0]) => inputOf<Claim>(args, ['invoiceId', 'secret'])
const issuesOf = (args: Parameters<typeof read>[0]) => {
  try {
    return read(args)
  } catch (error) {
    if (error instanceof Invalid) return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    throw error
  }
}

describe('the input of a mutation', () => {
  const whole = { invoiceId: 'inv_1', secret: 's' }
  test.each([
    ['as `input`', { input: whole }, whole],
    ['as arguments', whole, whole],
    ['as `input`, with null for the arguments', { input: whole, invoiceId: null }, whole],
    ['twice', { input: whole, secret: 's' }, ['input cannot be combined with other arguments']],
    ['not at all', {}, ['input.invoiceId is required', 'input.secret is required']],
    ['as null', { input: null }, ['input.invoiceId is required', 'input.secret is required']],
    ['with a required argument missing', { invoiceId: 'inv_1' }, ['secret is required']],
  ])('given %s', (_how, args, expected) => {
    expect(issuesOf(args)).toEqual(expected)
  })
})

/** Mutations that scripts also call with the members of the input as arguments. */
const withArguments: Readonly<Record<string, readonly string[]>> = {
  bulkCheck: ['targets', 'apiKey'],
  startCheckout: ['tier'],
  buyCheckPlan: ['currency', 'email'],
  revokeApiKey: ['id'],
}

test('every mutation takes a single `input`, or only an id; some take the members of the input as well', () => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(0)
  for (const { name, args } of fields) {
    const names = args.map((arg) => arg.name)
    const allowed = [['input', ...(withArguments[name] ?? [])], ['id']]
    expect(allowed, `${name}(${names.join(', ')})`).toContainEqual(names)
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
