import { expect, test } from 'vitest'
import { createThirdPartyRate, isPushService } from '../../src/network/third-party-rate.ts'

/** Returns how many messages a host gets at once, if each is sent immediately. */
function burst(rate: ReturnType<typeof createThirdPartyRate>, ...hosts: readonly string[]): number {
  return burstOf(['org_1', 'org_2'], rate, hosts)
}

/** Like `burst`, for organizations that take turns. */
function burstOf(
  organizations: readonly string[],
  rate: ReturnType<typeof createThirdPartyRate>,
  hosts: readonly string[],
): number {
  let sent = 0
  for (; sent < 1000; sent += 1) {
    const end = rate.tryAcquire(hosts[sent % hosts.length] ?? '', organizations[sent % organizations.length] ?? '')
    if (end === null) break
    end()
  }
  // A slow machine lets a few more follow.
  return Math.floor(sent / 50) * 50
}

test('all hosts of a third party share 600 messages a minute, whatever sends them', () => {
  const rate = createThirdPartyRate()
  expect(burst(rate, 'a.victim.com', 'B.victim.com:8443')).toBe(100)
  expect(burst(rate, 'victim.com')).toBe(0)
  expect(rate.msUntilFree('c.victim.com', 'org_3')).toBeGreaterThan(0)
  expect(rate.tryAcquire('other.com', 'org_1')).not.toBeNull()
})

test('only the push services of browsers get more', () => {
  expect(burst(createThirdPartyRate(), 'fcm.googleapis.com')).toBe(500)
  expect(burst(createThirdPartyRate(), 'db5p.notify.windows.com')).toBe(500)
  expect(burst(createThirdPartyRate(), 'fcm.googleapis.com.victim.com')).toBe(100)
})

test('64 messages are sent to a third party at once', () => {
  const rate = createThirdPartyRate()
  const ends = Array.from({ length: 65 }, (_, index) => rate.tryAcquire('victim.com', `org_${index % 3}`))
  expect(ends.filter((end) => end === null)).toHaveLength(1)
  ends[0]?.()
  expect(rate.tryAcquire('victim.com', 'org_0')).not.toBeNull()
})

test('private networks have no limit', () => {
  expect(burst(createThirdPartyRate(), '10.0.0.1:9000', 'localhost', 'push')).toBe(1000)
})

test('one organization uses at most half of the limits, and leaves the other half to others', () => {
  const rate = createThirdPartyRate()
  expect(burstOf(['org_1'], rate, ['victim.com'])).toBe(50)
  expect(rate.msUntilFree('victim.com', 'org_1')).toBeGreaterThan(0)
  expect(burstOf(['org_2'], rate, ['victim.com'])).toBe(50)
  expect(burstOf(['org_3'], rate, ['victim.com'])).toBe(0)
})

test('one organization has at most half of the messages that are sent at once', () => {
  const rate = createThirdPartyRate()
  const ends = Array.from({ length: 40 }, () => rate.tryAcquire('victim.com', 'org_1'))
  expect(ends.filter((end) => end !== null)).toHaveLength(32)
  expect(rate.tryAcquire('victim.com', 'org_2')).not.toBeNull()
})

test('push services are those of browsers', () => {
  const services = ['fcm.googleapis.com', 'updates.push.services.mozilla.com', 'web.push.apple.com']
  expect([...services, 'WNS2-par02p.notify.windows.com'].filter((host) => !isPushService(host))).toEqual([])
  const others = ['victim.com', 'fcm.googleapis.com.victim.com', 'xfcm.googleapis.com', 'a.b.notify.windows.com', '']
  expect(others.filter(isPushService)).toEqual([])
})
