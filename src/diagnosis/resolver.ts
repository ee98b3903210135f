import { Resolver } from 'node:dns/promises'
import { SECOND } from '../core/time.ts'
import { reasonOf } from '../network/reason.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

const TIMEOUT_MS = 5 * SECOND

/** Spamhaus's test entry, and the answers by which it refuses public resolvers (spamhaus.org, “return codes”). */
const TEST_ENTRY = '2.0.0.127.zen.spamhaus.org'
const REFUSAL = '127.255.255.'

/** Queries a resolver for Spamhaus's test entry. @param server `ip` or `ip:port`. */
export async function examineResolver(server: string): Promise<Finding> {
  try {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 })
    resolver.setServers([server])
    const answers = await resolver.resolve4(TEST_ENTRY)
    const isRefused = answers.some((answer) => answer.startsWith(REFUSAL))
    return found(isRefused ? 'RESOLVER_REFUSED' : 'RESOLVER_OK', { host: server })
  } catch (error) {
    return found('RESOLVER_UNREACHABLE', { host: server, reason: reasonOf(error) })
  }
}
