import { beforeAll, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/command.ts'
import { runCommand } from '../../src/cli/run.ts'
import { createClient } from '../../src/client/index.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { nginxMissing, startProxyNginx } from '../support/nginx.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const trusting = await testApp({ dns, settings: { TRUST_PROXY: '127.0.0.1' } })
const alone = await testApp({ dns })

const ADDRESS = 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;'
const UPGRADE = 'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'

/** Returns the findings of `allclear doctor` with a key, by subject. */
async function doctor(url: string, key: string): Promise<Record<string, { code: string; fix: string | null }>> {
  const out: string[] = []
  const terminal: Terminal = {
    env: { ALLCLEAR_URL: url, ALLCLEAR_KEY: key, DATA_DIR: '/nowhere/at/all' },
    result: (line) => void out.push(line),
    document: (text) => void out.push(text),
    say: (line) => void out.push(line),
    progress: () => undefined,
    isPerson: false,
    hasColours: false,
    ask: async () => null,
    edit: async (draft) => draft,
    now: () => new Date(),
    signal: new AbortController().signal,
  }
  await runCommand(['doctor', '--json'], terminal)
  const findings: { subject: string; code: string; fix: string | null }[] = JSON.parse(out.join('\n'))
  return Object.fromEntries(findings.map((finding) => [finding.subject, finding]))
}

test.runIf(process.env['CI'])('nginx is installed', () => expect(nginxMissing).toBeNull())

describe.skipIf(nginxMissing !== null)('doctor, with the operator’s token, behind nginx', () => {
  const url = { bare: '', address: '', whole: '', untrusted: '' }
  beforeAll(async () => {
    const proxies = [
      ['bare', trusting, 'proxy_set_header Via nginx;'],
      ['address', trusting, ADDRESS],
      ['whole', trusting, `${ADDRESS} ${UPGRADE}`],
      ['untrusted', alone, `${ADDRESS} ${UPGRADE}`],
    ] as const
    for (const [name, app, lines] of proxies) {
      const proxy = await startProxyNginx(app.baseUrl, lines)
      atTheEnd(() => proxy.stop())
      url[name] = proxy.url
    }
  })

  test('with the default configuration: finds hidden addresses, blocked websockets and wrong links', async () => {
    expect(await doctor(url.bare, operatorToken)).toMatchObject({
      proxy: { code: 'PROXY_ADDRESS_UNKNOWN', fix: expect.stringContaining(ADDRESS) },
      websocket: { code: 'WEBSOCKET_BLOCKED', fix: expect.stringContaining('proxy_set_header Upgrade $http_upgrade') },
      address: { code: 'ADDRESS_DIFFERENT', fix: `BASE_URL=${url.bare}` },
      mail: { code: 'MAIL_NOT_SET_UP' },
      database: { code: 'DATABASE_OK' },
      disk: { code: expect.stringMatching(/^DISK_/) },
    })
  })

  test('each suggested fix removes its finding', async () => {
    const halfway = await doctor(url.address, operatorToken)
    expect(halfway).toMatchObject({ proxy: { code: 'PROXY_OK' }, websocket: { code: 'WEBSOCKET_BLOCKED' } })
    const whole = await doctor(url.whole, operatorToken)
    expect(whole).toMatchObject({ proxy: { code: 'PROXY_OK' }, websocket: { code: 'WEBSOCKET_OK' } })
  })

  test('suggests an untrusted proxy in the format of the setting', async () => {
    expect(await doctor(url.untrusted, operatorToken)).toMatchObject({
      proxy: { code: 'PROXY_NOT_TRUSTED', fix: 'TRUST_PROXY=127.0.0.1' },
    })
  })

  test('with another key, reveals no more than /readyz', async () => {
    const { key } = await newOrganization(alone.baseUrl)
    const findings = await doctor(url.untrusted, key)
    expect(findings).not.toHaveProperty('proxy')
    expect(findings).toMatchObject({ mail: { code: 'MAIL_NOT_SET_UP' }, websocket: { code: 'WEBSOCKET_OK' } })
    for (const stranger of [undefined, key]) {
      const client = createClient({ url: alone.baseUrl, key: stranger })
      await expect(client.request('{ diagnosis { code } }')).rejects.toMatchObject({
        code: stranger === undefined ? 'UNAUTHENTICATED' : 'FORBIDDEN',
      })
    }
  })
})

test('concurrent requests share one examination', async () => {
  const client = createClient({ url: alone.baseUrl, key: operatorToken })
  const ask = () => client.request<{ diagnosis: { code: string }[] }>('{ diagnosis { code } }')
  const [first, ...others] = await Promise.all(Array.from({ length: 10 }, ask))
  for (const other of others) expect(other).toEqual(first)
})
