import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../../src/core/time.ts'
import type { ChaosCase, Victims } from './chaos.ts'

/** The duration of a failure that ends without help. */
const LASTING = 4 * SECOND

export const shortCases: readonly ChaosCase[] = [
  { name: 'open connections go silent', cause: async ({ proxy }) => void proxy.silence() },
  {
    name: 'LISTEN alone goes silent',
    cause: async ({ proxy }) => void proxy.silence((sent) => sent.includes('LISTEN "')),
  },
  { name: 'open connections are cut', cause: async ({ proxy }) => proxy.cut() },
  { name: 'a worker is killed', cause: async ({ restart }) => restart('worker') },
]

/** A clock that is wrong by so many seconds for a while, on an instance that probes and sends. */
const wrongClock =
  (seconds: number) =>
  async ({ setWorkerClock }: Victims) => {
    await setWorkerClock(seconds)
    await sleep(LASTING)
    await setWorkerClock(0)
  }

export const clockCases: readonly ChaosCase[] = [
  {
    name: 'deliveries are refused while a worker’s clock is an hour ahead',
    async cause({ setWorkerClock, refuseDeliveries }) {
      await setWorkerClock(3600)
      refuseDeliveries(true)
      await sleep(LASTING)
      refuseDeliveries(false)
      await setWorkerClock(0)
    },
  },
  { name: 'a worker’s clock is an hour ahead, and set right', cause: wrongClock(3600) },
  { name: 'a worker’s clock is an hour behind, and set right', cause: wrongClock(-3600) },
]

export const longCases: readonly ChaosCase[] = [
  {
    name: 'new connections are refused',
    cause: async ({ proxy }) => {
      await proxy.refuse()
      await sleep(LASTING)
      await proxy.resume()
    },
  },
  {
    name: 'everything stalls',
    cause: async ({ proxy }) => {
      proxy.stall()
      await sleep(LASTING)
      await proxy.resume()
    },
  },
  {
    name: 'everything is slow (50 ms)',
    cause: async ({ proxy }) => {
      proxy.slow(50)
      await sleep(LASTING)
      await proxy.resume()
    },
  },
  { name: 'PostgreSQL restarts', cause: async ({ cluster }) => cluster.restart() },
  { name: 'the web instance is killed', cause: async ({ restart }) => restart('web') },
  { name: 'the instance that does all is killed', cause: async ({ restart }) => restart('all') },
  {
    name: 'an instance is stopped and goes on',
    cause: async ({ signal }) => {
      signal('worker', 'SIGSTOP')
      await sleep(LASTING)
      signal('worker', 'SIGCONT')
    },
  },
]
