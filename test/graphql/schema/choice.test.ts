import { describe, expect, test } from 'vitest'
import { Conflict, Invalid } from '../../../src/core/errors.ts'
import { invalid } from '../../../src/core/validation.ts'
import { withChoice } from '../../../src/graphql/schema/choice.ts'

const failing = (error: Error) => withChoice('probe', ['http', 'tcp'], async () => Promise.reject(error))
const rejection = (error: Error) =>
  failing(error)({}, { probe: { http: {} } }).then(
    () => null,
    (reason: unknown) => reason,
  )

describe('work with one of several members', () => {
  test.each([
    ['a chosen one', { name: 'A', probe: { http: { url: 'a' } } }, { name: 'A', http: { url: 'a' } }],
    ['none', { name: 'A' }, { name: 'A' }],
    ['null', { name: 'A', probe: null }, { name: 'A' }],
  ])('gets %s beside the other members', async (_, input, expected) => {
    expect(await withChoice('probe', ['http'], async (ctx: string, given) => [ctx, given])('ctx', input)).toEqual([
      'ctx',
      expected,
    ])
  })

  test('fails with the paths of the input', async () => {
    const issues = [
      { path: ['http', 'url'], message: 'must be a URL' },
      { path: ['name'], message: 'is required' },
    ]
    const error = await rejection(invalid(issues))
    expect(error).toMatchObject({
      constructor: Invalid,
      code: 'INVALID_INPUT',
      message: expect.stringContaining('probe.http.url: must be a URL'),
      issues: [
        { path: ['probe', 'http', 'url'], message: 'must be a URL' },
        { path: ['name'], message: 'is required' },
      ],
    })
  })

  test.each([
    ['an issue of another member', invalid([{ path: ['name'], message: 'is required' }])],
    ['another error', new Conflict('Too late.')],
  ])('passes on %s', async (_, error) => {
    expect(await rejection(error)).toBe(error)
  })
})
