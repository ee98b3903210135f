import { connectPorts } from '../../src/app/ports.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Actor, Context } from '../../src/core/context.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { silent } from './scratch.ts'

connectPorts()

/** The current time in tests of the domain, unless a test sets another. */
export const noon = new Date('2026-11-20T12:00:00.000Z')

/** The context of domain functions: the system at noon, unless a test sets another. */
export function testContext(
  db: PrismaClient,
  { settings = {}, ...given }: Partial<Omit<Context, 'config'>> & { readonly settings?: NodeJS.ProcessEnv } = {},
): Context & { readonly db: PrismaClient } {
  const actor: Actor = { kind: 'system' }
  const config = readConfig({ DEFAULT_TIER: 'free', ...settings })
  return {
    config,
    actor,
    clientAddress: '203.0.113.9',
    now: () => noon,
    log: silent,
    ...given,
    db,
  }
}
