import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import pino from 'pino'
import type { CheckProgress } from '../../src/blacklist/checker.ts'
import { checkPages, checkScript } from '../../src/blacklist/html/routes.tsx'
import type { Target } from '../../src/blacklist/target.ts'
import { parseTarget } from '../../src/blacklist/target.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { lists } from './reports.ts'

/** A check whose steps the test controls. */
export interface GivenCheck {
  readonly target: Target
  /** Lets the check take its next step. */
  step(progress: CheckProgress): void
  /** Ends the check without a report, or with an error. */
  end(error?: Error): void
  /** Resolves when the page has closed the iterator. */
  readonly returned: Promise<void>
}

/** The pages of the application, with checks that the test drives. */
export async function givenCheckPages() {
  const site = { assets: await loadAssets([checkScript]), baseUrl: 'https://allclear.example' }
  const logged: string[] = []
  const waiting: ((check: GivenCheck) => void)[] = []
  const app = new Hono()
  app.route('/', site.assets.routes)
  app.route(
    '/',
    checkPages({
      site,
      log: pino({ base: undefined }, { write: (line: string) => logged.push(line) }),
      checksPerDay: { free: 100, pro: 1000 },
      isSignUpOpen: false,
      lists: () => lists,
      resolvers: () => null,
      ownAddress: () => '203.0.113.7',
      async start(_, input) {
        const { check, progress } = givenCheck(parseTarget(input))
        waiting.shift()?.(check)
        return { target: check.target, progress }
      },
    }),
  )
  return {
    app,
    site,
    /** The logged lines, as JSON. */
    logged,
    /** The next check to start; call this before the request. */
    nextCheck: () => new Promise<GivenCheck>((resolve) => waiting.push(resolve)),
  }
}

function givenCheck(target: Target) {
  const steps: CheckProgress[] = []
  let ended: { readonly error: Error | undefined } | null = null
  const change = new EventEmitter()
  const wake = () => change.emit('change')
  const iterator: AsyncIterator<CheckProgress> = {
    async next() {
      for (;;) {
        const value = steps.shift()
        if (value) return { done: false, value }
        if (ended?.error) throw ended.error
        if (ended) return { done: true, value: undefined }
        await once(change, 'change')
      }
    },
    async return() {
      ended ??= { error: undefined }
      wake()
      change.emit('returned')
      return { done: true, value: undefined }
    },
  }
  const check: GivenCheck = {
    target,
    returned: once(change, 'returned').then(() => undefined),
    step(progress) {
      steps.push(progress)
      wake()
    },
    end(error) {
      ended = { error }
      wake()
    },
  }
  return { check, progress: { [Symbol.asyncIterator]: () => iterator } }
}

/** Serves an application on a free loopback port, until disposed of. */
export async function serve(app: Hono): Promise<{ readonly url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // A listening TCP server has one.
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
