import { AsyncResource } from 'node:async_hooks'
import type pg from 'pg'
import { createFairQueue } from '../../core/concurrency/fair-queue.ts'
import { currentOwner, followOwners } from '../../core/concurrency/owner.ts'

type Callback = Parameters<pg.Pool['connect']>[0]

/** What waits for the connection. */
interface Waiting {
  readonly take: () => void
  /** Whether it has waited too long, and is gone. */
  isLate: boolean
}

/**
 * Makes owners take turns for the only connection of a pool: one with a thousand statements delays another by a single
 * one, or by one transaction. Each keeps the order of its own. pg would serve all in the order in which they asked.
 * @param timeoutMs how long one waits before it fails, as in pg.
 */
export function takeTurns(pool: pg.Pool, timeoutMs: number): pg.Pool {
  followOwners()
  const connect = pool.connect.bind(pool)
  const waiting = createFairQueue<string, Waiting>()
  let isTaken = false

  function take(callback: Callback): void {
    connect((error, client, done) => {
      if (error !== undefined || client === undefined) {
        leave()
        return callback(error, client, done)
      }
      const { release } = client
      client.release = (problem) => {
        release.call(client, problem)
        leave()
      }
      callback(undefined, client, client.release)
    })
  }

  function leave(): void {
    let next = waiting.next()
    while (next?.isLate) next = waiting.next()
    if (next === undefined) isTaken = false
    else next.take()
  }

  function connectWith(given: Callback): void {
    // Whoever releases the connection calls it, but its owner and its trace are those of the caller.
    const callback = AsyncResource.bind(given)
    if (!isTaken) {
      isTaken = true
      take(callback)
      return
    }
    const giveUp = setTimeout(() => {
      own.isLate = true
      callback(new Error('timeout exceeded when trying to connect'), undefined, () => {})
    }, timeoutMs).unref()
    const own: Waiting = {
      isLate: false,
      take() {
        clearTimeout(giveUp)
        take(callback)
      },
    }
    waiting.add(currentOwner(), own)
  }

  const connected = () =>
    new Promise<pg.PoolClient>((resolve, reject) => {
      connectWith((error, client) => {
        if (client === undefined) reject(error)
        else resolve(client)
      })
    })
  return Object.assign(pool, {
    connect: (callback?: Callback) => (callback ? connectWith(callback) : connected()),
  })
}
