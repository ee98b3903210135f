import { describe } from 'vitest'
import { haveOwnPackages } from '../../support/own-packages.ts'

describe.runIf(haveOwnPackages(import.meta.url))('the lint of schema.graphql', async () => {
  await import('./rules.ts')
})
