/**
 * A process that takes deliveries of the payment provider, for tests of crashes: it says `stored` once the first one is in the
 * database, or `stored` before it commits when told to stop `before`, and waits there to be killed, without an answer.
 */
import pino from 'pino'
import { takeStripeEvent } from '../../src/billing/payment.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/client.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'

const [stop = '', where = '', body = ''] = process.argv.slice(2)
const databaseUrl = where.startsWith('postgresql:') ? where : undefined
const log = pino({ level: 'silent' })
const { prisma } = await openDatabase({ dataDir: where, databaseUrl, log })
const actor = { kind: 'visitor' } as const
const db = stop === 'before' ? stoppingBefore(prisma) : prisma
await takeStripeEvent({ config: readConfig({}), db, actor, clientAddress: null, now: () => new Date(), log }, body)
await wait()

/** A client whose transactions do everything but commit. */
function stoppingBefore(client: PrismaClient): PrismaClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      if (name !== '$transaction') return Reflect.get(target, name, receiver)
      return (work: (tx: unknown) => Promise<unknown>) =>
        target.$transaction(
          async (tx) => {
            await work(tx)
            await wait()
          },
          { timeout: 60_000 },
        )
    },
  })
}

function wait(): Promise<never> {
  process.stdout.write('stored\n')
  setInterval(() => {}, 60_000)
  return new Promise(() => {})
}
