import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../support/certificate.ts'

const authority = createAuthority()
/** The certificate of hostile servers on 127.0.0.1, trusted by the service. */
export const trusted = authority.issue(['127.0.0.1'])

/** The hostile answers of registries, by top-level domain. */
const answers = {
  com: ['256 kB of brackets', () => '['.repeat(256_000)],
  net: [
    '256 kB of events',
    (domain: string) => {
      const events = Array.from({ length: 3500 }, () => ({ eventAction: 'expiration', eventDate: '2026-01-01T0' }))
      return JSON.stringify({ objectClassName: 'domain', ldhName: domain, events })
    },
  ],
  org: [
    '256 kB of statuses',
    (domain: string) => {
      const status = Array.from({ length: 60_000 }, () => 'x')
      return JSON.stringify({ objectClassName: 'domain', ldhName: domain, status })
    },
  ],
  info: ['10 MB', () => 'x'.repeat(10_000_000)],
} as const

/** The top-level domains with a hostile registry, and their answers. */
export const registries = Object.entries(answers).map(([label, [name]]) => ({ label, name }))

/** The attacker's registries, and settings that make the service use them and trust the hostile servers. */
export async function startRegistries(): Promise<{ readonly settings: Record<string, string>; close(): void }> {
  const server = createServer((request, response) => {
    const [, label = '', , domain = ''] = (request.url ?? '').split('/')
    const services = registries.map((each) => [[each.label], [`http://${request.headers.host}/${each.label}/`]])
    const answer = label in answers ? answers[label as keyof typeof answers][1](domain) : JSON.stringify({ services })
    response.on('error', () => {}).end(answer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const file = join(tmpdir(), `allclear-hostile-${process.pid}.pem`)
  writeFileSync(file, authority.ca)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    settings: { RDAP_BOOTSTRAP_URL: url, NODE_EXTRA_CA_CERTS: file },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
