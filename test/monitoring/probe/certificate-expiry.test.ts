import { describe, expect, test } from 'vitest'
import { expired, expirySoon, isCertificateProblem } from '../../../src/monitoring/probe/certificate-expiry.ts'
import type { Certificate } from '../../../src/network/outbound/outbound.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const issued = new Date('2040-01-01T00:00:00Z')
const at = (hours: number) => new Date(issued.getTime() + hours * HOUR)

function certificate(hours: number, more: Partial<Certificate> = {}): Certificate {
  return { validFrom: issued, validTo: at(hours), problem: null, issuer: null, host: 'a.example', ...more }
}

describe('a certificate', () => {
  test.each([
    ['160 hours', 160, undefined, [1, 106], [107, 159]],
    ['a day', 24, undefined, [0, 15], [17]],
    ['30 days', 30 * 24, undefined, [0, 19 * 24], [21 * 24]],
    ['90 days', 90 * 24, undefined, [0, 75 * 24], [77 * 24]],
    ['a year', 365 * 24, undefined, [300 * 24, 350 * 24], [352 * 24]],
    ['160 hours, with seven days', 160, 7, [], [0, 159]],
    ['90 days, with sixty days', 90 * 24, 60, [29 * 24], [31 * 24]],
    ['160 hours, with zero days', 160, 0, [0, 159, 200], []],
  ])(
    'valid for %s is reported when a third is left, or 14 days, or as chosen',
    (_, hours, certificateDays, silent, told) => {
      const reported = (now: number) => expirySoon({ certificateDays }, certificate(hours), at(now)) !== null
      expect([silent.filter(reported), told.filter((now) => !reported(now))]).toEqual([[], []])
    },
  )

  test('is reported though it is not trusted, and after its end', () => {
    const own = certificate(90 * 24, { problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(expirySoon({}, own, at(85 * 24))).toBe('TLS certificate expires in 5 days')
    expect(expirySoon({}, own, at(93 * 24))).toBe('TLS certificate expired 3 days ago')
    expect(expirySoon({ certificateDays: 1 }, own, at(90 * 24 + 1))).toBe('TLS certificate expired today')
    expect(expirySoon({}, null, at(0))).toBeNull()
  })

  test.each([
    [{}, 'a.example', 'TLS certificate expires in 2 days'],
    [{}, undefined, 'TLS certificate expires in 2 days'],
    [{ host: 'b.example' }, 'a.example', 'TLS certificate of b.example expires in 2 days'],
    [{ issuer: 'R3' }, 'a.example', 'TLS certificate of the issuer R3 expires in 2 days'],
    [
      { issuer: 'R3\nx', host: 'b.example' },
      'a.example',
      'TLS certificate of the issuer R3 x of b.example expires in 2 days',
    ],
    [{ host: '2001:db8::1' }, '[2001:db8::1]', 'TLS certificate expires in 2 days'],
  ])('is named if it is of an issuer or of another host: %j', (more, host, message) => {
    const given = host === undefined ? {} : { host }
    expect(expirySoon(given, certificate(48, { ...more, validFrom: new Date(0) }), issued)).toBe(message)
    expect(isCertificateProblem(message)).toBe(true)
  })

  test('that has expired is named, unless the reason is another', () => {
    const old = certificate(0, { problem: 'CERT_HAS_EXPIRED', issuer: 'R3' })
    const message = 'TLS certificate of the issuer R3 expired 4 days ago'
    expect(expired(old, 'a.example', new Date(issued.getTime() + 4.5 * DAY))).toBe(message)
    expect(expired({ ...old, problem: 'CERT_REVOKED' }, 'a.example', at(1))).toBeNull()
    expect(expired(null, 'a.example', at(1))).toBeNull()
    expect(
      [message, 'TLS certificate has expired', 'TLS certificate expired today'].filter(
        (each) => !isCertificateProblem(each),
      ),
    ).toEqual([])
    expect(
      ['TLS certificate is self-signed', 'TLS certificate is not for expires', 'HTTP 500'].filter(isCertificateProblem),
    ).toEqual([])
  })
})
