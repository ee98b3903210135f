import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { examineClock, timeOfHeader } from '../../src/diagnosis/clock.ts'
import { examineDisk, judgeSpace } from '../../src/diagnosis/disk.ts'
import { examineLists } from '../../src/diagnosis/lists.ts'
import { readinessFindings } from '../../src/diagnosis/readiness.ts'
import { examineResolver } from '../../src/diagnosis/resolver.ts'
import { examineWebsocket } from '../../src/diagnosis/websocket.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

test('tolerates two seconds of clock difference, and slow answers', () => {
  const at = new Date('2026-11-25T12:00:00Z')
  const later = (seconds: number) => new Date(at.getTime() + seconds * 1000)
  const examine = (other: Date, after = at) => examineClock({ before: at, after, other, than: 'it' })
  for (const seconds of [2, -2]) expect(examine(later(seconds)).code).toBe('CLOCK_OK')
  expect(examine(later(90)).message).toBe('The clock of the service differs from it by 90 s.')
  expect(examine(later(-90)).code).toBe('CLOCK_OFF')
  expect(examine(later(5), later(9)).code).toBe('CLOCK_OK')
  expect(examine(later(-5), later(9)).code).toBe('CLOCK_OFF')
  expect(timeOfHeader('Wed, 25 Nov 2026 12:00:00 GMT')).toEqual(later(0.5))
  expect([timeOfHeader(null), timeOfHeader('yesterday')]).toEqual([null, null])
})

test('measures free space, and warns below one GiB', async () => {
  expect((await examineDisk('/'))?.code).toMatch(/^DISK_/)
  expect(await examineDisk('/nowhere/at/all')).toBeNull()
  expect(judgeSpace(1024 ** 3 - 1, '/data')).toMatchObject({ code: 'DISK_LOW', severity: 'warning' })
  expect(judgeSpace(5 * 1024 ** 3, '/data').message).toBe('/data has 5.0 GiB of free space.')
})

test('examines a refused, a working and an unreachable resolver', async () => {
  const entry = '2.0.0.127.zen.spamhaus.org'
  const listed = await startDnsServer(scriptedLists({ [entry]: ['127.0.0.4'] }))
  const refused = await startDnsServer(scriptedLists({ [entry]: ['127.255.255.254'] }))
  const at = ({ address, port }: { address: string; port: number }) => `${address}:${port}`
  expect((await examineResolver(at(listed))).code).toBe('RESOLVER_OK')
  expect((await examineResolver(at(refused))).code).toBe('RESOLVER_REFUSED')
  expect((await examineResolver('127.0.0.1:9')).code).toBe('RESOLVER_UNREACHABLE')
})

test.each([
  [[], 'LISTS_UNKNOWN'],
  [['unknown', 'unknown'], 'LISTS_UNKNOWN'],
  [['ok', 'unknown'], 'LISTS_OK'],
  [['ok', 'refusing'], 'LISTS_FAILING'],
  [['refusing', 'unknown'], 'LISTS_FAILING'],
  [['refusing', 'unreachable'], 'LISTS_REFUSED'],
  [['unreachable', 'unreachable'], 'LISTS_UNREACHABLE'],
])('lists that are %j: %s', (statuses, code) => {
  const states = statuses.map((status, index) => ({ name: `L${index}`, status }))
  expect(examineLists(states, [{ address: '9.9.9.9', port: 53 }]).code).toBe(code)
})

test('each part of /readyz has a finding', () => {
  const codes = (checks: Record<string, string>) =>
    readinessFindings(checks).map(({ code, subject }) => `${subject} ${code}`)
  expect(codes({ database: 'ok', probing: 'ok' })).toEqual(['database PART_OK', 'probing PART_OK'])
  expect(
    codes({ database: 'full', mail: 'off', backup: 'failing', configuration: 'failing', lateness: 'late' }),
  ).toEqual([
    'database DATABASE_FAILING',
    'mail MAIL_NOT_SET_UP',
    'backup BACKUP_FAILING',
    'configuration CONFIGURATION_FAILING',
    'lateness PROBES_LATE',
  ])
  expect(codes({ mail: 'failing', resolver: 'failing', lateness: 'unknown', toString: 'stuck' })).toEqual([
    'mail MAIL_FAILING',
    'lists LISTS_REFUSED',
    'lateness PART_FAILING',
    'toString PART_FAILING',
  ])
})

test('reports a server without websockets as blocking, and does not judge an unreachable one', async () => {
  const server = createServer((_, response) => response.writeHead(426).end())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atTheEnd(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const blocked = await examineWebsocket(url)
  expect(blocked).toMatchObject({ code: 'WEBSOCKET_BLOCKED', message: expect.stringContaining('HTTP 426') })
  expect(blocked.fix).toContain('proxy_set_header Upgrade $http_upgrade')
  expect((await examineWebsocket('http://127.0.0.1:9')).code).toBe('WEBSOCKET_UNREACHABLE')
})
