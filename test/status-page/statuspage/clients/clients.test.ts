import { describe } from 'vitest'
import { haveOwnPackages } from '../../../support/own-packages.ts'

describe.runIf(haveOwnPackages(import.meta.url))('client libraries of Statuspage', async () => {
  await import('./clients.ts')
})
