import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createClient } from 'graphql-ws'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { caddyMissing, startDeployedCaddy } from '../support/caddy.ts'
import { createAuthority } from '../support/certificate.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { nginxMissing, startDeployedNginx } from '../support/nginx.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
const app = await testApp({ dns, settings: { TRUST_PROXY: '127.0.0.1' } })

const proxies = [
  {
    name: 'Caddy, with deploy/Caddyfile',
    clients: ['127.0.1.1', '127.0.2.1'],
    missing: caddyMissing,
    start: startDeployedCaddy,
  },
  {
    name: 'nginx, with deploy/nginx.conf',
    clients: ['127.0.3.1', '127.0.4.1'],
    missing: nginxMissing,
    start: (service: string) => startDeployedNginx(service, createAuthority().issue(['localhost'])),
  },
]

describe.each(proxies)('behind $name', ({ clients, missing, start }) => {
  test.runIf(process.env['CI'])('it is installed', () => expect(missing).toBeNull())

  describe.skipIf(missing !== null)('', () => {
    let port: number
    beforeAll(async () => {
      const proxy = await start(app.baseUrl)
      atTheEnd(() => proxy.stop())
      port = proxy.port
    })

    test('pages arrive, and checks count by the address of the client, not of the proxy', async () => {
      expect((await send('GET', '/healthz')).statusCode).toBe(200)
      for (const localAddress of clients) {
        const { headers } = await send('GET', '/api/blacklist-monitor/ip?target=127.0.0.2', { localAddress })
        expect(headers['x-ratelimit-remaining']).toBe('99')
      }
    })

    test('websockets and server-sent events deliver events', async () => {
      const { slug, key } = await newOrganization(app.baseUrl)
      const page = `statusPage(slug: "${slug}") { cursor }`
      const { data } = await post(app.baseUrl, { query: `{ ${page} }` })
      const { cursor } = (data as unknown as { statusPage: { cursor: string } }).statusPage
      const query = `subscription { statusPageEvents(slug: "${slug}", after: "${cursor}") { kind } }`
      const client = createClient({ url: `wss://localhost:${port}/graphql`, webSocketImpl: Trusting })
      const overWebsocket = client.iterate({ query }).next()
      const overEvents = await send('POST', '/graphql', { accept: 'text/event-stream', body: { query } })
      await mutate(app.baseUrl, key, 'createService', 'Service', { name: 'API' })
      expect((await overWebsocket).value).toMatchObject({ data: { statusPageEvents: { kind: 'SERVICE_CREATED' } } })
      let received = ''
      for await (const part of overEvents.setEncoding('utf8')) {
        received += part
        if (received.includes('SERVICE_CREATED')) break
      }
      overEvents.destroy()
      await client.dispose()
    })

    async function send(
      method: string,
      path: string,
      options: { readonly localAddress?: string; readonly accept?: string; readonly body?: object } = {},
    ): Promise<IncomingMessage> {
      const { localAddress, accept, body } = options
      const asked = request({
        ...{ method, path, port, host: 'localhost', family: 4, rejectUnauthorized: false },
        headers: { 'content-type': 'application/json', ...(accept && { accept }) },
        ...(localAddress && { localAddress }),
      }).end(body && JSON.stringify(body))
      const [response] = await once(asked, 'response')
      return response
    }
  })
})

/** A client that trusts any certificate. */
class Trusting extends WebSocket {
  constructor(address: string, protocols: string | string[]) {
    super(address, protocols, { rejectUnauthorized: false })
  }
}
