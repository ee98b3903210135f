import { describe } from 'vitest'
import { haveOwnPackages } from '../support/own-packages.ts'

describe.runIf(haveOwnPackages(import.meta.url))('what reads text of strangers', async () => {
  await import('./rules.ts')
})
