import { serverAudits } from 'graphql-http'
import { describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { answer, startDnsServer } from '../support/dns-server.ts'

const dns = await startDnsServer((query) => answer(query, []))
const { baseUrl } = await testApp({ dns })

describe('the GraphQL-over-HTTP audits of the reference implementation', () => {
  test.each(serverAudits({ url: `${baseUrl}/graphql` }).map((audit) => [audit.name, audit] as const))(
    '%s',
    async (_name, audit) => {
      const result = await audit.fn()
      expect(result.status, 'reason' in result ? result.reason : undefined).toBe('ok')
    },
  )
})
