import { expect, test } from 'vitest'
import { createHostLimit, createThirdPartyRate } from '../../src/network/third-party-rate.ts'

/** Returns how many messages a host gets at once, if each is sent immediately. */
function burst(rate: ReturnType<typeof createThirdPartyRate>, ...hosts: readonly string[]): number {
  let sent = 0
  for (; sent < 1000; sent += 1) {
    const end = rate.tryAcquire(hosts[sent % hosts.length] ?? '')
    if (end === null) break
    end()
  }
  // A slow machine lets a few more follow.
  return Math.floor(sent / 100) * 100
}

test('all hosts of a third party share 600 messages a minute, whatever sends them', () => {
  const rate = createThirdPartyRate()
  expect(burst(rate, 'a.victim.com', 'B.victim.com:8443')).toBe(100)
  expect(burst(rate, 'victim.com')).toBe(0)
  expect(rate.msUntilFree('c.victim.com')).toBeGreaterThan(0)
  expect(rate.tryAcquire('other.com')).not.toBeNull()
})

test('only the push services of browsers get more', () => {
  expect(burst(createThirdPartyRate(), 'fcm.googleapis.com')).toBe(500)
  expect(burst(createThirdPartyRate(), 'db5p.notify.windows.com')).toBe(500)
  expect(burst(createThirdPartyRate(), 'fcm.googleapis.com.victim.com')).toBe(100)
})

test('64 messages are sent to a third party at once', () => {
  const rate = createThirdPartyRate()
  const ends = Array.from({ length: 65 }, () => rate.tryAcquire('victim.com'))
  expect(ends.filter((end) => end === null)).toHaveLength(1)
  ends[0]?.()
  expect(rate.tryAcquire('victim.com')).not.toBeNull()
})

test('private networks have no limit', () => {
  expect(burst(createThirdPartyRate(), '10.0.0.1:9000', 'localhost', 'push')).toBe(1000)
})

test('a kind of sender has a limit of its own, and a refused message counts nowhere', () => {
  const rate = createThirdPartyRate()
  const [mine, others] = [createHostLimit(rate, 2), createHostLimit(rate, 100)]
  const [first, second, third] = [1, 2, 3].map(() => mine.tryAcquire('victim.com'))
  expect([first === null, second === null, third]).toEqual([false, false, null])
  const running = Array.from({ length: 63 }, () => others.tryAcquire('victim.com'))
  expect(running.filter((end) => end === null)).toHaveLength(1)
  first?.()
  expect(others.tryAcquire('victim.com')).not.toBeNull()
  // The shared limit is used up, so the message does not occupy a place of its own kind either.
  expect(mine.tryAcquire('victim.com')).toBeNull()
  running[0]?.()
  expect(mine.tryAcquire('victim.com')).not.toBeNull()
})
