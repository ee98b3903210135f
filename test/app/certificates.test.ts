import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { tenantsOf } from '../status/setup.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { caddyMissing, startCaddy } from '../support/caddy.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { freePort } from '../support/free-port.ts'
import { serveUnder } from '../support/own-domain.ts'

describe.skipIf(caddyMissing !== null)('Caddy, as the guide configures it', () => {
  test('fetches a certificate for a verified domain and our own host, and for no other', async () => {
    const database = await testDatabase()
    const acme = await tenantsOf(database.prisma)()
    await serveUnder(acme.ctx, acme.id, 'status.acme.example')
    const port = await freePort()
    const settings = { PORT: String(port), BASE_URL: 'https://allclear.example', TRUST_PROXY: '127.0.0.1' }
    await testApp({ dns: await startDnsServer(), database, settings })
    const caddy = await startCaddy(`http://127.0.0.1:${port}`)
    atTheEnd(() => caddy.stop())

    /** Returns the names in the certificate for a host, and the page there. */
    async function visit(host: string): Promise<{ readonly names: string; readonly page: string }> {
      const socket: TLSSocket = connect({
        port: caddy.port,
        host: '127.0.0.1',
        servername: host,
        rejectUnauthorized: false,
      })
      await once(socket, 'secureConnect')
      const names = socket.getPeerCertificate().subjectaltname ?? ''
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      let page = ''
      for await (const part of socket.setEncoding('utf8')) page += part
      return { names, page }
    }

    const proven = await visit('status.acme.example')
    expect(proven.names).toBe('DNS:status.acme.example')
    expect(proven.page).toContain('<h1')
    expect((await visit('allclear.example')).names).toBe('DNS:allclear.example')
    await expect(visit('other.example')).rejects.toMatchObject({ code: expect.stringMatching(/SSL|ECONNRESET/) })
  })
})
