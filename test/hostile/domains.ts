import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { bomb } from './bomb.ts'
import type { HostileCase, Target } from './case.ts'
import { ask, mutate, query } from './case.ts'
import { hostileAddress, nameIn } from './zone.ts'

/** A case of a domain whose proof is looked up in records of this kind and on a web server. */
function proving(name: string, kind: Parameters<typeof nameIn>[0], answer: RequestListener | null = null): HostileCase {
  const isPossible = answer === null || process.getuid?.() === 0
  return {
    name: `the proof of a custom domain: ${name}`,
    // An unreadable proof does not count, and does not fail the check.
    statuses: [200, 408],
    waits: true,
    ...(!isPossible && { awaits: 'port 80, on which only root may listen' }),
    async send(target) {
      const server = createServer(answer ?? undefined)
      if (answer !== null) await once(server.listen(80, hostileAddress), 'listening')
      try {
        const domain = nameIn(kind)
        const input = { pageId: target.organizationId, domain }
        await mutate(target, 'requestDomain', input, '... on PageDomain { name }')
        return await checked(target)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

/** Waits until the domain has been checked, or long enough for the processing of an answer to have begun. */
async function checked(target: Target): Promise<number> {
  for (let tries = 0; tries < 30; tries++) {
    const { organization } = await query<Organization>(target, '{ organization { domain { checkedAt } } }')
    if (organization.domain.checkedAt !== null) return 200
    await sleep(100)
  }
  return 408
}

interface Organization {
  readonly organization: { readonly domain: { readonly checkedAt: string | null } }
}

const block = Buffer.alloc(64 * 1024, 'x')

function writeOn(response: ServerResponse): void {
  while (!response.destroyed && response.write(block));
  response.once('drain', () => writeOn(response))
}

async function drip(response: ServerResponse): Promise<void> {
  for (let bytes = 0; bytes < 10 && !response.destroyed; bytes++) {
    response.write('x')
    await sleep(100)
  }
  response.destroy()
}

/** A case of many names that nobody has seen before, of which one is then asked about once more. */
function naming(name: string, status: number, send: (target: Target, host: string) => Promise<number>): HostileCase {
  return {
    name,
    statuses: [status],
    async send(target) {
      flood += 1
      const hosts = Array.from({ length: 1000 }, (_, nth) => `n${nth}.flood${flood}.example`)
      const [first = 0] = await Promise.all(hosts.map((host) => send(target, host)))
      return first
    },
  }
}

let flood = 0

/** Answers of foreign servers during the verification of a custom domain. */
export const domains: readonly HostileCase[] = [
  naming('1,000 hosts that the service does not answer to', 421, ({ url }, host) =>
    ask(url, '/', { headers: { host } }),
  ),
  naming('1,000 questions about certificates', 404, ({ url }, host) =>
    ask(url, `/.well-known/allclear-certificate?domain=${host}`, {}),
  ),
  proving('thousands of texts', 'thousands of texts'),
  proving('one text of 32,000 strings', 'one text of 32,000 strings'),
  proving('an endless file', 'one address', (_, response) => writeOn(response)),
  proving('a file of a byte at a time', 'one address', (_, response) => void drip(response)),
  proving('a file that redirects to itself', 'one address', ({ url }, response) => {
    response.writeHead(302, { location: `${url}?` }).end()
  }),
  proving('a file that unpacks to 100 MB', 'one address', (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb(100))
  }),
]
