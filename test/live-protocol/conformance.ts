import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ending, ScriptedService } from './scripted-service.ts'
import { startScriptedService } from './scripted-service.ts'

/** A program that follows the events of a page. */
export interface FollowingClient {
  /**
   * Reads the page `conformance` of the service at `url`, and follows its events.
   * @param onEvent must be called with the cursor of each event that the client hands to its user.
   * @returns what stops it.
   */
  follow(url: string, onEvent: (cursor: string) => void): FollowedPage
}

/** A client at work. */
interface FollowedPage {
  /** Resolves when the client has given up, because a new attempt cannot succeed. */
  readonly givenUp: Promise<unknown>
  stop(): Promise<void>
}

/** How a subscription ends that a client must take up again. */
const losses: readonly Ending[] = ['lost', 'complete', 1001, 1013]

/** Holds a client to what `docs/live-protocol.md` demands of programs. */
export function testConformance(name: string, client: FollowingClient): void {
  describe(name, () => {
    let service: ScriptedService
    let followed: FollowedPage
    let received: string[]
    beforeEach(async () => {
      service = await startScriptedService()
      received = []
    })
    afterEach(async () => {
      await followed.stop()
      await service.close()
    })
    const start = () => {
      followed = client.follow(service.url, (cursor) => received.push(cursor))
    }

    test('reads the page, and subscribes after its cursor', async () => {
      service.page.cursor = 'k3'
      service.play((feed) => feed.send('k4'))
      start()
      await expect.poll(() => received).toEqual(['k4'])
      expect(service.feeds.map(({ after }) => after)).toEqual(['k3'])
      expect(service.pageReads()).toBe(1)
    })

    test.each(losses)('resumes after the last event when the subscription ends: %s', async (how) => {
      const sent = [['2', '3'], ['7'], ['8']]
      service.play((feed, count) => {
        for (const cursor of sent[count] ?? []) feed.send(cursor)
        if (count < 2) feed.end(how)
      })
      start()
      await expect.poll(() => received).toEqual(['2', '3', '7', '8'])
      expect(service.feeds.map(({ after }) => after)).toEqual(['1', '3', '7'])
    })

    test('misses nothing when the connection is lost before the first event', async () => {
      service.play((feed, count) => (count === 0 ? feed.end('lost') : feed.send('2')))
      start()
      await expect.poll(() => received).toEqual(['2'])
      expect(service.feeds.map(({ after }) => after)).toEqual(['1', '1'])
    })

    test('ignores kinds and members that it does not know', async () => {
      service.play((feed) => {
        feed.send('2', { kind: 'MOON_LANDED', moon: { name: 'Io' } })
        feed.send('3')
      })
      start()
      await expect.poll(() => received.at(-1)).toBe('3')
    })

    test('reads the page again after a gap, and goes on', async () => {
      service.play((feed) => {
        service.page.cursor = 'z'
        feed.send('y', { kind: 'RELOAD' })
      })
      start()
      await expect.poll(() => service.pageReads()).toBe(2)
      service.feeds.at(-1)?.send('z1')
      await expect.poll(() => received.at(-1)).toBe('z1')
    })

    test('answers a ping', async () => {
      start()
      await expect.poll(() => service.feeds.length).toBe(1)
      await service.feeds[0]?.ping()
      service.feeds[0]?.send('2')
      await expect.poll(() => received).toEqual(['2'])
    })

    test('gives up when its access has ended', async () => {
      service.play((feed) => feed.end(4403))
      start()
      await followed.givenUp
      expect(service.feeds.length).toBe(1)
    })
  })
}
