import { describe, expect, test } from 'vitest'
import { domain, judgeRegistration } from '../../../src/monitoring/probe/domain-expiry.ts'
import type { Registration } from '../../../src/network/outbound/rdap.ts'
import { runWith, startTools } from './run.ts'

const now = new Date('2026-11-23T12:00:00Z')
const registered = (expiresAt: string | null, ...statuses: string[]): Registration => ({
  kind: 'registered',
  expiresAt: expiresAt === null ? null : new Date(expiresAt),
  statuses,
})

describe('the registration of a domain', () => {
  test.each<[Registration, string, string]>([
    [registered('2027-08-13T04:00:00Z', 'active'), 'UP', 'Registered until 2027-08-13'],
    [registered('2026-12-23T12:00:00Z'), 'UP', 'Registered until 2026-12-23'],
    [registered('2026-12-23T11:59:59Z'), 'DEGRADED', 'The registration of a.example expires in 29 days, on 2026-12-23'],
    [registered('2026-11-23T12:00:00Z'), 'DOWN', 'The registration of a.example expired on 2026-11-23'],
    [
      registered('2027-08-13T04:00:00Z', 'Redemption Period'),
      'DOWN',
      'The registry reports the status of a.example as redemption period',
    ],
    [
      registered('2027-08-13T04:00:00Z', 'client hold'),
      'DOWN',
      'The registry reports the status of a.example as client hold',
    ],
    [registered(null), 'UNKNOWN', 'The registry does not report when a.example expires'],
    [{ kind: 'missing' }, 'DOWN', 'The registry has no registration of a.example'],
    [{ kind: 'unknown', why: 'Why not' }, 'UNKNOWN', 'The expiry of a.example is unknown: Why not'],
  ])('%j is %s', (registration, outcome, message) => {
    expect(judgeRegistration({ domain: 'a.example', warnDays: 30 }, registration, now)).toMatchObject({
      outcome,
      message,
    })
  })

  test.each([
    ['www.Example.co.uk.', 'example.co.uk'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['com', null],
    ['192.0.2.1', null],
    ['printer.local', null],
    ['localhost', null],
    ['https://example.com', null],
    ['a.example.com/../b', null],
  ])('%s belongs to the domain %s', (given, expected) => {
    const read = domain.options.safeParse({ domain: given })
    expect(read.success ? read.data : null).toEqual(expected === null ? null : { domain: expected, warnDays: 30 })
  })

  test('is looked up by the probe', async () => {
    const { tools } = await startTools()
    const rdap = { registrationOf: async (name: string) => ({ kind: 'unknown', why: name }) as const }
    const result = await domain.run({ domain: 'a.example', warnDays: 30 }, runWith({ ...tools, rdap }))
    expect(result.message).toBe('The expiry of a.example is unknown: a.example')
  })
})
