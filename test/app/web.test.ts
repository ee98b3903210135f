import { expect, test } from 'vitest'
import { loadWeb } from '../../src/app/web.ts'

test('the schema is validated before the first request', async () => {
  const { schema } = await loadWeb()
  // The property in which graphql caches the validation; undefined: the next execution validates the schema.
  expect(schema.__validationErrors).toEqual([])
})
