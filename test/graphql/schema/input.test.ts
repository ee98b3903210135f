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
    ['as the deprecated arguments', whole, whole],
    ['as `input`, with null for the deprecated arguments', { input: whole, invoiceId: null }, whole],
    ['twice', { input: whole, secret: 's' }, ['input cannot be combined with the deprecated arguments']],
    ['not at all', {}, ['input.invoiceId is required', 'input.secret is required']],
    ['as null', { input: null }, ['input.invoiceId is required', 'input.secret is required']],
    ['with a required argument missing', { invoiceId: 'inv_1' }, ['secret is required']],
  ])('given %s', (_how, args, expected) => {
    expect(issuesOf(args)).toEqual(expected)
  })
})

test('every mutation takes a single `input`, or only an id; every other argument is deprecated', () => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(0)
  for (const { name, args } of fields) {
    const current = args.filter(({ deprecationReason }) => deprecationReason == null).map((arg) => arg.name)
    expect([['input'], ['id']], `${name}(${current.join(', ')})`).toContainEqual(current)
  }
})
